import { expect, test } from 'vitest'
import { guardrailsServiceTwo } from './guardrails-service-two.ts'
import { around, fakeCall, question } from './testing.ts'

const SETTINGS = { destination: 'k', projectId: 'example.com:p1', location: 'us-central1', templateId: 't 1' }
const NONE = { executionState: 'EXECUTION_SUCCESS', matchState: 'NO_MATCH_FOUND' }
const FOUND = { executionState: 'EXECUTION_SUCCESS', matchState: 'MATCH_FOUND' }
const SKIPPED = { executionState: 'EXECUTION_SKIPPED', messageItems: [{ messageType: 'ERROR', message: 'too long' }] }

const result = (filterResults: unknown = {}, more: object = {}) => ({
  sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND', invocationResult: 'SUCCESS', filterResults, ...more },
})
const NO_VERDICT = { kind: 'failed', detail: 'the answer of the service has no verdict' }
const PARTIAL = { kind: 'failed', detail: 'the service could not run all of its filters' }

async function judged(answer: unknown) {
  const { call } = fakeCall(() => ({ body: answer }))
  return await guardrailsServiceTwo(SETTINGS).judge(question(['one']), around(call))
}

test('asks about all texts together', async () => {
  const { call, asked } = fakeCall(() => ({ body: result() }))
  await guardrailsServiceTwo(SETTINGS).judge(question(['one', 'two']), around(call))
  await guardrailsServiceTwo(SETTINGS).judge(question(['three'], 'response'), around(call))
  const path = '/v1/projects/example.com%3Ap1/locations/us-central1/templates/t%201'
  expect(asked.map((one) => [one.destination, one.path, one.body])).toEqual([
    ['k', `${path}:sanitizeUserPrompt`, { userPromptData: { text: 'one\ntwo' } }],
    ['k', `${path}:sanitizeModelResponse`, { modelResponseData: { text: 'three' } }],
  ])
})

test.each([
  [
    'nothing found',
    result({ csam: { csamFilterFilterResult: NONE }, rai: { raiFilterResult: NONE } }),
    { kind: 'pass' },
  ],
  ['no filters', result(), { kind: 'pass' }],
  ['found by all', result({}, { filterMatchState: 'MATCH_FOUND' }), { kind: 'reject' }],
  ['found by responsible AI', result({ rai: { raiFilterResult: FOUND } }), { kind: 'reject' }],
  [
    'found by one type of it',
    result({ rai: { raiFilterResult: { ...NONE, raiFilterTypeResults: { dangerous: FOUND } } } }),
    { kind: 'reject' },
  ],
  ['found as an attack', result({ pi_and_jailbreak: { piAndJailbreakFilterResult: FOUND } }), { kind: 'reject' }],
  ['found as a bad address', result({ malicious_uris: { maliciousUriFilterResult: FOUND } }), { kind: 'reject' }],
  ['found as abuse, doubled name', result({ csam: { csamFilterFilterResult: FOUND } }), { kind: 'reject' }],
  ['found as abuse, simple name', result({ csam: { csamFilterResult: FOUND } }), { kind: 'reject' }],
  ['found as virus', result({ virus_scan: { virusScanFilterResult: FOUND } }), { kind: 'reject' }],
  ['found as personal data', result({ sdp: { sdpFilterResult: { inspectResult: FOUND } } }), { kind: 'reject' }],
  [
    'removed personal data',
    result({ sdp: { sdpFilterResult: { deidentifyResult: { ...FOUND, data: { text: 'x' } } } } }),
    { kind: 'reject' },
  ],
  [
    'found by a filter that is new',
    result({ new: { newFilterResult: { deep: [{ deeper: FOUND }] } } }),
    { kind: 'reject' },
  ],
  ['found in a list of filters', result([{ raiFilterResult: FOUND }]), { kind: 'reject' }],
  [
    'found, although not all ran',
    result({ rai: FOUND, sdp: SKIPPED }, { invocationResult: 'PARTIAL' }),
    { kind: 'reject' },
  ],
  ['some did not run', result({}, { invocationResult: 'PARTIAL' }), PARTIAL],
  ['none ran', result({}, { invocationResult: 'FAILURE' }), PARTIAL],
  ['unknown whether they ran', result({}, { invocationResult: undefined }), PARTIAL],
  ['one was skipped, although all ran', result({ sdp: { sdpFilterResult: { inspectResult: SKIPPED } } }), PARTIAL],
  ['no overall verdict', result({}, { filterMatchState: undefined }), NO_VERDICT],
  ['an unknown overall verdict', result({}, { filterMatchState: 'FILTER_MATCH_STATE_UNSPECIFIED' }), NO_VERDICT],
  ['no result', {}, NO_VERDICT],
  ['a result that is null', { sanitizationResult: null }, NO_VERDICT],
  ['a result that is a list', { sanitizationResult: [] }, NO_VERDICT],
  ['a result that is a text', { sanitizationResult: 'SUCCESS' }, NO_VERDICT],
  ['an error', { error: { code: 403, status: 'PERMISSION_DENIED' } }, NO_VERDICT],
])('%s', async (_, answer, verdict) => {
  expect(await judged(answer)).toEqual(verdict)
})

test('an answer that is nested deeper than a stack reaches is read', async () => {
  const depth = 50_000
  const body = `{"sanitizationResult":{"filterMatchState":"NO_MATCH_FOUND","invocationResult":"SUCCESS","f":${'['.repeat(depth)}{"matchState":"MATCH_FOUND"}${']'.repeat(depth)}}}`
  expect(await judged(body)).toEqual({ kind: 'reject' })
})

test('a long text is judged in parts that overlap, four at a time', async () => {
  let running = 0
  let most = 0
  const texts: string[] = []
  const { call } = fakeCall(async ({ body }) => {
    texts.push((body as { userPromptData: { text: string } }).userPromptData.text)
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return { body: result(texts.at(-1)!.includes('ignore all') ? { x: FOUND } : {}) }
  })
  const long = 'word '.repeat(10_000)
  expect(await guardrailsServiceTwo(SETTINGS).judge(question([long]), around(call))).toEqual({ kind: 'pass' })
  expect(most).toBe(4)
  expect(texts.every(({ length }) => length <= 8000)).toBe(true)
  expect(texts.slice(1).every((text, index) => texts[index]!.endsWith(text.slice(0, 256)))).toBe(true)
})
