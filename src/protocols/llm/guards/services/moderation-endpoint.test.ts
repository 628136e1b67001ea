import { expect, test } from 'vitest'
import { moderationEndpoint } from './moderation-endpoint.ts'
import { around, fakeCall, question } from './testing.ts'

const flags = (...flagged: unknown[]) => ({
  id: 'modr-1',
  model: 'omni-moderation-latest',
  results: flagged.map((flag) => ({
    flagged: flag,
    categories: { violence: flag },
    category_scores: { violence: 0.9 },
  })),
})
const NO_VERDICT = { kind: 'failed', detail: 'the answer of the service has no verdict for each text' }

async function judged(answer: unknown) {
  const { call } = fakeCall(() => ({ body: answer }))
  return await moderationEndpoint('k').judge(question(['one', 'two']), around(call))
}

test('sends all texts that are not empty in one list', async () => {
  const { call, asked } = fakeCall(() => ({ body: flags(false, false) }))
  await moderationEndpoint('k').judge(question(['one', '', 'two']), around(call))
  await moderationEndpoint('k', 'text-moderation-stable').judge(question(['one', 'two']), around(call))
  expect(asked.map(({ destination, path, body }) => [destination, path, body])).toEqual([
    ['k', '/v1/moderations', { input: ['one', 'two'], model: 'omni-moderation-latest' }],
    ['k', '/v1/moderations', { input: ['one', 'two'], model: 'text-moderation-stable' }],
  ])
})

test.each([
  [flags(false, false), { kind: 'pass' }],
  [flags(false, true), { kind: 'reject' }],
  [flags(true, true), { kind: 'reject' }],
  [flags(false), NO_VERDICT],
  [flags(true), NO_VERDICT],
  [flags(false, false, false), NO_VERDICT],
  [flags(false, 'false'), NO_VERDICT],
  [flags(false, null), NO_VERDICT],
  [flags(false, 0), NO_VERDICT],
  [{ results: {} }, NO_VERDICT],
  [{ results: [null, null] }, NO_VERDICT],
  [{ results: [[], []] }, NO_VERDICT],
  [{}, NO_VERDICT],
  [null, NO_VERDICT],
  [{ error: { message: 'quota', type: 'insufficient_quota' } }, NO_VERDICT],
])('%j', async (answer, verdict) => {
  expect(await judged(answer)).toEqual(verdict)
})

test('many and long texts are several calls; a flag in any of them rejects', async () => {
  const inputs = (body: unknown) => (body as { input: string[] }).input
  const { call, asked } = fakeCall(({ body }) => ({
    body: flags(...inputs(body).map((text) => text.includes('bad thing'))),
  }))
  const long = `${'word '.repeat(1999)} bad thing ${'word '.repeat(3000)}`
  const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`)
  expect(await moderationEndpoint('k').judge(question(texts), around(call))).toEqual({ kind: 'pass' })
  expect(asked.map(({ body }) => inputs(body).length)).toEqual([32, 8])
  expect(await moderationEndpoint('k').judge(question([long]), around(call))).toEqual({ kind: 'reject' })
  expect(inputs(asked[2]!.body).every(({ length }) => length <= 10_000)).toBe(true)
  await moderationEndpoint('k').judge(question(['x'.repeat(10_000), 'y'.repeat(10_001)]), around(call))
  expect(inputs(asked[3]!.body).map(({ length }) => length)).toEqual([10_000, 10_000, 257])
})
