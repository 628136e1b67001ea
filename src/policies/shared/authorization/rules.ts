import { describeOrigin } from '#base/origin.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression, ExpressionEnvironment } from '#exchange/expression.ts'
import { ruleProblems } from '#exchange/rule-problems.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { AuthorizationSpec } from './authorization.ts'

/** One expression of a rule set, with the words for the decision record. */
export interface Rule {
  readonly expression: Expression
  readonly label: string
}

/** The rules of all policies together (specification 2, 2.2.2). */
export interface RuleSet {
  readonly deny: readonly Rule[]
  readonly require: readonly Rule[]
  readonly allow: readonly Rule[]
}

/** Where the rule sets of a source stand, for paths of problems. */
const EXPRESSIONS = '.policy.matchExpressions'

/**
 * Takes the rules of all sources together. Several expressions of one policy: for Allow and Deny any of them, for Require all
 * (decision A-65), so that each expression is a rule of its own.
 */
export function compileRules(
  sources: readonly PolicySource<AuthorizationSpec>[],
  context: CompileContext,
  place: ExpressionEnvironment,
): RuleSet {
  const rules = { Deny: [] as Rule[], Require: [] as Rule[], Allow: [] as Rule[] }
  for (const source of sources) {
    const { action, policy } = source.spec
    for (const [index, text] of policy.matchExpressions.entries()) {
      const path = `${EXPRESSIONS}[${index}]`
      const label = `${action} rule ${source.path}${path} of ${describeOrigin(source.origin)}`
      const expression = context.expression(source, path, text, place, 'condition')
      for (const problem of ruleProblems(action, expression)) context.report(source, path, problem)
      rules[action].push({ expression, label })
    }
  }
  return { deny: rules.Deny, require: rules.Require, allow: rules.Allow }
}

export function expressionsOf(rules: RuleSet): Expression[] {
  return [...rules.deny, ...rules.require, ...rules.allow].map(({ expression }) => expression)
}

/** Why a rule set denies. */
export interface Denial {
  /** The rule that denied, or `allow` when there are Allow rules and none matched. */
  readonly rule: Rule | 'allow'
  /** The rule did not match because it failed; of several Allow rules the first one that did. */
  readonly failed: Rule | undefined
}

/**
 * Deny, then Require, then Allow (decision A-66). An expression that fails does not match; a Deny rule that does not even compile
 * denies everything (decision A-64). One that a limit ended decides nothing: `exchange.exceeded` says so, and whoever asks denies.
 * @returns undefined: allowed
 */
export function firstDenial(rules: RuleSet, exchange: Exchange): Denial | undefined {
  for (const rule of rules.deny) {
    if (rule.expression.broken || rule.expression.isTrue(exchange)) return { rule, failed: undefined }
    if (exchange.exceeded !== undefined) return { rule, failed: undefined }
  }
  for (const rule of rules.require) {
    const verdict = rule.expression.test(exchange)
    if (verdict !== true) return { rule, failed: verdict === undefined ? rule : undefined }
  }
  if (rules.allow.length === 0) return undefined
  let failed: Rule | undefined
  for (const rule of rules.allow) {
    const verdict = rule.expression.test(exchange)
    if (verdict === true) return undefined
    if (exchange.exceeded !== undefined) break
    if (verdict === undefined) failed ??= rule
  }
  return { rule: 'allow', failed }
}

/** For operators: the rule, and why it failed if it did. */
export function describeDenial({ rule, failed }: Denial, exchange: Exchange): string {
  const what = rule === 'allow' ? 'no Allow rule matched' : rule.label
  if (failed === undefined) return what
  const why = `failed: ${failed.expression.whyFailed(exchange) ?? 'its result is not a bool'}`
  return failed === rule ? `${what} ${why}` : `${what}; ${failed.label} ${why}`
}
