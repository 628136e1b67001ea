import { clock } from '#base/clock.ts'

/** How long a check holds the worker at a stretch, in milliseconds: other requests wait no longer. */
const MAX_STRETCH_MS = 8

/**
 * Runs work that may be long: other requests run between its slices.
 * @param work yields where it can be interrupted
 * @returns a promise only if it takes long
 */
export function runInSlices<Result>(work: Generator<undefined, Result>): Result | Promise<Result> {
  const until = clock.monotonic() + MAX_STRETCH_MS
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (clock.monotonic() >= until) return continueLater(work)
  }
}

async function continueLater<Result>(work: Generator<undefined, Result>): Promise<Result> {
  await new Promise<void>((resume) => setImmediate(resume))
  return runInSlices(work)
}
