import type { Pace, Steps } from '#base/in-slices.ts'
import type { RegexGuard } from './guard.ts'
import { GuardedText } from './guarded-text.ts'
import { ArgumentsStage } from './stream/arguments-stage.ts'

/** So much is checked at a time, in UTF-16 units. */
const PART_LENGTH = 256
/** The work for a text besides that for its characters. */
const WORK_PER_TEXT = 32

/** Arguments in an answer that are no JSON, or not complete. They are checked as in a stream. */
export class BrokenArguments extends GuardedText {
  /** Yields between parts. @returns whether all that matches has been masked */
  *maskAll(guard: RegexGuard, pace: Pace): Steps<boolean> {
    const passed: string[] = []
    let isRefused = false
    const out = {
      text: (_: undefined, text: string) => void passed.push(text),
      finish() {},
    }
    const refuse = () => {
      isRefused = true
    }
    const stream = { refuse, noted() {} }
    const stage = new ArgumentsStage<undefined>(out, { guard, isFixed: !this.canChange, stream, isBroken: true })
    const { text } = this
    for (let at = 0; at < text.length && !isRefused; at += PART_LENGTH) {
      stage.text(undefined, text.slice(at, at + PART_LENGTH))
      if (pace.after(WORK_PER_TEXT + PART_LENGTH)) yield
    }
    stage.finish()
    if (!isRefused) this.text = passed.join('')
    return !isRefused
  }
}
