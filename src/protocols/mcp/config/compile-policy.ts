import type { Expression } from '#exchange/expression.ts'
import { ruleProblems } from '#exchange/rule-problems.ts'
import type { CompileContext, PolicySource } from '#policies/policy.ts'
import type { AuthorizationSpec } from '#policies/shared/authorization/authorization.ts'
import type { McpAuthorization } from './authorization.ts'
import type { BackendMcpSpec } from './policy-schema.ts'

/** `backend.mcp` of all levels combined and prepared. */
export interface McpSettings {
  readonly authorization: McpAuthorization
  /** Why all requests are refused, for operators; undefined: they are served. The problem has been reported. */
  readonly refusal: string | undefined
}

/** @param sources of every level that applies, in order of precedence */
export function compileMcpPolicy(
  sources: readonly PolicySource<BackendMcpSpec>[],
  context: CompileContext,
): McpSettings {
  return { authorization: compileAuthorization(sources, context), refusal: findRefusal(sources, context) }
}

function compileAuthorization(
  policies: readonly PolicySource<BackendMcpSpec>[],
  context: CompileContext,
): McpAuthorization {
  const rules: Record<AuthorizationSpec['action'], Expression[]> = { Allow: [], Deny: [], Require: [] }
  for (const source of policies) {
    const { authorization } = source.spec
    authorization?.policy.matchExpressions.forEach((text, index) => {
      const path = `.authorization.policy.matchExpressions[${index}]`
      const expression = context.expression(source, path, text, 'mcp', 'condition')
      for (const problem of ruleProblems(authorization.action, expression)) context.report(source, path, problem)
      rules[authorization.action].push(expression)
    })
  }
  const broken = Object.values(rules).some((expressions) => expressions.some((rule) => rule.broken))
  return { broken, deny: rules.Deny, require: rules.Require, allow: rules.Allow }
}

/** Authentication that is not implemented must not let any request through. */
function findRefusal(policies: readonly PolicySource<BackendMcpSpec>[], context: CompileContext): string | undefined {
  const demanding = policies.filter(({ spec }) => spec.authentication !== undefined)
  for (const source of demanding) {
    context.report(source, '.authentication', {
      code: 'not-implemented',
      message: 'backend.mcp.authentication is not implemented yet; every request to this backend is refused',
      severity: 'error',
    })
  }
  return demanding.length === 0 ? undefined : 'backend.mcp.authentication is not implemented yet'
}
