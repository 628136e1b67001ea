/** Kept, because looking up the global costs more than reading the time. */
const timeline = globalThis.performance

/** The only file that reads the time or starts a timer; tests replace `clock.now` and `clock.monotonic`. */
export const clock = {
  /** Wall clock, milliseconds since the epoch. */
  now: (): number => Date.now(),
  /** Monotonic, milliseconds with fractions. */
  monotonic: (): number => timeline.now(),
  /** Calls `run` once, `ms` milliseconds from now. For rare waits; limits of every request use the wheel of `net/`. */
  after: (ms: number, run: () => void): { cancel(): void } => {
    const timer = setTimeout(run, ms)
    return { cancel: () => clearTimeout(timer) }
  },
}
