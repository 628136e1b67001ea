import { describeOrigin } from '#base/origin.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression, ExpressionEnvironment } from '#exchange/expression.ts'
import { findTellingLine } from '#exchange/repeated-field.ts'
import { ruleProblems } from '#exchange/rule-problems.ts'
import type { Trace } from '#exchange/trace.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { AuthorizationSpec } from './authorization.ts'

/** One expression of a rule set, with its description for the decision record. */
export interface Rule {
  readonly expression: Expression
  readonly label: string
}

/** The rules of all policies combined (specification 2, 2.2.2). */
export interface RuleSet {
  readonly deny: readonly Rule[]
  readonly require: readonly Rule[]
  readonly allow: readonly Rule[]
}

/** Position of the expressions in a source, for paths of problems. */
const EXPRESSIONS = '.policy.matchExpressions'

/**
 * Combines the rules of all sources. Expressions of one policy are alternatives for Allow and Deny, and all required for Require (decision
 * A-65), so each expression is a separate rule.
 */
export function compileRules(
  sources: readonly PolicySource<AuthorizationSpec>[],
  context: CompileContext,
  environment: ExpressionEnvironment,
): RuleSet {
  const rules = { Deny: [] as Rule[], Require: [] as Rule[], Allow: [] as Rule[] }
  for (const source of sources) {
    const { action, policy } = source.spec
    for (const [index, text] of policy.matchExpressions.entries()) {
      const path = `${EXPRESSIONS}[${index}]`
      const label = `${action} rule ${source.path}${path} of ${describeOrigin(source.origin)}`
      const expression = context.expression(source, path, text, environment, 'condition')
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
  /** The rule that denied, or `allow` if there are Allow rules and none matched. */
  readonly rule: Rule | 'allow'
  /** A rule whose evaluation failed: the rule that denied, if that is why; of several Allow rules the first one that failed. */
  readonly failed: Rule | undefined
  /** The field whose lines give the rule different results. */
  readonly repeated?: string
}

/**
 * Evaluates Deny, then Require, then Allow rules (decision A-66). An expression that fails does not match. A Deny rule that does not
 * compile denies everything (decision A-64). An expression that a limit ended has no result: `exchange.exceeded` records it, and the caller
 * denies. A field whose lines give a rule different results denies, too (decision A-132).
 * @returns undefined: allowed
 */
export function firstDenial(rules: RuleSet, exchange: Exchange): Denial | undefined {
  for (const rule of rules.deny) {
    if (rule.expression.broken) return { rule, failed: rule }
    if (rule.expression.isTrue(exchange)) return { rule, failed: undefined }
    const repeated = findTellingLine(rule.expression, exchange)
    if (exchange.exceeded !== undefined) return { rule, failed: undefined }
    if (repeated !== undefined) return { rule, failed: undefined, repeated }
  }
  for (const rule of rules.require) {
    const verdict = rule.expression.test(exchange)
    if (verdict !== true) return { rule, failed: verdict === undefined ? rule : undefined }
    const repeated = findTellingLine(rule.expression, exchange)
    if (repeated !== undefined) return { rule, failed: undefined, repeated }
  }
  if (rules.allow.length === 0) return undefined
  let failed: Rule | undefined
  for (const rule of rules.allow) {
    const verdict = rule.expression.test(exchange)
    const repeated = verdict === true ? findTellingLine(rule.expression, exchange) : undefined
    if (exchange.exceeded !== undefined) break
    if (repeated !== undefined) return { rule, failed: undefined, repeated }
    if (verdict === true) return undefined
    if (verdict === undefined) failed ??= rule
  }
  return { rule: 'allow', failed }
}

/** Tells `explain` which Deny rules do not match because their evaluation fails (decision A-65). One that does not compile denies. */
export function traceFailedDenials({ deny }: RuleSet, exchange: Exchange, trace: Trace): void {
  for (const { expression, label } of deny) {
    if (expression.broken) continue
    const why = expression.whyFailed(exchange)
    if (why !== undefined) trace.note(`${label} does not match, because it failed: ${why}`)
  }
}

/** For operators: the rule, and why its evaluation failed, if it did. */
export function describeDenial({ rule, failed, repeated }: Denial, exchange: Exchange): string {
  const what = rule === 'allow' ? 'no Allow rule matched' : rule.label
  if (repeated !== undefined) return `${what} compares ${repeated}, which came in several lines with different results`
  if (failed === undefined) return what
  const why = `failed: ${failed.expression.whyFailed(exchange) ?? 'its result is not a bool'}`
  return failed === rule ? `${what} ${why}` : `${what}; ${failed.label} ${why}`
}
