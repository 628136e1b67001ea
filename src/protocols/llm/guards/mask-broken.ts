import { Pace, type Steps } from '#base/in-slices.ts'
import { BrokenArguments } from './broken-arguments.ts'
import type { RegexGuard } from './guard.ts'
import type { GuardedTexts } from './guarded-texts.ts'
import type { RuleVerdict } from './mask-texts.ts'

/** Masks the matches of a guard in arguments that are no JSON. @param verdict on all other texts */
export function* maskBroken(guard: RegexGuard, { runs }: GuardedTexts, verdict: RuleVerdict): Steps<RuleVerdict> {
  const pace = new Pace()
  let hasChanged = false
  for (const { texts } of runs) {
    for (const text of texts) {
      if (pace.after(1)) yield
      if (!(text instanceof BrokenArguments)) continue
      const before = text.text
      if (!(yield* text.maskAll(guard, pace))) {
        return { kind: 'reject', rules: [], detail: 'the match is in arguments that are no JSON' }
      }
      hasChanged ||= text.text !== before
    }
  }
  return hasChanged && verdict.kind === 'pass' ? { kind: 'mask', rules: [] } : verdict
}
