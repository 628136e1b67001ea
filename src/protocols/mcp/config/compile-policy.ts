import { ruleProblems } from '#exchange/rule-problems.ts'
import type { CompileContext, PolicySource } from '#policies/policy.ts'
import type { McpAuthorization } from './authorization.ts'
import { compileAuthentication, type McpAuthentication } from './compile-authentication.ts'
import { findHidingRules, type McpRule } from './hidden-kinds.ts'
import type { BackendMcpSpec } from './policy-schema.ts'

/** `backend.mcp` of all levels combined and prepared. */
export interface McpSettings {
  readonly authorization: McpAuthorization
  /** Undefined: policies of other sections identify clients, or none does. */
  readonly authentication: McpAuthentication | undefined
}

/** @param sources of every level that applies, in order of precedence */
export function compileMcpPolicy(
  sources: readonly PolicySource<BackendMcpSpec>[],
  context: CompileContext,
): McpSettings {
  const source = sources.find(({ spec }) => spec.authentication !== undefined)
  return {
    authorization: compileAuthorization(sources, context),
    authentication: source && compileAuthentication(source, source.spec.authentication!, context),
  }
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
