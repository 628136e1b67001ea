import { setTimeout as sleep } from 'node:timers/promises'
import { WAIT_LIMIT_MS } from './time-limits.ts'

/** Between two looks: short at first, because most waits are. */
const FIRST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 20

/** Waits until `look` returns a value; fails with the last error, or with `name`, after the time limit. */
export async function eventually<T>(
  name: string,
  look: () => T | undefined | Promise<T | undefined>,
  patienceMs = WAIT_LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs
  let last: unknown
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < deadline; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      const found = await look()
      if (found !== undefined && found !== false) return found
    } catch (error) {
      last = error
    }
    await sleep(pauseMs)
  }
  throw new Error(`never came true: ${name}`, { cause: last })
}
