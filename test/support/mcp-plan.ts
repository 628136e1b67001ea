import { compileExpression } from '#exchange/compile-expression.ts'
import type { Expression } from '#exchange/expression.ts'
import { compileMcp, type McpBackendSpec, type McpPolicySpec, type McpSource } from '#protocols/mcp/compile-mcp.ts'
import type { McpPlan } from '#protocols/mcp/mcp-plan.ts'

/** Key of the backend of `mcpPlan`; a destination is this, a slash and the name of the target. */
export const MCP_BACKEND = 'ProxyBackend/default/tools'

/** What compilation says besides the plan. */
export interface CompiledMcp {
  readonly plan: McpPlan
  /** `<path> <code>` */
  readonly problems: readonly string[]
}

/** Compiles an MCP backend with policies, with real expressions. */
export function compileTestMcp(spec: McpBackendSpec, policies: readonly McpPolicySpec[] = []): CompiledMcp {
  const problems: string[] = []
  const report = (path: string, code: string) => problems.push(`${path} ${code}`)
  const plan = compileMcp(
    sourceOf(spec, 'spec.mcp'),
    policies.map((policy) => sourceOf(policy, 'spec.backend.mcp')),
    {
      report: (source, path, problem) => void report(`${source.path}${path}`, problem.code),
      expression: (source, path, text, place): Expression =>
        compileExpression(text, place, (problem) => void report(`${source.path}${path}`, problem.code)),
    },
  )
  return { plan, problems }
}

function sourceOf<Spec>(spec: Spec, path: string): McpSource<Spec> {
  return { spec, path, origin: { kind: 'ProxyBackend', namespace: 'default', name: 'tools' }, target: MCP_BACKEND }
}

/** A plan for targets of these names. */
export function mcpPlan(names: readonly string[], rest: Omit<McpBackendSpec, 'targets'> = {}): McpPlan {
  return compileTestMcp({ targets: names.map((name) => ({ name })), ...rest }).plan
}
