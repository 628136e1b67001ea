import { auth } from '#policies/backend/auth/index.ts'
import { health } from '#policies/backend/health/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { BackendSettings, ProtocolBackend } from '../../backend-protocol.ts'
import { compileMcpPolicy } from './compile-policy.ts'
import type { McpPlan, McpTargetPlan, ToolPinning } from './mcp-plan.ts'
import { mcp } from './policy.ts'
import type { ResolvedMcpBackend, ResolvedMcpTarget } from './resolved-backend.ts'

/** Prepares an MCP backend. */
export function compileMcp(
  backend: ProtocolBackend<ResolvedMcpBackend>,
  settings: BackendSettings,
  context: CompileContext,
): McpPlan {
  const { spec } = backend
  const targets = spec.targets.map((target) => compileTarget(backend, target, settings))
  reportEviction(backend, settings, context)
  return {
    backend: backend.target,
    targets,
    multiplexes: targets.length !== 1,
    sessionRouting: spec.sessionRouting,
    failureMode: spec.failureMode ?? 'FailClosed',
    pinning: compilePinning(spec),
    // Rules of every level apply (decision A-21).
    ...compileMcpPolicy(
      settings.everyOf(mcp),
      context,
      targets.map(({ name }) => name),
    ),
  }
}

function compilePinning({ toolPinning }: ResolvedMcpBackend): ToolPinning | undefined {
  return toolPinning && { accepted: toolPinning.accepted && new Set(toolPinning.accepted) }
}

function compileTarget(
  backend: ProtocolBackend<ResolvedMcpBackend>,
  { name, path, protocol = 'StreamableHTTP', broken, backend: service }: ResolvedMcpTarget,
  settings: BackendSettings,
): McpTargetPlan {
  return {
    name,
    destination: `${backend.target}/${name}`,
    path: path ?? (protocol === 'SSE' ? '/sse' : '/mcp'),
    protocol,
    hasReplicas: service !== undefined,
    takesCredentials: settings.of(auth, name)[0]?.spec.passthrough !== undefined,
    unusable: broken,
  }
}

/**
 * A target with a host has one endpoint, and an evicted endpoint is used if there is no other (specification 1, 3). A policy for a Service is
 * not reported, because it also applies to requests of routes.
 */
function reportEviction(
  { target, spec }: ProtocolBackend<ResolvedMcpBackend>,
  settings: BackendSettings,
  context: CompileContext,
): void {
  const replicated = spec.targets
    .filter((one) => one.backend !== undefined)
    .flatMap(({ name }) => settings.of(health, name))
  const single = spec.targets
    .filter((one) => one.backend === undefined)
    .flatMap(({ name }) => settings.of(health, name))
  const sources = new Set(single).difference(new Set(replicated))
  for (const source of sources) {
    const isOwn = source.target === target || source.target.startsWith(`${target}/`)
    if (!isOwn || source.spec.eviction === undefined) continue
    const message =
      'does not take MCP targets with a host out of service: each has one endpoint, which is used while it is evicted; evictions are only logged and counted'
    context.report(source, '.eviction', { code: 'no-effect', message, severity: 'warning' })
  }
}
