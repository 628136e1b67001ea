import { refuseMisread } from '#exchange/a2a-refusal.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import { callOf } from '#exchange/variables/a2a-variables.ts'
import {
  type Denial,
  describeDenial,
  firstDenial,
  type Rule,
  type RuleSet,
  traceFailedDenials,
} from '../../shared/authorization/rules.ts'

export interface AuthorizationPlan {
  readonly rules: RuleSet
  /** Prepared refusals for rules whose evaluation did not fail. */
  readonly refusals: ReadonlyMap<Rule | 'allow', Refusal>
  /** A rule reads the method of A2A calls: those that the gateway and an agent could read differently are refused. */
  readonly readsA2aMethod: boolean
}

export function planAuthorization(rules: RuleSet, readsA2aMethod: boolean): AuthorizationPlan {
  const refusals = new Map<Rule | 'allow', Refusal>()
  refusals.set('allow', reject('authorization-denied', { detail: 'no Allow rule matched' }))
  for (const rule of [...rules.deny, ...rules.require]) {
    refusals.set(rule, reject('authorization-denied', { detail: rule.label }))
  }
  return { rules, refusals, readsA2aMethod }
}

/**
 * Evaluates the rules (specification 2, 2.2.2). A resource limit denies the request regardless of the action of the rule; it is not a
 * failed rule (decision A-137).
 */
export function runAuthorization(plan: AuthorizationPlan, exchange: Exchange): Outcome {
  const misread = plan.readsA2aMethod ? refuseMisread(callOf(exchange)) : undefined
  if (misread !== undefined) return misread
  const denial = firstDenial(plan.rules, exchange)
  if (exchange.trace !== undefined) traceFailedDenials(plan.rules, exchange, exchange.trace)
  if (denial === undefined) return proceed
  const { exceeded } = exchange
  if (exceeded === undefined) return withScopes(plan, refusalOf(plan, denial, exchange), exchange)
  exchange.exceeded = undefined
  return reject('authorization-exceeded', { detail: exceeded })
}

/** Whether `runAuthorization` lets the request through. After a resource limit, nothing passes. */
export function allows({ rules, readsA2aMethod }: AuthorizationPlan, exchange: Exchange): boolean {
  if (readsA2aMethod && refuseMisread(callOf(exchange)) !== undefined) return false
  return (
    exchange.exceeded === undefined && firstDenial(rules, exchange) === undefined && exchange.exceeded === undefined
  )
}

/** Tells the client which scopes it needs, if they are what it lacks. */
function withScopes(plan: AuthorizationPlan, refusal: Refusal, exchange: Exchange): Refusal {
  const headers = exchange.stepUp?.challengeScopes(exchange, () => allows(plan, exchange))
  return headers === undefined ? refusal : { ...refusal, headers }
}

function refusalOf(plan: AuthorizationPlan, denial: Denial, exchange: Exchange): Refusal {
  const prepared =
    denial.failed === undefined && denial.repeated === undefined ? plan.refusals.get(denial.rule) : undefined
  return prepared ?? reject('authorization-denied', { detail: describeDenial(denial, exchange) })
}
