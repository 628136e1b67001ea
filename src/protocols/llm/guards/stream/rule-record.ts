import type { Exchange } from '#exchange/exchange.ts'
import type { RegexGuard } from '../guard.ts'
import { noteCheck } from '../guard-log.ts'
import { namesOf } from '../guard-refusals.ts'
import type { TextRule } from '../rules/text-rule.ts'
import type { RuleObserver } from '../stages/regex-stage.ts'

interface Found {
  readonly verdict: 'Allow' | 'Mask' | 'Reject' | 'Fail'
  readonly rules: Set<TextRule>
  readonly detail: string | undefined
}

const NOTHING: Found = { verdict: 'Allow', rules: new Set(), detail: undefined }

/** The outcome of each pattern guard for a whole stream. */
export class RuleRecord {
  readonly #found = new Map<RegexGuard, Found>()

  /** The first rejection counts; until then, all masks. */
  note(...[guard, verdict, rules, detail]: Parameters<RuleObserver['noted']>): void {
    const found = this.#found.get(guard)
    if (found === undefined || (found.verdict === 'Mask' && verdict === 'Reject')) {
      this.#found.set(guard, { verdict, rules: new Set(rules), detail })
    } else if (found.verdict === 'Mask') for (const rule of rules) found.rules.add(rule)
  }

  /** The guard cannot check the rest. */
  noteFailure(guard: RegexGuard, detail: string): void {
    this.#found.set(guard, { ...NOTHING, verdict: 'Fail', detail })
  }

  /** @param length of all texts */
  write(guard: RegexGuard, exchange: Exchange, startMs: number, length: number): void {
    const { verdict, rules, detail } = this.#found.get(guard) ?? NOTHING
    const names = namesOf(guard.rules.filter((rule) => rules.has(rule)))
    noteCheck(exchange, guard, startMs, { verdict, length, ...names, detail })
  }
}
