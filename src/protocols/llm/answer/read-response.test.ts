import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { type Answer, Collector, pass } from '../testing.ts'
import { DecodedAnswer } from './decoded-answer.ts'
import { DecodedStream } from './decoded-stream.ts'
import { observeResponse } from './read-response.ts'

const JSON_TYPE = 'application/json'
const FRAMES = 'application/vnd.amazon.eventstream'

const COMPLETION = JSON.stringify({
  id: 'c',
  model: 'gpt-4o-mini-2024',
  choices: [{ message: { content: 'He said \\"usage\\": {"model":1}, "usage": 5' } }],
  usage: {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    prompt_tokens_details: {
      cached_tokens: 4,
      cache_write_tokens: 3,
      text_tokens: 5,
      image_tokens: 6,
      audio_tokens: 0,
    },
    completion_tokens_details: { reasoning_tokens: 2, text_tokens: 1, image_tokens: 4, audio_tokens: 8 },
  },
  service_tier: 'flex',
})

const MESSAGE = JSON.stringify({
  type: 'message',
  model: 'claude-x',
  content: [{ type: 'text', text: 'hi' }],
  usage: {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 3,
    cache_creation_input_tokens: 2,
    service_tier: 'standard',
  },
})

const RESPONSE = JSON.stringify({
  model: 'gpt-5',
  service_tier: 'auto',
  output: [{ usage: { input_tokens: 999 } }],
  usage: { input_tokens: 8, output_tokens: 3, total_tokens: 11, input_tokens_details: { cached_tokens: 1 } },
})

const buffered: [type: RouteType, body: string, facts: Partial<LlmFacts>][] = [
  [
    'Completions',
    COMPLETION,
    {
      responseModel: 'gpt-4o-mini-2024',
      inputTokens: 11,
      outputTokens: 7,
      totalTokens: 18,
      providerInputTokens: 11,
      providerTotalTokens: 18,
      cachedInputTokens: 4,
      cacheCreationInputTokens: 3,
      reasoningTokens: 2,
      inputTextTokens: 5,
      inputImageTokens: 6,
      inputAudioTokens: 0,
      outputTextTokens: 1,
      outputImageTokens: 4,
      outputAudioTokens: 8,
      serviceTier: 'flex',
    },
  ],
  [
    'Messages',
    MESSAGE,
    {
      responseModel: 'claude-x',
      serviceTier: 'standard',
      inputTokens: 15,
      outputTokens: 5,
      totalTokens: 20,
      providerInputTokens: 10,
      providerTotalTokens: 15,
      cachedInputTokens: 3,
      cacheCreationInputTokens: 2,
    },
  ],
  [
    'Responses',
    RESPONSE,
    {
      responseModel: 'gpt-5',
      inputTokens: 8,
      outputTokens: 3,
      totalTokens: 11,
      providerInputTokens: 8,
      serviceTier: 'auto',
    },
  ],
  ['MessagesTokenCount', '{"input_tokens":42}', { countTokens: 42, inputTokens: undefined, totalTokens: undefined }],
  [
    'Embeddings',
    '{"data":[[0.1,0.2]],"model":"e","usage":{"prompt_tokens":4,"total_tokens":4}}',
    { responseModel: 'e', inputTokens: 4, outputTokens: undefined, totalTokens: 4 },
  ],
  ['Detect', COMPLETION, { responseModel: 'gpt-4o-mini-2024', inputTokens: 11, totalTokens: 18 }],
  ['Detect', MESSAGE, { inputTokens: 15, totalTokens: 20 }],
  [
    'Detect',
    '{"id":"c","metadata":{"id":"x"},"choices":[{"message":{"content":"a"},"finish_reason":"stop"},{"finish_reason":"length"}]}',
    { responseId: 'c', finishReasons: ['stop', 'length'] },
  ],
  [
    'Detect',
    '{"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}',
    { responseId: 'r', finishReasons: ['max_output_tokens'] },
  ],
  [
    'Detect',
    '{"modelVersion":"g","usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}',
    { responseModel: 'g', inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  ],
  [
    'Detect',
    '{"usageMetadata":{"promptTokenCount":1,"thoughtsTokenCount":4}}',
    { inputTokens: 1, outputTokens: 4, totalTokens: 5, reasoningTokens: 4 },
  ],
  [
    'Detect',
    '{"usage":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":4,"cacheWriteInputTokens":1}}',
    {
      inputTokens: 6,
      outputTokens: 2,
      totalTokens: 8,
      providerInputTokens: 1,
      providerTotalTokens: 3,
      cacheCreationInputTokens: 1,
    },
  ],
]
for (const [type, body, facts] of buffered) {
  test(`facts of a buffered answer: ${type} ${body.slice(0, 20)}`, () => {
    const { facts: read, text, collector, filter } = pass(body, { type, contentType: JSON_TYPE })
    expect(read).toMatchObject(facts)
    expect(filter!.changesLength).toBe(false)
    expect(text).toBe(body)
    expect(collector.calls).toBe(1)
  })
}

const chunk = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'gpt', choices: [{ delta: { content }, finish_reason: finish }], usage: null })}\n\n`
const USAGE =
  'data: {"model":"gpt","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}\n\n'
const DONE = 'data: [DONE]\n\n'
const CHAT_STREAM = `: hello\n\n${chunk('')}${chunk('"usage": é')}${chunk('x', 'stop')}`

const MESSAGES_STREAM = [
  'event: message_start\ndata: {"type":"message_start","message":{"model":"claude-x","stop_reason":null,"usage":{"input_tokens":10,"cache_read_input_tokens":3,"output_tokens":1}}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start"}\n\n',
  'event: ping\ndata: {"type": "ping"}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":6}}\n\n',
]
const MESSAGE_STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'

const RESPONSES_STREAM = [
  'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","created_at":5,"model":"gpt-5","usage":null}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":1,"delta":"hi"}\n\n',
]
const RESPONSE_COMPLETED =
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","model":"gpt-5-x","usage":{"input_tokens":4,"output_tokens":1,"total_tokens":5}}}\n\n'

const streams: [type: RouteType, body: string, facts: Partial<LlmFacts>][] = [
  [
    'Completions',
    CHAT_STREAM + USAGE + DONE,
    { responseModel: 'gpt', inputTokens: 3, outputTokens: 2, totalTokens: 5 },
  ],
  [
    'Messages',
    MESSAGES_STREAM.join('') + MESSAGE_STOP,
    { responseModel: 'claude-x', inputTokens: 13, outputTokens: 6, totalTokens: 19, cachedInputTokens: 3 },
  ],
  [
    'Responses',
    RESPONSES_STREAM.join('') + RESPONSE_COMPLETED,
    { responseModel: 'gpt-5-x', inputTokens: 4, outputTokens: 1, totalTokens: 5 },
  ],
  ['Detect', CHAT_STREAM + USAGE, { responseModel: 'gpt', responseId: 'c', finishReasons: ['stop'], totalTokens: 5 }],
  ['Detect', RESPONSES_STREAM.join('') + RESPONSE_COMPLETED, { responseModel: 'gpt-5-x', totalTokens: 5 }],
]
for (const [type, body, facts] of streams) {
  test(`facts of a stream: ${type}`, () => {
    const { facts: read, text, collector } = pass(body, { type })
    expect(read).toMatchObject(facts)
    expect(read.timeToFirstTokenMs).toBeGreaterThanOrEqual(0)
    expect(text).toBe(body)
    expect(collector).toMatchObject({ calls: 1, ended: 1 })
  })
}

test('the usage chunk is hidden from a client that did not ask for it (B35)', () => {
  const { text, facts } = pass(CHAT_STREAM + USAGE + DONE, { hidesUsage: true })
  expect(text).toBe(CHAT_STREAM + DONE)
  expect(facts.totalTokens).toBe(5)
})

test('usage in a chunk with choices is read and passed on', () => {
  const last = 'data: {"choices":[{"finish_reason":"stop"}],"usage" : {"prompt_tokens":1,"completion_tokens":1}}\n\n'
  const { text, facts } = pass(last + DONE, { hidesUsage: true })
  expect(text).toBe(last + DONE)
  expect(facts.totalTokens).toBe(2)
})

const errorEvent = (text: string) => JSON.parse(/data: (.*)\n\n$/.exec(text)?.[1] ?? 'null')

test('a stream that breaks off ends with an error event in the dialect (B31)', () => {
  const half = 'data: {"choices":[{"del'
  const chat = pass(chunk('x') + half, { breaks: 'reset' })
  expect(chat.text.startsWith(chunk('x'))).toBe(true)
  expect(chat.text).not.toContain(half)
  expect(errorEvent(chat.text).error.code).toBe('upstream-failed')
  expect(chat.collector).toMatchObject({ ended: 1, aborted: undefined })
  expect(chat.failure).toMatchObject({ cut: 'reset', unhealthy: true })

  const messages = pass(MESSAGES_STREAM.slice(0, 3).join(''), { type: 'Messages', breaks: 'timeout' })
  expect(messages.text).toContain('\n\nevent: error\ndata: ')
  expect(errorEvent(messages.text)).toMatchObject({ type: 'error', error: { type: 'api_error' } })

  const responses = pass(RESPONSES_STREAM.join(''), { type: 'Responses' })
  expect(responses.text).toContain('\n\nevent: response.failed\ndata: ')
  expect(errorEvent(responses.text)).toMatchObject({
    type: 'response.failed',
    sequence_number: 2,
    response: { id: 'resp_1', model: 'gpt-5', status: 'failed', created_at: 5 },
  })
})

test('a clean end without an end mark is an error unless the answer was finished (B31)', () => {
  expect(errorEvent(pass(chunk('x')).text).error.message).toContain('ended before')
  expect(pass(chunk('x')).facts.errorType).toBe('incomplete')
  expect(pass(chunk('x', 'stop'))).toMatchObject({ text: chunk('x', 'stop'), failure: undefined })
  expect(pass('').text).toContain('"error"')
  expect(pass(MESSAGES_STREAM.slice(0, 4).join(''), { type: 'Messages' }).facts.errorType).toBe('incomplete')
  expect(pass(MESSAGES_STREAM.join(''), { type: 'Messages' }).failure).toBe(undefined)
})

test('data after the end mark, or after an error of the provider, does not break the stream', () => {
  for (const body of [chunk('x') + DONE, 'data: {"error":{"message":"overloaded"}}\n\n']) {
    const { text, collector } = pass(body, { breaks: 'reset' })
    expect(text).toBe(body)
    expect(collector).toMatchObject({ ended: 1, aborted: undefined })
  }
})

test('an end mark without its empty line counts', () => {
  expect(pass(`${chunk('x')}data: [DONE]`).text).toBe(`${chunk('x')}data: [DONE]`)
})

test('a client that left gets no error event', () => {
  expect(pass(chunk('x'), { breaks: 'cancelled' })).toMatchObject({
    text: chunk('x'),
    collector: { aborted: 'cancelled', ended: 0 },
  })
})

test('streams of unknown format are never added to', () => {
  expect(pass('data: {}', { type: 'Detect' }).text).toBe('data: {}')
  expect(pass('data: {}\n\n', { type: 'Detect', breaks: 'reset' }).collector.aborted).toBe('reset')
})

test('error answers and route types without facts are not touched', () => {
  expect(pass('data: x', { status: 500 }).text).toBe('data: x')
  expect(pass('data: x', { type: 'MessagesTokenCount' }).text).toBe('data: x')
  expect(pass('{}', { type: 'Passthrough', contentType: JSON_TYPE }).filter).toBeUndefined()
})

/** A response of a provider that speaks the dialect of the client, which has asked for no stream. */
const toNative = (body: string | Buffer, answer: Answer) =>
  pass(body, { native: { type: 'Completions', streamed: false, body: Buffer.from('{}') }, ...answer })
const BUSY = '{"error":{"message":"busy","type":"t","own":1.0}}'

test.each<[what: string, status: number, body: string | Buffer, answer: Answer, message: string]>([
  ['in its dialect', 400, BUSY, { contentType: 'application/json; charset=latin1' }, 'busy'],
  ['that is compressed', 429, gzipSync(BUSY), { contentType: JSON_TYPE, coding: 'gzip' }, 'busy'],
  ['that cannot be decoded', 429, BUSY, { contentType: JSON_TYPE, coding: 'gzip' }, 'responded with status 429'],
  ['that is not compressed', 429, BUSY, { contentType: JSON_TYPE, coding: 'Identity' }, 'busy'],
  ['in HTML', 502, '<html>', { contentType: 'text/html' }, '<html>'],
  ['with the credential of the gateway', 401, '{"error":{"message":"sk-0123456789"}}', {}, '<redacted>'],
])('a client gets an error %s in its own dialect', (what, status, body, answer, message) => {
  const headers = { etag: '"x"', 'request-id': 'r' }
  const { text, exchange, refusal } = toNative(body, {
    ...{ status, headers, credential: 'Bearer sk-0123456789' },
    ...answer,
  })
  expect([refusal, JSON.parse(text).error.message]).toEqual([undefined, expect.stringContaining(message)])
  if (message === 'busy') expect(text).toBe(BUSY)
  const { response } = exchange
  expect(response!.joined('content-type')).toBe(what === 'in its dialect' ? `${JSON_TYPE}; charset=utf-8` : JSON_TYPE)
  expect(response!.joined('x-request-id')).toBe('r')
  for (const name of ['etag', 'content-encoding']) expect(response!.has(name)).toBe(false)
})

test.each([
  ['text/event-stream', DecodedStream],
  [FRAMES, DecodedStream],
  [JSON_TYPE, DecodedAnswer],
])('a compressed response of the type %s is decoded by a %o', (contentType, filter) => {
  expect(toNative('', { status: 429, contentType, coding: 'gzip', stays: true }).filter).toBeInstanceOf(filter)
})

test.each<[type: RouteType, shown: string]>([
  ['Completions', '<redacted>'],
  // Its format is not known, so its bytes pass.
  ['Detect', 'sk-0123456789'],
])('an error in a stream of type %s shows the credential of the gateway as %s', (type, shown) => {
  const error = (message: string) => `data: {"error":{"message":"${message}"}}\n\n`
  const { text } = pass(error('sk-0123456789'), { type, credential: 'Bearer sk-0123456789' })
  expect(text).toBe(error(shown))
})

test('a stream of frames keeps its length', () => {
  expect(pass('', { type: 'Detect', contentType: FRAMES }).filter!.changesLength).toBe(false)
})

test('a redirect to such a client is no error', () => {
  const { text, exchange } = toNative('<html>', { status: 399, contentType: 'text/html', headers: { etag: '"x"' } })
  expect([text, exchange.response!.joined('etag')]).toEqual(['<html>', '"x"'])
})

test.each([
  [200, 'sk-0123456789'],
  [299, 'sk-0123456789'],
  [401, '<redacted>'],
  [302, '<redacted>'],
])('the head of an answer with the status %i shows the credential of the gateway as %s', (status, shown) => {
  const headers = { 'x-key': 'sk-0123456789' }
  const { exchange } = pass('{}', { status, contentType: JSON_TYPE, headers, credential: 'Bearer sk-0123456789' })
  expect(exchange.response!.joined('x-key')).toBe(shown)
})

test('a block beyond the limit passes unread, the next one is read again', () => {
  const large = `data: {"choices":[{"delta":"${'x'.repeat(3 * 1024 * 1024)}"}]}\n\n`
  const { text, facts } = pass(large + USAGE + DONE, { cuts: [1_000_000, 1_500_000, 10], hidesUsage: true })
  expect(text).toBe(large + DONE)
  expect(facts.totalTokens).toBe(5)
})

const cuts = fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 60 })

test('however a JSON answer is cut, facts and bytes are the same', () => {
  for (const [type, body] of buffered) {
    const whole = pass(body, { type, contentType: JSON_TYPE })
    fc.assert(
      fc.property(cuts, (sizes) => {
        const cut = pass(body, { type, contentType: JSON_TYPE, cuts: sizes })
        expect(cut.facts).toEqual(whole.facts)
        expect(cut.text).toBe(body)
      }),
      { numRuns: 60 },
    )
  }
})

const lineEnds = ['\n', '\r\n', '\r'] as const

for (const lineEnd of lineEnds) {
  test(`however a stream is cut, facts and bytes are the same: ${JSON.stringify(lineEnd)}`, () => {
    for (const [type, body] of streams) {
      const text = body.replaceAll('\n', lineEnd)
      const hidesUsage = type === 'Completions'
      const expected = (hidesUsage ? body.replace(USAGE, '') : body).replaceAll('\n', lineEnd)
      const { facts } = pass(body, { type, hidesUsage })
      fc.assert(
        fc.property(cuts, (sizes) => {
          const cut = pass(text, { type, hidesUsage, cuts: sizes })
          expect({ ...cut.facts, timeToFirstTokenMs: 0 }).toEqual({ ...facts, timeToFirstTokenMs: 0 })
          expect(cut.text).toBe(expected)
        }),
        { numRuns: 60 },
      )
    }
  })
}

test('byte by byte', () => {
  const body = CHAT_STREAM + USAGE + DONE
  const { text, facts } = pass(body, { cuts: new Array(2000).fill(1), hidesUsage: true })
  expect(text).toBe(CHAT_STREAM + DONE)
  expect(facts.totalTokens).toBe(5)
})

const BOTH = { completion: true, toolCalls: true }
const call = (name: string, given: unknown) => ({ id: 'c1', name, arguments: given })
const data = (...events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

const kept: [type: RouteType, body: string, completion: readonly string[], toolCalls: readonly object[]][] = [
  [
    'Completions',
    JSON.stringify({
      choices: [
        { message: { content: 'a "quoted" é' } },
        { message: { content: null, tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{"a":1}' } }] } },
        { message: { content: [{ type: 'text', text: 'p' }], refusal: null } },
        { message: { content: null, refusal: 'no' } },
      ],
    }),
    ['a "quoted" é', 'p', 'no'],
    [call('f', { a: 1 })],
  ],
  [
    'Messages',
    JSON.stringify({
      type: 'message',
      content: [
        { type: 'thinking', thinking: 't' },
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
        { type: 'text', text: 'b' },
      ],
    }),
    ['a', 'b'],
    [call('f', { a: 1 })],
  ],
  [
    'Responses',
    JSON.stringify({
      output: [
        { type: 'reasoning', summary: [] },
        {
          type: 'message',
          content: [
            { type: 'output_text', text: 'a' },
            { type: 'refusal', refusal: 'b' },
          ],
        },
        { type: 'function_call', id: 'other', call_id: 'c1', name: 'f', arguments: 'no JSON' },
      ],
    }),
    ['a', 'b'],
    [call('f', 'no JSON')],
  ],
  ['Embeddings', '{"data":[],"content":"x"}', [], []],
]

for (const [type, body, completion, toolCalls] of kept) {
  test(`what was written in a buffered answer: ${type}`, () => {
    for (const as of type === 'Embeddings' ? [type] : ([type, 'Detect'] as const)) {
      for (const sizes of [[], new Array<number>(2000).fill(1)]) {
        const { facts } = pass(body, { type: as, contentType: JSON_TYPE, reads: BOTH, cuts: sizes })
        expect(facts.answer).toMatchObject({ completion, toolCalls })
      }
    }
  })
}

const keptOfStreams: [type: RouteType, body: string, completion: readonly string[], toolCalls: readonly object[]][] = [
  ['Completions', CHAT_STREAM + USAGE + DONE, ['"usage": éx'], []],
  [
    'Completions',
    data(
      { choices: [{ index: 1, delta: { content: 'b' } }] },
      { choices: [{ index: 0, delta: { role: 'assistant', content: null } }] },
      {
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '' } }] } },
        ],
      },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] },
    ) + DONE,
    ['b'],
    [call('f', { a: 1 })],
  ],
  [
    'Messages',
    MESSAGES_STREAM.slice(0, 1).join('') +
      data(
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'b' } },
        { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c1', name: 'f', input: {} } },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a"' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: ':1}' } },
      ) +
      MESSAGE_STOP,
    ['ab'],
    [call('f', { a: 1 })],
  ],
  [
    'Responses',
    RESPONSES_STREAM[0]! +
      data(
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a' },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'b' },
        { type: 'response.refusal.delta', output_index: 0, content_index: 1, delta: 'no' },
        {
          type: 'response.output_item.added',
          output_index: 1,
          item: { type: 'function_call', call_id: 'c1', name: 'f', arguments: '' },
        },
        { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a":1}' },
      ) +
      RESPONSE_COMPLETED,
    ['ab', 'no'],
    [call('f', { a: 1 })],
  ],
]

for (const [type, body, completion, toolCalls] of keptOfStreams) {
  test(`what was written in a stream: ${type}, ${completion}`, () => {
    for (const as of [type, 'Detect'] as const) {
      for (const sizes of [[], new Array<number>(5000).fill(1)]) {
        const { facts, text } = pass(body, { type: as, reads: BOTH, cuts: sizes })
        expect(facts.answer).toMatchObject({ completion, toolCalls })
        expect(text).toBe(body)
      }
    }
  })
}

test('the received part of an aborted stream is kept', () => {
  expect(pass(chunk('a') + chunk('b'), { reads: BOTH, breaks: 'reset' }).facts.answer?.completion).toEqual(['ab'])
})

test('the beginning of a long answer is kept; a very long JSON answer is not looked into', () => {
  const stream = chunk('x'.repeat(50)) + chunk('y'.repeat(50)) + chunk('z') + USAGE + DONE
  const { facts } = pass(stream, { reads: BOTH, maxKept: 150 })
  expect(facts.answer?.completion).toEqual(['x'.repeat(50) + 'y'.repeat(36)])
  expect(facts.totalTokens).toBe(5)
  const said = (length: number) =>
    `{"choices":[{"message":{"content":"${'x'.repeat(length)}"}}],"usage":{"prompt_tokens":1}}`
  for (const cuts of [[], [20, 20, 20]]) {
    const whole = (length: number) =>
      pass(said(length), { contentType: JSON_TYPE, reads: BOTH, maxKept: 150, cuts }).facts
    expect([whole(200).answer?.completion, whole(200).inputTokens]).toEqual([['x'.repeat(86)], 1])
    expect([whole(70_000).answer?.completion, whole(70_000).inputTokens]).toEqual([[], 1])
  }
})

test('nothing is kept without a reader', () => {
  for (const [type, body] of kept) expect(pass(body, { type, contentType: JSON_TYPE }).facts.answer).toBeUndefined()
})

test('trailers go on', () => {
  const trailers = Head.response(200)
  let seen: Head | undefined
  const sink = new Collector()
  sink.end = (given?: Head) => {
    seen = given
  }
  const exchange = exchangeWith()
  exchange.llm = { ...NO_LLM }
  exchange.response = Head.response(200)
  exchange.response.set('content-type', 'text/event-stream')
  const filter = observeResponse(
    {
      wire: 'Completions',
      hidesUsage: false,
      kept: undefined,
      translation: undefined,
      native: undefined,
      guards: [],
      account: undefined,
      maxBytes: 2 ** 21,
    },
    exchange,
    { claim: roomFor(0).claim, decoding: RESPONSE_DECODING },
  )
  filter!.into(sink).end(trailers)
  expect(seen).toBe(trailers)
})

test('events that make no sense are passed on, and nothing is kept of them', () => {
  const odd = { toString: 1 }
  for (const type of ['Completions', 'Messages', 'Responses', 'Detect'] as const) {
    const body = data(
      { type: 'content_block_delta', index: odd, delta: { text: odd, partial_json: odd } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: odd, name: odd } },
      { type: 'response.output_text.delta', output_index: 0, content_index: odd, delta: odd },
      { type: 'response.output_item.added', output_index: odd, item: odd },
      {
        choices: [null, 7, { index: odd, delta: { content: odd, tool_calls: [null, { index: odd, function: odd }] } }],
      },
      { choices: odd, output: odd, content: odd },
    )
    const { text, facts } = pass(body + DONE + MESSAGE_STOP + RESPONSE_COMPLETED, { type, reads: BOTH })
    expect(text).toBe(body + DONE + MESSAGE_STOP + RESPONSE_COMPLETED)
    expect(facts.answer?.completion).toEqual([])
    for (const { id, name } of facts.answer!.toolCalls) expect([id, name]).toEqual(['', ''])
  }
})

test.each<[what: string, body: string, failure: object | undefined]>([
  ['empty', '', { status: undefined, unhealthy: true, detail: "the provider's response ended early: empty" }],
  ['blank', ' \r\n', { status: undefined, unhealthy: true }],
  ['incomplete', '{"choices":[', { status: undefined, unhealthy: true }],
  ['a page', '<html>', { status: 502, unhealthy: true }],
  ['a list', '[{}]', { status: 502, unhealthy: true }],
  ['a text', ' "{}"', { status: 502, unhealthy: true }],
  ['an object', ' {} \n', undefined],
])('a successful response that is %s is judged, and passes', (_, body, failure) => {
  for (const type of ['Completions', 'Messages', 'Responses', 'Embeddings', 'MessagesTokenCount'] as const) {
    const passed = pass(body, { type, contentType: JSON_TYPE, cuts: [1, 2] })
    expect(passed.text).toBe(body)
    if (failure === undefined) expect(passed.failure).toBeUndefined()
    else expect(passed.failure).toMatchObject(failure)
    const errorType = failure && ('status' in failure && failure.status === 502 ? 'llm-response-invalid' : 'incomplete')
    expect(passed.facts.errorType).toBe(errorType)
  }
  // Its format is not known.
  expect(pass(body, { type: 'Detect', contentType: JSON_TYPE }).failure).toBeUndefined()
  expect(pass(body, { contentType: JSON_TYPE, breaks: 'reset' }).failure).toBeUndefined()
})

test('an error in a successful JSON response is a failure', () => {
  for (const [type, body, errorType, unhealthy] of [
    ['Completions', '{"error":{"type":"overloaded_error","message":"m"}}', 'overloaded_error', true],
    ['Completions', '{"id":"c","error":{"type":"invalid_request_error"},"choices":[]}', 'invalid_request_error', false],
    ['Messages', '{"type":"error","error":{"type":"rate_limit_error"}}', 'rate_limit_error', true],
    ['Responses', '{"status":"failed","error":{"code":"server_error"}}', 'server_error', true],
    ['Embeddings', '{"error":"text of the provider"}', 'error', true],
  ] as const) {
    const { text, facts, failure } = pass(body, { type, contentType: JSON_TYPE })
    expect([text, facts.errorType, failure?.unhealthy]).toEqual([body, errorType, unhealthy])
  }
  for (const none of ['null', 'false', '""']) {
    const body = `{"error":${none},"choices":[{"message":{"content":"{\\"error\\":1}","error":{"type":"x"}}}]}`
    expect(pass(body, { contentType: JSON_TYPE }).failure).toBe(undefined)
  }
})

const OVERLOADED = 'data: {"error":{"type":"overloaded_error","message":"busy"}}\n\n'
const CODINGS: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

/** Pushes a compressed stream in single bytes. @returns after how many of them it had begun or failed, and the filter */
function passCompressed(coding: string, body: Buffer) {
  const exchange = exchangeWith()
  exchange.llm = { ...NO_LLM }
  exchange.response = Head.response(200)
  exchange.response.set('content-type', 'text/event-stream')
  exchange.response.set('content-encoding', coding)
  const plan = {
    ...{
      wire: 'Completions' as const,
      hidesUsage: false,
      kept: undefined,
      translation: undefined,
      native: undefined,
      guards: [],
    },
    ...{ account: undefined, maxBytes: 2 ** 21 },
  }
  const filter = observeResponse(plan, exchange, { claim: roomFor(0).claim, decoding: RESPONSE_DECODING })!
  let sent = 0
  let begunAfter: number | undefined
  filter.whenBegun!(() => {
    begunAfter ??= sent
  })
  const collector = new Collector()
  const sink = filter.into(collector)
  for (; sent < body.length; sent++) sink.bytes(body, sent, sent + 1)
  return { filter, sink, collector, facts: exchange.llm, begunAfter }
}

test.each(Object.entries(CODINGS))(
  'a compressed stream begins with its content, and its error is one: %s',
  (coding, encode) => {
    const begin = encode(chunk('') + chunk('hi'))
    const good = passCompressed(coding, begin)
    expect(good.begunAfter).toBeLessThan(begin.length)
    expect(good.facts.timeToFirstTokenMs).toBeGreaterThanOrEqual(0)
    expect(good.filter.failure).toBeUndefined()

    const bad = passCompressed(coding, encode(chunk('') + OVERLOADED))
    expect(bad.begunAfter).toBeDefined()
    expect(bad.filter.failure).toMatchObject({ status: 529, unhealthy: true })
    expect(bad.facts.errorType).toBe('overloaded_error')
  },
)

test('a compressed stream without content begins when too much of it was decoded', () => {
  const silent = passCompressed('gzip', gzipSync(': wait\n\n'.repeat(200_000)))
  expect(silent.begunAfter).toBeGreaterThan(0)
  expect(silent.filter.failure).toBeUndefined()
  expect(passCompressed('gzip', Buffer.from('no gzip')).begunAfter).toBeLessThan(7)
})

test.each<[how: string, body: string, breaks: 'reset' | undefined, failure: object | undefined]>([
  ['whole', CHAT_STREAM + DONE, undefined, undefined],
  ['too short', chunk('x'), undefined, { detail: "the provider's stream ended early: incomplete", unhealthy: true }],
  ['broken', chunk('x'), 'reset', { detail: "the provider's stream ended early: reset", cut: 'reset' }],
  ['broken behind its end', CHAT_STREAM + DONE, 'reset', undefined],
])('a compressed stream that is %s keeps its bytes, and is judged like any other', (_, body, breaks, failure) => {
  const bytes = gzipSync(body)
  const passed = pass(bytes, { coding: 'gzip', ...(breaks && { breaks }) })
  expect(Buffer.from(passed.collector.text, 'latin1').equals(bytes)).toBe(true)
  expect(passed.collector).toMatchObject({ ended: breaks ? 0 : 1, aborted: breaks })
  if (failure === undefined) expect(passed.failure).toBeUndefined()
  else expect(passed.failure).toMatchObject(failure)
})

test('of a compressed stream that is too long to be decoded, no end is expected', () => {
  const { failure, facts } = pass(Buffer.concat([gzipSync(chunk('x')), Buffer.alloc(1024 * 1024)]), { coding: 'gzip' })
  expect([failure, facts.errorType]).toEqual([undefined, undefined])
})

test('of a compressed stream whose format is not known, no end is expected; where there is none to read, its bytes pass', () => {
  const bytes = gzipSync(chunk('x'))
  expect(pass(bytes, { type: 'Detect', coding: 'gzip' }).failure).toBeUndefined()
  expect(pass(bytes, { type: 'Embeddings', coding: 'gzip' }).filter).toBeUndefined()
})
