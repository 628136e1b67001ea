import { Pace, type Steps } from '#base/in-slices.ts'
import type { RegexGuard } from '../guard.ts'
import { BrokenArguments } from './broken-arguments.ts'
import type { GuardedTexts } from './guarded-texts.ts'
import type { RuleVerdict } from './mask-texts.ts'

/** Masks the matches of a guard in arguments that are no JSON. @param verdict on all other texts */
export function* maskBroken(guard: RegexGuard, { runs }: GuardedTexts, verdict: RuleVerdict): Steps<RuleVerdict> {
  const pace = new Pace()
  const masked = new Set(verdict.kind === 'pass' ? [] : verdict.rules)
  for (const { texts } of runs) {
    for (const text of texts) {
      if (pace.after(1)) yield
      if (!(text instanceof BrokenArguments)) continue
      const rules = yield* text.maskAll(guard, masked, pace)
      if (rules !== undefined) return { kind: 'reject', rules, detail: 'the match is in arguments that are no JSON' }
    }
  }
  return masked.size === 0 ? verdict : { kind: 'mask', rules: guard.rules.filter((rule) => masked.has(rule)) }
}
