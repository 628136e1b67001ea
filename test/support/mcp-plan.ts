import type { BackendAuthSpec } from '#policies/backend/auth/schema.ts'
import type { BackendHealthSpec } from '#policies/backend/health/schema.ts'
import { contextWith, sourceOf } from '#policies/shared/testing.ts'
import type { BackendSettings } from '#protocols/backend-protocol.ts'
import { compileMcp } from '#protocols/mcp/config/compile-mcp.ts'
import type { McpPlan } from '#protocols/mcp/config/mcp-plan.ts'
import type { BackendMcpSpec } from '#protocols/mcp/config/policy-schema.ts'
import type { ResolvedMcpBackend, ResolvedMcpTarget } from '#protocols/mcp/config/resolved-backend.ts'

/** Key of the backend of `mcpPlan`. The key of a destination is this key, a slash and the name of the target. */
export const MCP_BACKEND = 'ProxyBackend/default/tools'

/** The result of compilation. */
export interface CompiledMcp {
  readonly plan: McpPlan
  /** `<path> <code>` */
  readonly problems: readonly string[]
}

/** A backend; only the names of targets are required. */
export interface TestMcp extends Partial<Omit<ResolvedMcpBackend, 'targets'>> {
  /** `auth`: `backend.auth` of the target. */
  readonly targets: readonly (Partial<ResolvedMcpTarget> & { readonly name: string; readonly auth?: BackendAuthSpec })[]
  /** `backend.health` of all targets, and the target of its policy. */
  readonly health?: readonly [spec: BackendHealthSpec, target: string]
}

/** Compiles an MCP backend with policies, with real expressions. */
export function compileTestMcp(
  { targets, sessionRouting = 'Stateful', failureMode, health, toolPinning }: TestMcp,
  policies: readonly BackendMcpSpec[] = [],
): CompiledMcp {
  const context = contextWith()
  const rules = policies.map((spec) => sourceOf(spec, { path: 'spec.backend.mcp', target: MCP_BACKEND }))
  const ofHealth = health === undefined ? [] : [sourceOf(health[0], { path: 'spec.backend.health', target: health[1] })]
  const of: BackendSettings['of'] = ({ field }, section) => {
    if (field === 'health') return ofHealth as never
    const auth = targets.find(({ name }) => name === section)?.auth
    return (field === 'mcp' ? rules : auth === undefined ? [] : [sourceOf(auth)]) as never
  }
  const spec: ResolvedMcpBackend = {
    targets: targets.map(({ auth: _, ...target }) => ({ entry: target.name, port: 80, ...target })),
    sessionRouting,
    ...(failureMode === undefined ? {} : { failureMode }),
    ...(toolPinning === undefined ? {} : { toolPinning }),
  }
  const backend = { ...sourceOf(spec, { path: 'spec.mcp', target: MCP_BACKEND }), namespace: 'default', name: 'tools' }
  const plan = compileMcp(backend, { of, everyOf: of }, context)
  return { plan, problems: context.problems.map(({ path, code }) => `${path} ${code}`) }
}

/** A plan for targets with these names. */
export function mcpPlan(names: readonly string[], rest: Omit<TestMcp, 'targets'> = {}): McpPlan {
  return compileTestMcp({ targets: names.map((name) => ({ name })), ...rest }).plan
}
