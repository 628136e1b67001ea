import { expect, test } from 'vitest'
import { guardrailsServiceOne } from './guardrails-service-one.ts'
import { around, fakeCall, question } from './testing.ts'

const SETTINGS = { destination: 'k', identifier: 'gr1', version: '3' }

const usage = { topicPolicyUnits: 1, contentPolicyUnits: 1, wordPolicyUnits: 1, sensitiveInformationPolicyUnits: 1 }
const pii = (...actions: unknown[]) => ({
  sensitiveInformationPolicy: {
    piiEntities: actions.map((action) => ({ type: 'EMAIL', match: 'a@b.example', action, detected: true })),
    regexes: [],
  },
})
const passes = (more: object = {}) => ({ action: 'NONE', outputs: [], usage, assessments: [{}], ...more })
const intervenes = (assessments: unknown, outputs: unknown = [{ text: 'A' }, { text: 'B' }], more: object = {}) => ({
  action: 'GUARDRAIL_INTERVENED',
  actionReason: 'Guardrail masked.',
  usage,
  assessments,
  outputs,
  ...more,
})
const coverage = (guarded: unknown, total: unknown) => ({ guardrailCoverage: { textCharacters: { guarded, total } } })
const NO_VERDICT = { kind: 'failed', detail: 'the answer of the service has no verdict' }
const INCOMPLETE = { kind: 'failed', detail: 'the service has not checked all of the text' }
const MASK = { kind: 'mask', contents: ['A', 'B'] }
test.each([
  ['an id', 'gr1', '/guardrail/gr1/version/3/apply'],
  [
    'an ARN',
    'arn:aws:bedrock:us-east-1:123456789012:guardrail/gr1',
    '/guardrail/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aguardrail%2Fgr1/version/3/apply',
  ],
])('asks with %s', async (_, identifier, path) => {
  const { call, asked } = fakeCall(() => ({ body: passes() }))
  const service = guardrailsServiceOne({ ...SETTINGS, identifier })
  await service.judge(question(['one', '', 'two']), around(call))
  await service.judge(question(['one'], 'response'), around(call))
  expect(asked.map((one) => [one.destination, one.path, one.body])).toEqual([
    ['k', path, { source: 'INPUT', content: [{ text: { text: 'one' } }, { text: { text: 'two' } }] }],
    ['k', path, { source: 'OUTPUT', content: [{ text: { text: 'one' } }] }],
  ])
})

test.each([
  ['nothing found', passes(), { kind: 'pass' }],
  ['nothing found, by the least members', { action: 'NONE' }, { kind: 'pass' }],
  ['found, but only to be told', passes({ assessments: [pii('NONE')] }), { kind: 'pass' }],
  ['all characters checked', passes(coverage(6, 6)), { kind: 'pass' }],
  ['some characters not checked', passes(coverage(5, 6)), INCOMPLETE],
  ['masked, but some characters not checked', intervenes([pii('ANONYMIZED')], undefined, coverage(0, 6)), INCOMPLETE],
  ['blocked, although nothing is to be done', passes({ assessments: [pii('BLOCKED')] }), { kind: 'reject' }],
  ['masked, although nothing is to be done', passes({ assessments: [pii('ANONYMIZED')] }), { kind: 'reject' }],
  ['masked', intervenes([pii('ANONYMIZED')]), MASK],
  ['masked, others told', intervenes([pii('ANONYMIZED', 'NONE')]), MASK],
  ['masked and blocked', intervenes([pii('ANONYMIZED', 'BLOCKED')]), { kind: 'reject' }],
  [
    'masked, and blocked by another policy',
    intervenes([pii('ANONYMIZED'), { wordPolicy: { customWords: [{ action: 'BLOCKED' }] } }]),
    { kind: 'reject' },
  ],
  ['masked, and something unknown', intervenes([pii('ANONYMIZED', 'REWRITTEN')]), { kind: 'reject' }],
  ['masked, and an action that is no text', intervenes([pii('ANONYMIZED', 7)]), { kind: 'reject' }],
  ['masked deep inside', intervenes([{ newPolicy: [[{ of: [pii('ANONYMIZED')] }]] }]), MASK],
  [
    'blocked',
    intervenes([{ topicPolicy: { topics: [{ name: 't', type: 'DENY', action: 'BLOCKED' }] } }], [{ text: 'sorry' }]),
    { kind: 'reject' },
  ],
  ['intervened without a reason', intervenes([]), { kind: 'reject' }],
  ['intervened without assessments', intervenes(undefined), { kind: 'reject' }],
  ['masked, too few outputs', intervenes([pii('ANONYMIZED')], [{ text: 'A' }]), { kind: 'reject' }],
  [
    'masked, too many outputs',
    intervenes([pii('ANONYMIZED')], [{ text: 'A' }, { text: 'B' }, { text: 'C' }]),
    { kind: 'reject' },
  ],
  ['masked, an output without text', intervenes([pii('ANONYMIZED')], [{ text: 'A' }, {}]), { kind: 'reject' }],
  [
    'masked, an output with half a character',
    intervenes([pii('ANONYMIZED')], [{ text: 'A' }, { text: '\ud83d' }]),
    { kind: 'reject' },
  ],
  ['masked, outputs of another form', intervenes([pii('ANONYMIZED')], { text: 'A' }), { kind: 'reject' }],
  ['another action', { action: 'MAYBE', outputs: [] }, NO_VERDICT],
  ['no action', { outputs: [], assessments: [] }, NO_VERDICT],
  ['an error', { message: 'The security token included in the request is invalid' }, NO_VERDICT],
  ['a list', [], NO_VERDICT],
  ['null', null, NO_VERDICT],
])('%s', async (_, answer, verdict) => {
  const { call } = fakeCall(() => ({ body: answer }))
  expect(await guardrailsServiceOne(SETTINGS).judge(question(['one', 'two']), around(call))).toEqual(verdict)
})

test('long texts are several calls, whose masks make up the texts again', async () => {
  const texts = (body: unknown) =>
    (body as { content: { text: { text: string } }[] }).content.map(({ text }) => text.text)
  const { call, asked } = fakeCall(({ body }) => {
    const outputs = texts(body).map((text) => ({ text: text.replaceAll('a@b.example', '{EMAIL}') }))
    return { body: texts(body).join().includes('a@b.example') ? intervenes([pii('ANONYMIZED')], outputs) : passes() }
  })
  const long = `${'word '.repeat(6000)}a@b.example ${'😀'.repeat(30_000)}`
  const verdict = await guardrailsServiceOne(SETTINGS).judge(question(['short', long, 'end']), around(call))
  expect(verdict).toEqual({ kind: 'mask', contents: ['short', long.replace('a@b.example', '{EMAIL}'), 'end'] })
  const lengths = asked.map(({ body }) => texts(body).join('').length)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(25_000)
  expect(asked.flatMap(({ body }) => texts(body)).every((text) => text.isWellFormed())).toBe(true)
})

test.each([
  [{ status: 429 }, { kind: 'failed', detail: 'the service answered 429' }],
  [{ body: intervenes([]) }, { kind: 'reject' }],
])('the first call that rejects or fails ends them: %j', async (answer, verdict) => {
  const { call, asked } = fakeCall(() => answer)
  const service = guardrailsServiceOne(SETTINGS)
  expect(await service.judge(question(['word '.repeat(20_000)]), around(call))).toEqual(verdict)
  expect(asked).toHaveLength(1)
})

test.each<[lengths: number[], calls: number[][]]>([
  [[], []],
  [[0], []],
  [[25_000], [[25_000]]],
  [[25_001], [[25_000], [1]]],
  [
    [24_999, 1, 1],
    [[24_999, 1], [1]],
  ],
  [
    [25_000, 1, 1],
    [[25_000], [1, 1]],
  ],
  [
    [25_000, 24_999, 1],
    [[25_000], [24_999, 1]],
  ],
])('texts of %j characters are sent in calls with %j', async (lengths, calls) => {
  const { call, asked } = fakeCall(() => ({ body: passes() }))
  const texts = lengths.map((length) => 'x'.repeat(length))
  expect(await guardrailsServiceOne(SETTINGS).judge(question(texts), around(call))).toEqual({ kind: 'pass' })
  const sent = asked.map(({ body }) => (body as { content: { text: { text: string } }[] }).content)
  expect(sent.map((content) => content.map(({ text }) => text.text.length))).toEqual(calls)
})

test('the verdict of a text that passes has the id of the last call', async () => {
  let id = 0
  const { call } = fakeCall(() => ({ headers: { 'x-amzn-requestid': `${++id}` }, body: passes() }))
  const service = guardrailsServiceOne(SETTINGS)
  expect(await service.judge(question(['x'.repeat(25_001)]), around(call))).toEqual({ kind: 'pass', requestId: '2' })
})
