import { ruleProblems } from '#exchange/rule-problems.ts'
import type { CompileContext, PolicySource } from '#policies/policy.ts'
import type { McpAuthorization } from './authorization.ts'
import { findHidingRules, type McpRule } from './hidden-kinds.ts'
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
  const rules: Rule[] = []
  for (const source of policies) {
    const { authorization } = source.spec
    authorization?.policy.matchExpressions.forEach((text, index) => {
      const path = `.authorization.policy.matchExpressions[${index}]`
      const expression = context.expression(source, path, text, 'mcp', 'condition')
      const { action } = authorization
      for (const problem of ruleProblems(action, expression)) context.report(source, path, problem)
      rules.push({ action, expression, source, path })
    })
  }
  for (const { rule, problem } of findHidingRules(rules)) context.report(rule.source, rule.path, problem)
  const ofAction = (wanted: McpRule['action']) =>
    rules.filter(({ action }) => action === wanted).map(({ expression }) => expression)
  const broken = rules.some(({ expression }) => expression.broken)
  return { broken, deny: ofAction('Deny'), require: ofAction('Require'), allow: ofAction('Allow') }
}

interface Rule extends McpRule {
  readonly source: PolicySource<BackendMcpSpec>
  readonly path: string
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
