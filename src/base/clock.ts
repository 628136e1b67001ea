/** Cached, because looking up the global costs more than reading the time. */
const timeline = globalThis.performance

/** About 25 days; a timer with a longer delay fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The only file that reads the time or starts a timer; tests replace `clock.now` and `clock.monotonic`. */
export const clock = {
  /** Wall clock, milliseconds since the epoch. */
  now: (): number => Date.now(),
  /** Monotonic, milliseconds with fractions since the process started; the same in all of its threads. */
  monotonic: (): number => timeline.now(),
  /** Calls `run` once, `ms` milliseconds from now. Only for rare waits; time limits of requests use the wheel of `net/`. */
  after: (ms: number, run: () => void): { cancel(): void } => {
    let timer: ReturnType<typeof setTimeout>
    const wait = (leftMs: number): void => {
      timer =
        leftMs > LONGEST_TIMER_MS
          ? setTimeout(wait, LONGEST_TIMER_MS, leftMs - LONGEST_TIMER_MS)
          : setTimeout(run, leftMs)
    }
    wait(ms)
    return { cancel: () => clearTimeout(timer) }
  },
}

/** Resolves `ms` milliseconds from now. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
