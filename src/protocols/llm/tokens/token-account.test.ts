import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { Head } from '#net/http/head.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { Collector, pass } from '../testing.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { TokenAccount } from './token-account.ts'

const data = (event: object | string) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`
const event = (type: string, rest: object = {}) => `event: ${type}\n${data({ type, ...rest })}`
const WORDS = 'The gateway counts all of these words, because somebody has paid for them. '

const chat = (content: string) => data({ id: 'c', model: 'm', choices: [{ index: 0, delta: { content } }] })
const delta = (text: string) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
const responses = (text: string) => event('response.output_text.delta', { output_index: 0, delta: text })
const START = event('message_start', { message: { model: 'm', usage: { input_tokens: 30, output_tokens: 1 } } })
const request = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: WORDS.repeat(10) }] })

/** About 17 tokens in each repetition of the words. */
const cases: [type: RouteType, before: string, one: string][] = [
  ['Completions', '', chat(WORDS)],
  ['Completions', '', data({ choices: [{ delta: { reasoning_content: WORDS } }] })],
  ['Completions', '', data({ choices: [{ delta: { tool_calls: [{ function: { arguments: WORDS } }] } }] })],
  ['Messages', START, delta(WORDS)],
  ['Messages', START, event('content_block_delta', { delta: { thinking: WORDS } })],
  ['Responses', event('response.created', { response: { model: 'm' } }), responses(WORDS)],
  ['Detect', '', chat(WORDS)],
  ['Detect', '', data({ candidates: [{ content: { parts: [{ text: WORDS }] } }] })],
]
for (const [type, before, one] of cases) {
  test(`a stream that the client leaves is charged for the prompt and the text seen: ${type} ${one.slice(0, 60)}`, () => {
    for (const count of [1, 20, 2000]) {
      const stream = before + one.repeat(count)
      const { facts, text } = pass(stream, { type, request, counts: true, breaks: 'cancelled', cuts: [50, 1000, 9000] })
      expect(text === stream).toBe(true)
      expect(facts.outputTokens! / count).toBeGreaterThan(13)
      expect(facts.outputTokens! / count).toBeLessThan(25)
      const input = type === 'Messages' ? 30 : facts.inputTokens!
      if (type !== 'Messages') expect(Math.abs(input - 170)).toBeLessThan(40)
      expect(facts).toMatchObject({
        inputTokens: input,
        totalTokens: input + facts.outputTokens!,
        areTokensEstimated: true,
      })
      if (type !== 'Messages') expect(facts.providerTotalTokens).toBeUndefined()
    }
  })
}

test('a stream of audio that the client leaves is charged for what was said, and for 20 tokens each second of it', () => {
  const second = Buffer.alloc(48_000).toString('base64')
  const spoken = (audio: object) => data({ id: 'c', choices: [{ index: 0, delta: { audio } }] })
  const leave = (stream: string) => pass(stream, { counts: true, breaks: 'cancelled' }).facts.outputTokens!
  const pieces = Array.from({ length: 10 }, (_, i) => second.slice(i * 6400, i * 6400 + 6400))
  const audio = pieces.map((piece) => spoken({ id: 'a', data: piece })).join('')
  expect(leave(audio)).toBeGreaterThan(17)
  expect(leave(audio)).toBeLessThan(23)
  expect(leave(audio.repeat(10)) / leave(audio)).toBeGreaterThan(8)
  expect(leave(spoken({ transcript: WORDS }))).toBeGreaterThan(13)
})

test('texts that later events of a Responses stream repeat are counted once', () => {
  const once = responses(WORDS)
  const repeated =
    event('response.output_text.done', { text: WORDS }) +
    event('response.output_item.done', { item: { content: [{ text: WORDS }] } })
  const leave = (stream: string) =>
    pass(stream, { type: 'Responses', counts: true, breaks: 'cancelled' }).facts.outputTokens!
  expect(leave(once + repeated)).toBeLessThan(leave(once) * 1.3)
})

test('counts of the provider stand if the stream came to its end', () => {
  const usage = data({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })
  const stream =
    chat(WORDS.repeat(100)) + data({ choices: [{ delta: {}, finish_reason: 'stop' }] }) + usage + data('[DONE]')
  expect(pass(stream, { counts: true, request }).facts).toMatchObject({
    inputTokens: 3,
    outputTokens: 2,
    totalTokens: 5,
    areTokensEstimated: false,
  })
  const last = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } })
  expect(pass(START + delta(WORDS.repeat(9)) + last, { type: 'Messages', counts: true }).facts).toMatchObject({
    totalTokens: 37,
    areTokensEstimated: false,
  })
})

test('an answer without usage is estimated', () => {
  const stream = chat(WORDS.repeat(10)) + data({ choices: [{ delta: {}, finish_reason: 'stop' }] }) + data('[DONE]')
  const json = JSON.stringify({ model: 'm', choices: [{ message: { role: 'assistant', content: WORDS.repeat(10) } }] })
  for (const facts of [
    pass(stream, { counts: true, request }).facts,
    pass(json, { counts: true, request, contentType: 'application/json' }).facts,
    pass(json, { counts: true, request, contentType: 'application/json', type: 'Detect' }).facts,
    // The beginning of an answer of which the rest did not arrive.
    pass(json.slice(0, -40), { counts: true, request, contentType: 'application/json', breaks: 'cancelled' }).facts,
  ]) {
    expect(Math.abs(facts.outputTokens! - 165)).toBeLessThan(45)
    expect(facts.totalTokens).toBe(facts.inputTokens! + facts.outputTokens!)
  }
})

test('a broken stream is charged, too, and nothing is charged for an error response', () => {
  expect(pass(chat(WORDS), { counts: true, request, breaks: 'reset' }).facts.totalTokens).toBeGreaterThan(150)
  expect(pass('{"error":{}}', { counts: true, request, status: 500 }).facts.totalTokens).toBeUndefined()
})

test('vectors are no output, and a request that only counts tokens uses none', () => {
  const vectors = JSON.stringify({ data: [{ embedding: Array.from({ length: 999 }, (_, i) => i / 7) }] })
  const options = { counts: true, contentType: 'application/json' }
  const { facts } = pass(vectors, { ...options, type: 'Embeddings', request: JSON.stringify({ input: WORDS }) })
  expect(facts.outputTokens).toBeUndefined()
  expect(facts.totalTokens).toBe(facts.inputTokens)
  expect(facts.totalTokens).toBeGreaterThan(10)
  const count = pass('{"input_tokens":9}', { ...options, type: 'MessagesTokenCount', request })
  expect(count.facts).toMatchObject({ countTokens: 9, totalTokens: undefined })
})

test('without memory, the length of the answer is the measure', () => {
  const claim = new BodyClaim(new BodyMemory(0))
  const { facts } = pass(chat(WORDS).repeat(8), { counts: true, claim, breaks: 'cancelled' })
  expect(facts.outputTokens).toBe(Math.ceil((chat(WORDS).length * 8) / 8))
})

test('of an answer that is longer than 64 KiB, the rest counts like its beginning', () => {
  const before = 'data: {"choices":[{"delta":{"content": "'
  const words = (65_536 - before.length) / 2
  const stream = `${before}${'a '.repeat(words)}${' '.repeat(65_536)}`
  expect(stream).toHaveLength(131_072)
  for (const cuts of [[], [50_000]]) {
    const { facts } = pass(stream, { counts: true, breaks: 'cancelled', cuts })
    expect(facts.outputTokens).toBe(2 * words)
  }
})

test('the texts of events are counted as one text', () => {
  expect(pass(chat('a ').repeat(100), { counts: true, breaks: 'cancelled' }).facts.outputTokens).toBe(100)
})

test.each<[json: string, text: string]>([
  [String.raw`say \"yes\" and \"no\"`, 'say "yes" and "no"'],
  [String.raw`one\u0020two\u0020three\u0020four`, 'one two three four'],
  [String.raw`\u4f60\u597d\u4f60\u597d`, '你好你好'],
  [String.raw`C:\\a\\b\\c`, String.raw`C:\a\b\c`],
  [String.raw`a\nb\nc\rd\te`, 'a\nb\nc\nd\ne'],
])('escapes are not counted: %s', (json, text) => {
  const stream = `data: {"choices":[{"delta":{"content":"${json}"}}]}\n\n`
  const { facts } = pass(stream, { counts: true, breaks: 'cancelled' })
  expect(facts.outputTokens).toBe(estimateTokens(text))
  expect(facts.outputTokens).not.toBe(estimateTokens(json))
})

test('trailers go on', () => {
  const collector = new Collector()
  const ends: unknown[] = []
  collector.end = (...given: unknown[]) => void ends.push(...given)
  const trailers = Head.response(200)
  const account = new TokenAccount('Completions', { ...NO_LLM }, undefined)
  account.sample(collector, new BodyClaim(new BodyMemory(0))).end(trailers)
  expect(ends).toEqual([trailers])
})

test('a request without an answer is charged for its prompt, if its provider has it', () => {
  const settle = (body: string | undefined, isUnanswered: boolean) => {
    const facts: LlmFacts = { ...NO_LLM }
    const account = new TokenAccount('Completions', facts, body === undefined ? undefined : Buffer.from(body))
    // There is no answer whose bytes could be missed.
    account.missed(1000)
    account.settle(isUnanswered)
    return [facts.inputTokens, facts.outputTokens, facts.totalTokens]
  }
  // The texts of all members and their names; text that is no JSON as it is.
  expect(settle('{"a":["b c","d"],"e":7,"f":null}', true)).toEqual([6, 0, 6])
  expect(settle('one two', true)).toEqual([2, 0, 2])
  expect(settle(undefined, true)).toEqual([0, 0, 0])
  expect(settle('one two', false)).toEqual([undefined, undefined, undefined])
})

test('texts in an answer with vectors are no output', () => {
  const vectors = JSON.stringify({ data: [{ text: WORDS, embedding: [0.5] }] })
  const options = {
    counts: true,
    contentType: 'application/json',
    type: 'Embeddings',
    request: '{"input":"a b"}',
  } as const
  const { facts } = pass(vectors, options)
  expect([facts.inputTokens, facts.outputTokens, facts.totalTokens]).toEqual([3, undefined, 3])
})

test('nothing is estimated unless something reads tokens', () => {
  expect(pass(chat(WORDS), { request, breaks: 'cancelled' }).facts.totalTokens).toBeUndefined()
})

/** Not with the best quality, which takes a hundred times as long. */
const brotli = (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })

const CODINGS: [coding: string, encode: (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotli],
  ['zstd', zstdCompressSync],
]
for (const [coding, encode] of CODINGS) {
  test(`a compressed answer is read, and forwarded unchanged: ${coding} ${encode.name}`, () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const json = encode(JSON.stringify({ model: 'm-1', choices: [], usage }))
    const stream = encode(chat(WORDS.repeat(50)) + data({ choices: [], usage }) + data('[DONE]'))
    for (const counts of [true, false]) {
      for (const [body, contentType] of [
        [json, 'application/json'],
        [stream, 'text/event-stream'],
      ] as const) {
        const { facts, collector } = pass(body, { coding, contentType, counts, hidesUsage: true, cuts: [3, 20] })
        expect(Buffer.from(collector.text, 'latin1').equals(body)).toBe(true)
        expect(collector.ended).toBe(1)
        expect(facts).toMatchObject({ totalTokens: 5, areTokensEstimated: false })
      }
    }
  })

  test(`a compressed stream that the client leaves is charged: ${coding} ${encode.name}`, () => {
    let random = 1
    const noise = () =>
      WORDS.replaceAll(/[aeiou]/g, () => {
        random = (random * 48271) % 2147483647
        return 'aeiouy'[random % 6]!
      })
    const whole = encode(Array.from({ length: 3000 }, () => chat(noise())).join(''))
    const body = whole.subarray(0, whole.length * 0.7)
    const { facts, collector } = pass(body, { coding, counts: true, request, breaks: 'cancelled', cuts: [900, 5000] })
    expect(Buffer.from(collector.text, 'latin1').equals(body)).toBe(true)
    expect(facts.outputTokens).toBeGreaterThan(10_000)
  })
}

test('an answer that cannot be decoded is charged by its length', () => {
  for (const coding of ['gzip', 'unknown', 'gzip, br']) {
    const { facts, text } = pass('no such coding'.repeat(100), { coding, counts: true })
    expect(text).toBe('no such coding'.repeat(100))
    expect(facts.outputTokens).toBe(175)
  }
})

test.each<[what: string, request: object]>([
  ['one text', { messages: [{ role: 'user', content: WORDS.repeat(20_000) }] }],
  ['many short texts', { messages: [{ role: 'user', content: Array.from({ length: 20_000 }, () => WORDS) }] }],
  ['texts of one letter', { input: Array.from({ length: 200_000 }, () => 'a') }],
])('a long prompt that has no answer is estimated, and not parsed: %s', (_what, request) => {
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  const facts: LlmFacts = { ...NO_LLM }
  const body = Buffer.from(JSON.stringify(request))
  new TokenAccount('Completions', facts, body).settle(true)
  expect(body.equals(Buffer.from(JSON.stringify(request)))).toBe(true)
  expect(parse).not.toHaveBeenCalled()
  const texts = JSON.stringify(request)
    .match(/"[^"]*"/g)!
    .map((text) => estimateTokens(text.slice(1, -1)))
  const exact = texts.reduce((sum, tokens) => sum + tokens, 0)
  expect(facts.inputTokens! / exact).toBeGreaterThan(0.95)
  expect(facts.inputTokens! / exact).toBeLessThan(2.1)
})

test.each<[what: string, type: RouteType, stream: string]>([
  [
    'chat',
    'Completions',
    data({ choices: [{ delta: {} }], usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 } }),
  ],
  ['messages', 'Messages', START],
])('usage at the beginning of a stream of %s is not that of its output', (_what, type, beginning) => {
  const end =
    type === 'Messages'
      ? event('message_delta', { delta: { stop_reason: 'end_turn' } }) + event('message_stop')
      : data({ choices: [{ delta: {}, finish_reason: 'stop' }] }) + data('[DONE]')
  const one = type === 'Messages' ? delta(WORDS) : chat(WORDS)
  const { facts } = pass(beginning + one.repeat(20) + end, { type, request, counts: true })
  expect(facts.outputTokens).toBeGreaterThan(260)
  expect(facts).toMatchObject({ areTokensEstimated: true, totalTokens: facts.inputTokens! + facts.outputTokens! })
})

test.each([[[]], [[1000, 70_000]]])(
  'output is found behind long instructions that the stream repeats (cuts %j)',
  (cuts) => {
    const tools = Array.from({ length: 2000 }, (_, i) => ({
      type: 'function',
      name: `tool_${i}`,
      parameters: { text: 'x' },
    }))
    const created = event('response.created', { response: { model: 'm', instructions: WORDS.repeat(2000), tools } })
    const leave = (stream: string) =>
      pass(stream, { type: 'Responses', request, counts: true, breaks: 'cancelled', cuts }).facts.outputTokens!
    const plain = leave(responses(WORDS).repeat(100))
    expect(leave(created)).toBe(0)
    expect(leave(created + responses(WORDS).repeat(100)) / plain).toBeGreaterThan(0.9)
    expect(leave(created + responses(WORDS).repeat(100)) / plain).toBeLessThan(1.2)
  },
)

test('a total that the provider reported stays the least that is charged', () => {
  const reported = data({
    choices: [{ delta: {} }],
    usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 5000 },
  })
  const { facts } = pass(reported + chat(WORDS), { type: 'Completions', request, counts: true, breaks: 'cancelled' })
  expect(facts).toMatchObject({ inputTokens: 9, totalTokens: 5000 })
})

test('usage before an error in the stream is not that of all output', () => {
  const reported = data({
    choices: [{ delta: {} }],
    usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
  })
  const stream = reported + chat(WORDS.repeat(20)) + data({ error: { message: 'x', type: 'server_error' } })
  const { facts } = pass(stream, { type: 'Completions', request, counts: true })
  expect(facts.outputTokens).toBeGreaterThan(260)
})
