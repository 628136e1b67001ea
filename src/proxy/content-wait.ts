import { clock } from '#base/clock.ts'
import type { AnswerFilter } from '#protocols/backend-protocol.ts'

/** How long a response is held for its first content if its attempt has no limit. */
export const HELD_MS = 5000

/** How often the wait checks whether a guard still judges the first content, in milliseconds. */
const JUDGED_MS = 500

/** The time limit of a stream for its first content, as long as another attempt may replace it. */
export interface ContentLimit {
  /** The remaining time, in milliseconds. */
  readonly ms: number
  /** Begins another attempt. @returns false if there is none: the response goes on */
  late(): boolean
}

/** Calls `late` after `ms` milliseconds, or later if a guard still judges the first content then, unless it is cancelled before. */
export function waitForContent(
  filter: Pick<AnswerFilter, 'isJudging'>,
  ms: number,
  late: () => void,
): { cancel(): void } {
  const check = () => {
    if (filter.isJudging === true) timer = clock.after(JUDGED_MS, check)
    else late()
  }
  let timer = clock.after(ms, check)
  return { cancel: () => timer.cancel() }
}
