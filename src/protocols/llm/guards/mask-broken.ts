import { Pace, type Steps } from '#base/in-slices.ts'
import { BrokenArguments } from './broken-arguments.ts'
import type { RegexGuard } from './guard.ts'
import type { GuardedTexts } from './guarded-texts.ts'
import type { RuleVerdict } from './mask-texts.ts'

/** Masks the matches of a guard in arguments that are no JSON. Undefined: nothing matches. */
export function* maskBroken(guard: RegexGuard, { runs }: GuardedTexts): Steps<RuleVerdict | undefined> {
  const pace = new Pace()
  let hasChanged = false
  for (const { texts } of runs) {
    for (const text of texts) {
      if (pace.after(1)) yield
      if (!(text instanceof BrokenArguments)) continue
      const before = text.text
      if (!(yield* text.maskAll(guard, pace))) return { kind: 'reject', rule: undefined }
      hasChanged ||= text.text !== before
    }
  }
  return hasChanged ? { kind: 'mask', rule: undefined } : undefined
}
