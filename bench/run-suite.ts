import { type Candidate, DIRECT } from './candidate.ts'
import { measure, type Sample } from './measure.ts'
import { openSession } from './open-session.ts'
import type { PinnedProcess } from './pinned-process.ts'
import type { Suite } from './suite.ts'
import type { Row } from './table.ts'
import { waitForAnswer } from './wait-for-answer.ts'

const WARM_UP_SECONDS = 2

export interface RunOptions {
  readonly suite: Suite
  readonly candidates: readonly Candidate[]
  readonly upstreams: readonly PinnedProcess[]
  readonly rounds: number
  readonly seconds: number
  readonly progress: (text: string) => void
}

/** Measures all candidates alternately in several rounds, so that a slow phase of the machine affects all of them. */
export async function runSuite(options: RunOptions): Promise<readonly Row[]> {
  const { suite, rounds, seconds, upstreams, progress } = options
  const candidates = suite.unit === 'event' ? [DIRECT, ...options.candidates] : options.candidates
  const suites = new Map<Candidate, Suite>()
  for (const candidate of candidates) {
    const adapted = candidate.adapt(suite) ?? suite
    const own = suite.inSession === true ? await openSession(candidate, adapted) : adapted
    suites.set(candidate, own)
    await waitForAnswer(candidate, own)
    await measure(candidate, own, WARM_UP_SECONDS, upstreams)
  }
  const samples = new Map<Candidate, Sample[]>(candidates.map((candidate) => [candidate, []]))
  for (let round = 0; round < rounds; round++) {
    progress(`${suite.name}: round ${round + 1} of ${rounds}`)
    for (const candidate of rotate(candidates, round)) {
      samples.get(candidate)!.push(await measure(candidate, suites.get(candidate)!, seconds, upstreams))
    }
  }
  return candidates.map((candidate) => ({ name: candidate.name, samples: samples.get(candidate)! }))
}

/** Rotates the order, so that no candidate always follows the same one. */
function rotate<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}
