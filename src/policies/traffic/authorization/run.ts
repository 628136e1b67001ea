import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import { firstDenial, type Rule, type RuleSet } from '../../shared/rules.ts'

export interface AuthorizationPlan {
  readonly rules: RuleSet
  readonly refusals: ReadonlyMap<Rule | 'allow', Refusal>
}

export function planAuthorization(rules: RuleSet): AuthorizationPlan {
  const refusals = new Map<Rule | 'allow', Refusal>()
  refusals.set('allow', reject('authorization-denied', { detail: 'no Allow rule matched' }))
  for (const rule of [...rules.deny, ...rules.require]) {
    refusals.set(rule, reject('authorization-denied', { detail: rule.label }))
  }
  return { rules, refusals }
}

/** Specification 2, 2.2.2. */
export function runAuthorization(plan: AuthorizationPlan, exchange: Exchange): Outcome {
  const denial = firstDenial(plan.rules, exchange)
  return denial === undefined ? proceed : plan.refusals.get(denial)
}
