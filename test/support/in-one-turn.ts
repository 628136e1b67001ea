import { clock } from '#base/clock.ts'

/** Runs code for which no time passes, so that work in slices (`base/in-slices.ts`) is done at once. */
export function inOneTurn<Result>(run: () => Result): Result {
  const { monotonic } = clock
  const now = monotonic()
  clock.monotonic = () => now
  try {
    return run()
  } finally {
    clock.monotonic = monotonic
  }
}
