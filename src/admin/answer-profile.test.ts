import { expect, test } from 'vitest'
import { answerProfile, type ProfileOutcome } from './answer-profile.ts'

const asked: (readonly [string, string, number])[] = []
const sourceOf = (outcome: ProfileOutcome) => ({
  workers: () => ['w1', 'w3'],
  record: async (worker: string, kind: string, durationMs: number) => {
    asked.push([worker, kind, durationMs])
    return outcome
  },
})
const PROFILE: ProfileOutcome = { kind: 'profile', text: '{}' }

const answers: readonly (readonly [query: string, outcome: ProfileOutcome, status: number, body: string])[] = [
  ['', PROFILE, 200, '{}'],
  ['worker=w3&seconds=60', PROFILE, 200, '{}'],
  ['seconds=61', PROFILE, 400, 'seconds must be a number from 1 to 60\n'],
  ['seconds=0', PROFILE, 400, 'seconds must be a number from 1 to 60\n'],
  ['worker=w2', PROFILE, 400, 'worker must be one of w1, w3\n'],
  ['thread=w1', PROFILE, 400, 'unknown parameter; use worker, seconds\n'],
  ['', { kind: 'busy' }, 409, 'another profile is being recorded; only one is recorded at a time\n'],
  ['', { kind: 'failed', cause: 'the worker has ended' }, 503, 'no profile of w1: the worker has ended\n'],
]

for (const [query, outcome, status, body] of answers) {
  test(`/profile/cpu?${query} with ${outcome.kind}: ${status}`, async () => {
    expect(await answerProfile('cpu', sourceOf(outcome), new URLSearchParams(query))).toMatchObject({ status, body })
  })
}

test('worker and time have defaults, and the file has a name', async () => {
  asked.length = 0
  const { headers } = await answerProfile('heap', sourceOf(PROFILE), new URLSearchParams())
  expect(headers).toEqual({ 'content-disposition': 'attachment; filename="w1.heapprofile"' })
  expect(asked).toEqual([['w1', 'heap', 10_000]])
})
