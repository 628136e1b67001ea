/** The only file that reads the time; tests replace `clock.now` and `clock.monotonic`. */
export const clock = {
  /** Wall clock, milliseconds since the epoch. */
  now: (): number => Date.now(),
  /** Monotonic, milliseconds with fractions. */
  monotonic: (): number => performance.now(),
}
