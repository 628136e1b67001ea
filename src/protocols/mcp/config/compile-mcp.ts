import { auth } from '#policies/backend/auth/index.ts'
import { health } from '#policies/backend/health/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { BackendSettings, ProtocolBackend } from '../../backend-protocol.ts'
import type { McpPlan, McpTargetPlan } from './mcp-plan.ts'
import { mcp } from './policy.ts'
import type { ResolvedMcpBackend, ResolvedMcpTarget } from './resolved-backend.ts'

/**
 * Prepares an MCP backend. Settings that this version does not support are reported as `not-implemented` and fail at run time with a clear
 * error; they are never ignored silently.
 */
export function compileMcp(
  backend: ProtocolBackend<ResolvedMcpBackend>,
  settings: BackendSettings,
  context: CompileContext,
): McpPlan {
  const { spec } = backend
  const targets = spec.targets.map((target) => compileTarget(backend, target, settings, context))
  reportEviction(backend, settings, context)
  return {
    backend: backend.target,
    targets,
    multiplexes: targets.length !== 1,
    sessionRouting: spec.sessionRouting,
    failureMode: spec.failureMode ?? 'FailClosed',
    // Rules of every level apply (decision A-21).
    ...mcp.compile(settings.everyOf(mcp), context),
  }
}

function compileTarget(
  backend: ProtocolBackend<ResolvedMcpBackend>,
  { name, path, protocol, broken }: ResolvedMcpTarget,
  settings: BackendSettings,
  context: CompileContext,
): McpTargetPlan {
  const isLegacy = protocol === 'SSE'
  if (isLegacy) {
    context.report(backend, '.targets', {
      code: 'not-implemented',
      message: `target ${name} cannot be used: ${LEGACY_TRANSPORT}`,
      severity: 'error',
    })
  }
  return {
    name,
    destination: `${backend.target}/${name}`,
    path: path ?? (isLegacy ? '/sse' : '/mcp'),
    takesCredentials: settings.of(auth, name)[0]?.spec.passthrough !== undefined,
    unusable: broken ?? (isLegacy ? LEGACY_TRANSPORT : undefined),
  }
}

/**
 * A target has one endpoint, and an evicted endpoint is used if there is no other (specification 1, 3). A policy for a Service is not
 * reported, because it also applies to requests of routes.
 */
function reportEviction(
  { target, spec }: ProtocolBackend<ResolvedMcpBackend>,
  settings: BackendSettings,
  context: CompileContext,
): void {
  const sources = new Set(spec.targets.flatMap(({ name }) => settings.of(health, name)))
  for (const source of sources) {
    const isOwn = source.target === target || source.target.startsWith(`${target}/`)
    if (!isOwn || source.spec.eviction === undefined) continue
    const message =
      'does not take MCP targets out of service: each has one endpoint, which is used while it is evicted; evictions are only logged and counted'
    context.report(source, '.eviction', { code: 'no-effect', message, severity: 'warning' })
  }
}

const LEGACY_TRANSPORT = 'protocol SSE is not implemented yet'
