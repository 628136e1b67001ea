import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './ask.ts'
import type { Candidate } from './candidate.ts'
import type { Suite } from './suite.ts'

const PATIENCE_MS = 20_000
const PAUSE_MS = 100

/**
 * Resolves when a candidate responds correctly.
 * @throws Error with its output if it ends or does not respond correctly in time
 */
export async function waitForAnswer(candidate: Candidate, suite: Suite): Promise<void> {
  const { name, process } = candidate
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const wrong = await tryOnce(candidate, suite)
    if (wrong === undefined) return
    const ended = process !== undefined && !process.running
    if (ended || performance.now() > deadline) {
      const problem = ended ? 'it ended' : wrong
      throw new Error([`${name} does not serve suite ${suite.name}: ${problem}`, process?.errors() ?? ''].join('\n'))
    }
    await sleep(PAUSE_MS)
  }
}

/** @returns the fault of the response */
async function tryOnce({ address }: Candidate, suite: Suite): Promise<string | undefined> {
  try {
    const { status, body } = await ask(suite, address(suite), AbortSignal.timeout(PATIENCE_MS))
    if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`
    return body.includes(suite.expect) ? undefined : `the answer does not contain ${suite.expect}`
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error)
  }
}
