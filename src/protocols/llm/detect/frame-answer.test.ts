import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { Collector, pass } from '../testing.ts'
import { FrameAnswer } from './frame-answer.ts'

const frame = (payload: object, headers: Readonly<Record<string, string>> = {}) =>
  Buffer.from(
    encodeEvent(
      encodeHeaders(Object.entries(headers).map(([name, value]) => ({ name, type: 'text', value }) as const)),
      Buffer.from(JSON.stringify(payload)),
    ),
  )
const inBytes = (event: object) => frame({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abc' })
const WORDS = 'The gateway counts all of these words, because somebody has paid for them. '

const CONVERSE = [
  frame({ role: 'assistant' }, { ':event-type': 'messageStart', ':message-type': 'event' }),
  frame({ contentBlockIndex: 0, delta: { text: WORDS } }, { ':event-type': 'contentBlockDelta' }),
  frame({ stopReason: 'end_turn' }, { ':event-type': 'messageStop' }),
  frame(
    { usage: { inputTokens: 5, outputTokens: 4, totalTokens: 9 }, metrics: { latencyMs: 1 } },
    { ':event-type': 'metadata' },
  ),
]
const MESSAGES = [
  inBytes({ type: 'message_start', message: { model: 'claude-x', usage: { input_tokens: 10, output_tokens: 1 } } }),
  inBytes({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: WORDS } }),
  inBytes({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 6 } }),
]
const METRICS = [
  inBytes({ outputText: WORDS }),
  inBytes({ 'amazon-bedrock-invocationMetrics': { inputTokenCount: 3, outputTokenCount: 8 } }),
]
const options = { type: 'Detect', contentType: 'application/vnd.amazon.eventstream' } as const
/** The collector has one character for each byte. */
const sent = (text: string) => Buffer.from(text, 'latin1')

test.each([
  ['converse', CONVERSE, { inputTokens: 5, outputTokens: 4, totalTokens: 9 }],
  ['messages in base64', MESSAGES, { responseModel: 'claude-x', inputTokens: 10, outputTokens: 6, totalTokens: 16 }],
  ['counts of the service', METRICS, { inputTokens: 3, outputTokens: 8, totalTokens: 11 }],
] as const)('facts of frames, however they are cut: %s', (_, frames, facts) => {
  const body = Buffer.concat(frames)
  for (const size of [1, 7, 64, body.length]) {
    const cuts = new Array<number>(body.length).fill(size)
    const { facts: read, collector, failure } = pass(body, { ...options, cuts, counts: true })
    expect(read).toMatchObject({ ...facts, areTokensEstimated: false })
    expect(sent(collector.text).equals(body)).toBe(true)
    expect([collector.ended, failure]).toEqual([1, undefined])
  }
})

const metrics = (counts: object) => inBytes({ 'amazon-bedrock-invocationMetrics': counts })

test.each([
  ['replace none of the model', [...MESSAGES, metrics({ inputTokenCount: 1, outputTokenCount: 1 })], 10, 6, 16],
  ['of the input alone', [metrics({ inputTokenCount: 3 })], undefined, undefined, undefined],
  ['of the output alone', [metrics({ outputTokenCount: 3 })], undefined, undefined, undefined],
  ['after what is no base64', [frame({ bytes: '%' }), ...METRICS], 3, 8, 11],
] as const)('counts of the service: %s', (_, frames, inputTokens, outputTokens, totalTokens) => {
  expect(pass(Buffer.concat(frames), options).facts).toMatchObject({ inputTokens, outputTokens, totalTokens })
})

test('expressions read the text of frames', () => {
  const { facts } = pass(Buffer.concat(MESSAGES), { ...options, reads: { completion: true } })
  expect(facts.answer!.completion).toEqual([WORDS])
})

test('the time to the first token begins with the request', async () => {
  using time = new VirtualTime()
  await time.pass(50)
  expect(pass(Buffer.concat(CONVERSE), options).facts.timeToFirstTokenMs).toBe(0)
})

test('the first token is the first frame with content', () => {
  expect(pass(CONVERSE[0]!, options).facts.timeToFirstTokenMs).toBeUndefined()
  expect(pass(Buffer.concat(CONVERSE), options).facts.timeToFirstTokenMs).toBeGreaterThanOrEqual(0)
})

test('frames that the client leaves are charged by their text', () => {
  for (const one of [CONVERSE[1]!, MESSAGES[1]!]) {
    const body = Buffer.concat(new Array<Buffer>(500).fill(one))
    const { facts } = pass(body, { ...options, counts: true, breaks: 'cancelled' })
    expect(facts.outputTokens! / 500).toBeGreaterThan(13)
    expect(facts.outputTokens! / 500).toBeLessThan(25)
  }
})

test.each([
  [':exception-type', 'throttlingException', true],
  [':exception-type', 'validationException', false],
  [':error-code', 'InternalError', true],
])('an exception is a failure: %s %s', (header, type, unhealthy) => {
  const body = Buffer.concat([CONVERSE[1]!, frame({ message: 'm' }, { ':message-type': 'exception', [header]: type })])
  const { facts, failure, collector } = pass(body, options)
  expect([facts.errorType, failure?.unhealthy]).toEqual([type, unhealthy])
  expect(sent(collector.text).equals(body)).toBe(true)
})

test('what is no frame passes unread', () => {
  const { facts, collector } = pass('no frames at all, but text', options)
  expect([collector.text, facts.totalTokens]).toEqual(['no frames at all, but text', undefined])
})

test('what is no JSON in a frame is not counted', () => {
  const counted = (...frames: Buffer[]) => pass(Buffer.concat(frames), { ...options, counts: true }).facts.outputTokens
  const text = frame({ contentBlockIndex: 0, delta: { text: WORDS } })
  const broken = frame({ bytes: Buffer.from(`{"text":"${WORDS}`).toString('base64') })
  expect([counted(broken), counted(broken, text)]).toEqual([0, counted(text)])
  expect(counted(text)).toBeGreaterThan(10)
})

test('the JSON of each event is counted in full', () => {
  const seen = new Collector()
  const { claim } = roomFor(0)
  const answer = new FrameAnswer(new Collector(), {
    facts: { ...NO_LLM },
    kept: undefined,
    claim,
    maxBytes: 2 ** 21,
    startMonotonicMs: 0,
    seen,
    onError() {},
  })
  const body = Buffer.concat([frame({ a: 1 }), inBytes({ b: 2 })])
  answer.bytes(body, 0, body.length)
  answer.end()
  expect([seen.text, seen.ended]).toEqual(['{"a":1}{"b":2}', 1])
})
