import { setTimeout as sleep } from 'node:timers/promises'
import type { Candidate } from './candidate.ts'
import type { Suite } from './suite.ts'

const PATIENCE_MS = 20_000
const PAUSE_MS = 100

/**
 * Resolves when a candidate answers as it should.
 * @throws Error with what it said, when it ended or does not answer rightly in time
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

/** @returns what is wrong with the answer */
async function tryOnce({ port }: Candidate, suite: Suite): Promise<string | undefined> {
  const { path, headers, body, expect } = suite
  try {
    const response = await fetch(`http://127.0.0.1:${port(suite)}${path}`, {
      headers,
      ...(body === undefined ? {} : { method: 'POST', body }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    if (response.status !== 200) return `status ${response.status}: ${text.slice(0, 200)}`
    return text.includes(expect) ? undefined : `the answer does not contain ${expect}`
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error)
  }
}
