import { setTimeout as sleep } from 'node:timers/promises'
import { WAIT_LIMIT_MS } from './time-limits.ts'

/** Waits until `look` returns a value; fails with the last error, or with `name`, after the time limit. */
export async function eventually<T>(
  name: string,
  look: () => T | undefined | Promise<T | undefined>,
  patienceMs = WAIT_LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs
  let last: unknown
  while (performance.now() < deadline) {
    try {
      const found = await look()
      if (found !== undefined && found !== false) return found
    } catch (error) {
      last = error
    }
    await sleep(20)
  }
  throw new Error(`never came true: ${name}`, { cause: last })
}
