import { gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { refusalStatus } from '#exchange/outcome.ts'
import { NO_STEPS } from '#exchange/run-context.ts'
import { translated } from '#test/support/translated-exchange.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { type JsonValue, parseDocument } from '../json/json-document.ts'
import { encode } from '../json/splice.ts'
import type { RouteType } from '../policy-schema.ts'
import type { ClientFormat } from '../request/route-type.ts'
import { responsesForms } from '../responses/form-change.ts'
import { pass } from '../testing.ts'

const data = (event: object | string) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`
const event = (type: string, rest: object = {}) => `event: ${type}\n${data({ type, ...rest })}`
const JSON_TYPE = 'application/json; charset=utf-8'
const SSE = 'text/event-stream'

const CHAT_USAGE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
const call = { id: 'c1', type: 'function', function: { name: 'get weather!', arguments: '{"a":1}' } }
const chunk = (delta: object, finish: string | null = null) =>
  data({ id: 'x', model: 'm-1', choices: [{ index: 0, delta, finish_reason: finish }] })

/** One answer as a whole and as a stream. */
const ANSWERS: { readonly [Type in 'Completions' | 'Messages']: readonly [whole: object, stream: string] } = {
  Completions: [
    {
      ...{ id: 'x', object: 'chat.completion', model: 'm-1', usage: CHAT_USAGE },
      choices: [
        {
          ...{ index: 0, finish_reason: 'tool_calls' },
          message: { role: 'assistant', content: 'Hm.', reasoning_content: 'so', tool_calls: [call] },
        },
      ],
    },
    chunk({ role: 'assistant', content: '' }) +
      chunk({ reasoning_content: 'so' }) +
      chunk({ content: 'Hm.' }) +
      chunk({ tool_calls: [{ index: 0, ...call }] }) +
      chunk({}, 'tool_calls') +
      data({ id: 'x', model: 'm-1', choices: [], usage: CHAT_USAGE }) +
      data('[DONE]'),
  ],
  Messages: [
    {
      ...{ id: 'x', type: 'message', role: 'assistant', model: 'm-1', stop_reason: 'tool_use', stop_sequence: null },
      content: [
        { type: 'thinking', thinking: 'so', signature: 'c2ln' },
        { type: 'text', text: 'Hm.' },
        { type: 'tool_use', id: 'c1', name: 'get_weather', input: { a: 1 } },
      ],
      usage: { input_tokens: 9, output_tokens: 2 },
    },
    event('message_start', {
      message: { id: 'x', type: 'message', role: 'assistant', model: 'm-1', content: [], usage: { input_tokens: 9 } },
    }) +
      event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '' } }) +
      event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'so' } }) +
      event('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } }) +
      event('content_block_stop', { index: 0 }) +
      event('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }) +
      event('content_block_delta', { index: 1, delta: { type: 'text_delta', text: 'Hm.' } }) +
      event('content_block_stop', { index: 1 }) +
      event('content_block_start', {
        ...{ index: 2, content_block: { type: 'tool_use', id: 'c1', name: 'get_weather', input: {} } },
      }) +
      event('content_block_delta', { index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } }) +
      event('content_block_stop', { index: 2 }) +
      event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } }) +
      event('message_stop'),
  ],
}

function answered(
  type: ClientFormat,
  streamed: boolean,
  body: string | Buffer,
  contentType: string,
  request: object = {},
  coding: object = {},
) {
  const native = { type, streamed, body: new TextEncoder().encode(JSON.stringify(request)) }
  const passed = pass(body, { type: type as RouteType, contentType, native, ...coding })
  const { response } = passed.exchange
  return { ...passed, contentType: response!.joined('content-type'), length: response!.joined('content-length') }
}

for (const [type, [whole, stream]] of Object.entries(ANSWERS) as ['Completions' | 'Messages', [object, string]][]) {
  const usage = { stream_options: { include_usage: true } }

  test(`${type}: a client that asked for no stream gets a whole answer of one`, () => {
    const { text, contentType, facts } = answered(type, false, stream, SSE)
    expect(contentType).toBe('application/json')
    expect(JSON.parse(text)).toMatchObject(whole)
    expect(facts).toMatchObject({ responseModel: 'm-1', inputTokens: 9, outputTokens: 2, totalTokens: 11 })
  })

  test(`${type}: a client that asked for a stream gets one of a whole answer`, () => {
    const { text, contentType, facts } = answered(type, true, JSON.stringify(whole), JSON_TYPE, usage)
    expect(contentType).toBe('text/event-stream')
    expect(facts).toMatchObject({ responseModel: 'm-1', inputTokens: 9, outputTokens: 2, totalTokens: 11 })
    // The way back is the answer again.
    expect(JSON.parse(answered(type, false, text, SSE).text)).toMatchObject(whole)
  })

  test(`${type}: a whole answer in the other form may be compressed`, () => {
    const gzip = { coding: 'gzip' }
    const answer = answered(type, true, gzipSync(JSON.stringify(whole)), JSON_TYPE, usage, gzip)
    expect([answer.contentType, answer.exchange.response!.has('content-encoding')]).toEqual([
      'text/event-stream',
      false,
    ])
    expect(JSON.parse(answered(type, false, answer.text, SSE).text)).toMatchObject(whole)
  })

  test(`${type}: the form that the client asked for passes unchanged`, () => {
    expect(answered(type, true, stream, SSE).text).toBe(stream)
    expect(answered(type, false, JSON.stringify(whole), JSON_TYPE).text).toBe(JSON.stringify(whole))
  })

  test(`${type}: an error in a whole answer to a client that asked for a stream is one`, () => {
    const error = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } })
    const { failure, refusal } = answered(type, true, error, JSON_TYPE)
    expect([failure?.status, refusal?.code]).toEqual([529, 'llm-response-invalid'])
  })
}

test('only a client that asked for the usage chunk gets it', () => {
  const [whole] = ANSWERS.Completions
  for (const request of [{}, { include_usage: true }, { stream_options: 7 }, { stream_options: {} }]) {
    expect(answered('Completions', true, JSON.stringify(whole), JSON_TYPE, request).text).not.toContain('"usage":{')
  }
})

test.each<[type: ClientFormat, streamed: boolean, body: string, contentType: string]>([
  ['Embeddings', false, 'data: 1\n\n', SSE],
  ['Completions', true, '<html>', 'text/html'],
  ['Completions', false, 'text', 'text/plain'],
])('%s (streamed: %j): %s of the type %s passes', (type, streamed, body, contentType) => {
  const passed = answered(type, streamed, body, contentType)
  expect([passed.text, passed.contentType]).toEqual([body, contentType])
})

test('an error in the other form does not show the credential of the gateway, and a damaged response is one of the provider', () => {
  const error = '{"error":{"message":"no sk-0123456789"}}'
  const shown = answered('Completions', true, error, JSON_TYPE, {}, { credential: 'Bearer sk-0123456789' })
  expect(JSON.parse(shown.refusal?.body as string).error.message).toContain('no <redacted>')
  const damaged = answered('Completions', true, 'no gzip', JSON_TYPE, {}, { coding: 'gzip' })
  expect(refusalStatus(damaged.refusal!)).toBe(502)
})

const SETTINGS = { overrides: [['stream', false]], defaults: [['stream', true]] } as const

test.each<[provider: string, setting: keyof typeof SETTINGS, asked: object]>([
  ['providerOne', 'overrides', { stream: true }],
  ['providerOne', 'defaults', {}],
  ['providerFour', 'overrides', { stream: true }],
  ['providerFour', 'defaults', {}],
])(
  '%s: settings of stream (%s) are for the provider, and the client gets what it asked for',
  (kind, setting, asked) => {
    const [[field, value]] = SETTINGS[setting]
    const [whole, stream] = ANSWERS[kind === 'providerOne' ? 'Completions' : 'Messages']
    const { request, contentType } = translated(
      { model: 'm', messages: [{ role: 'user', content: 'Hi.' }], ...asked },
      { provider: { [kind]: {} }, ai: { [setting]: [{ field, value }] } },
      value ? { body: stream, headers: { 'content-type': SSE } } : { body: whole },
    )
    expect((request as { stream?: boolean }).stream === true).toBe(value)
    expect(contentType).toBe(value ? 'application/json' : SSE)
  },
)

test('a client that leaves before the end of a stream that it did not ask for is charged for what has arrived', () => {
  const [, stream] = ANSWERS.Completions
  const words = chunk({ content: 'some words of an answer '.repeat(20) })
  const { facts } = answered(
    'Completions',
    false,
    words + stream.slice(0, 200),
    SSE,
    {},
    { counts: true, breaks: 'cancelled' },
  )
  expect(facts.outputTokens).toBeGreaterThan(50)
  expect(facts.areTokensEstimated).toBe(true)
})

test.each([
  [1, 'the request goes on', false],
  [0, 'the request is over', true],
])(
  'a stream that a client did not ask for gets an end %i times, a second after its last event, if %s',
  async (ends, _, isOver) => {
    using time = new VirtualTime()
    const whenOver = vi.spyOn(NO_STEPS, 'whenOver')
    const { collector } = answered('Completions', false, ANSWERS.Completions[1], SSE, {}, { stays: true })
    if (isOver) for (const [stop] of whenOver.mock.calls) stop()
    await time.pass(1000)
    expect(collector.ended).toBe(ends)
  },
)

test('a whole answer leaves as a stream in short pieces, however long it is', () => {
  const items = Array.from({ length: 20_000 }, (_, id) => ({
    type: 'message',
    id,
    content: [{ type: 'output_text', text: 'a' }],
  }))
  const answer = encode(JSON.stringify({ id: 'x', output: items }))
  const pieces = responsesForms.writeStream(parseDocument(answer) as JsonValue, false)
  let longest = 0
  for (const piece of pieces) longest = Math.max(longest, piece.length)
  expect(longest).toBeLessThan(70_000)
})
