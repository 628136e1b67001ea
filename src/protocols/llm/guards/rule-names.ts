import type { GuardCheck } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { RegexGuard } from './guard.ts'
import { refuseByGuard } from './guard-refusals.ts'
import type { TextRule } from './rules/text-rule.ts'

/** How a record names rules. */
export function namesOf(rules: readonly TextRule[]): Pick<GuardCheck, 'rule' | 'placeholder'> {
  return {
    rule: listOf(rules, ({ label }) => label),
    placeholder: listOf(rules, ({ placeholder }) => placeholder),
  }
}

/** Undefined: there is none. */
function listOf(rules: readonly TextRule[], read: (rule: TextRule) => string): string | undefined {
  return rules.length === 0 ? undefined : rules.map(read).join(', ')
}

/** @param detail why what matches cannot be masked; undefined: the guard rejects each match */
export function refuseByRules(guard: RegexGuard, rules: readonly TextRule[], detail: string | undefined): Refusal {
  const { rule } = namesOf(rules)
  return refuseByGuard(guard, `${rule === undefined ? '' : ` ${rule}`}${detail === undefined ? '' : `: ${detail}`}`)
}
