import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { sampleOf } from '#test/support/sample-size.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { pass } from '../testing.ts'

const data = (event: object | string) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`
const event = (type: string, rest: object = {}) => `event: ${type}\n${data({ type, ...rest })}`
const IMAGE = 'x'.repeat(3 * 1024 * 1024)

const CREATED = event('response.created', { response: { id: 'r', model: 'gpt-5', created_at: 5, error: null } })
const USAGE = { input_tokens: 4, output_tokens: 9, total_tokens: 13 }
const output = [{ type: 'image_generation_call', result: IMAGE, usage: { input_tokens: 99 } }]
const completed = (type = 'response.completed') => ({
  type,
  response: { id: 'r', model: 'gpt-5-x', output, usage: USAGE },
})

const NO_ROOM = () => new BodyClaim(new BodyMemory(0))

/** Where the text is cut, how the stream ends, and whether memory is left. */
const PASSAGES = [new Array<number>(50).fill(64 * 1024), [10, 15, 20], new Array<number>(300).fill(1)].flatMap((cuts) =>
  [{}, { breaks: 'reset' } as const].flatMap((ends) =>
    [{}, { claim: NO_ROOM() }].map((room) => ({ cuts, ...ends, ...room })),
  ),
)

for (const [at, [name, last]] of (
  [
    ['with an event line', `event: response.completed\n${data(completed())}`],
    ['with a leading type', data(completed())],
    ['with type and spaces', `data: {"type": "response.completed", ${JSON.stringify(completed()).slice(29)}\n\n`],
    [
      'in several data lines',
      `data: {"type":"response.completed",\ndata: ${JSON.stringify(completed()).slice(29)}\n\n`,
    ],
    [
      'incomplete, with CRLF',
      `event: response.incomplete\n${data(completed('response.incomplete'))}`.replaceAll('\n', '\r\n'),
    ],
  ] as const
).entries()) {
  test(`an event of any size ends a Responses stream, and its usage is read: ${name}`, () => {
    for (const passage of sampleOf(PASSAGES, 5, at)) {
      const { text, facts, failure, collector } = pass(CREATED + last, { type: 'Responses', ...passage })
      expect(text === CREATED + last, 'bytes unchanged').toBe(true)
      expect(facts).toMatchObject({ responseModel: 'gpt-5-x', inputTokens: 4, outputTokens: 9, totalTokens: 13 })
      expect([failure, facts.errorType]).toEqual([undefined, undefined])
      expect(collector).toMatchObject({ ended: 1, aborted: undefined })
    }
  })
}

test('the last event may lack its empty line, also when it is long', () => {
  const last = `event: response.completed\n${data(completed())}`.trimEnd()
  const { text, facts, failure } = pass(CREATED + last, { type: 'Responses', cuts: [1_000_000, 1_500_000] })
  expect(text === CREATED + last).toBe(true)
  expect([facts.totalTokens, failure]).toEqual([13, undefined])
})

test('a stream that breaks off after a part of a long event is cut off: an added event would not be understood', () => {
  const part = `event: response.completed\n${data(completed()).slice(0, 2_600_000)}`
  for (const ends of [{ breaks: 'reset' }, {}] as const) {
    const why = 'breaks' in ends ? ends.breaks : undefined
    const { text, collector, facts } = pass(CREATED + part, {
      type: 'Responses',
      cuts: [1_000_000, 1_500_000],
      ...ends,
    })
    expect(text === CREATED + part).toBe(true)
    expect(collector).toMatchObject({ ended: 0, aborted: why ?? 'protocol-error' })
    expect(facts.errorType).toBe(why ?? 'incomplete')
  }
})

const errors: [type: RouteType, body: string, errorType: string, unhealthy: boolean][] = [
  ['Completions', 'data: {"error":{"message":"m","type":"server_error"}}\n\n', 'server_error', true],
  ['Completions', 'data: { "error" : {"message":"m","code":"overloaded"}}\n\n', 'overloaded', true],
  ['Completions', data({ id: 'c', choices: [], error: { type: 'rate_limit_error' } }), 'rate_limit_error', true],
  ['Completions', data({ error: { code: 503, status: 'UNAVAILABLE' } }), 'UNAVAILABLE', true],
  ['Completions', data({ error: { code: 400, status: 'BAD' } }), 'BAD', false],
  ['Completions', data({ error: { type: 'invalid_request_error' } }), 'invalid_request_error', false],
  ['Completions', data({ error: 'text of the provider' }), 'error', true],
  ['Completions', data({ error: { type: 'a text\nof the provider' } }), 'error', true],
  ['Completions', `event: error\n${data({ message: 'm' })}`, 'error', true],
  ['Completions', 'data: no JSON\nevent: error\n\n', 'error', true],
  ['Completions', data({ error: { type: 'overloaded_error', message: 'x'.repeat(3_000_000) } }), 'error', true],
  ['Messages', event('error', { error: { type: 'overloaded_error' } }), 'overloaded_error', true],
  ['Messages', data({ type: 'error', error: { type: 'invalid_request_error' } }), 'invalid_request_error', false],
  ['Messages', `event: error\n${data({ message: 'm' })}`, 'error', true],
  ['Messages', `event: error\n${data({ x: 'x'.repeat(3_000_000), message: 'm' })}`, 'error', true],
  ['Messages', data({ x: 1, error: { type: 'api_error' } }), 'api_error', true],
  ['Messages', data({ x: 1, error: 'x'.repeat(3_000_000) }), 'error', true],
  ['Responses', event('error', { code: 'server_error', message: 'm' }), 'server_error', true],
  ['Responses', data({ sequence_number: 3, error: { code: 'x' } }), 'x', true],
  ['Responses', event('response.failed', { response: { error: { code: 'server_error' } } }), 'server_error', true],
  ['Responses', event('response.failed', { response: { error: { code: 'invalid_prompt' } } }), 'invalid_prompt', false],
  ['Responses', event('response.failed', { response: {} }), 'error', true],
  [
    'Responses',
    event('response.failed', { response: { output, error: { code: 'server_error' } } }),
    'server_error',
    true,
  ],
  ['Detect', data({ error: { type: 'server_error' } }), 'server_error', true],
  ['Detect', event('response.failed', { response: { output, error: { code: 'server_error' } } }), 'server_error', true],
]
const BEFORE: Partial<Record<RouteType, string>> = {
  Completions: data({ choices: [{ delta: { content: 'x' } }] }),
  Messages: event('message_start') + event('content_block_delta', { delta: { text: 'x' } }),
  Responses: CREATED + event('response.output_text.delta', { delta: 'x' }),
}
for (const [type, body, errorType, unhealthy] of errors) {
  test(`an error event is the end of the stream: ${type} ${body.slice(0, 100)}`, () => {
    for (const before of ['', BEFORE[type] ?? '']) {
      for (const end of ['\n', '\r\n']) {
        const stream = (before + body).replaceAll('\n', end)
        const { text, facts, failure, collector } = pass(stream, { type, cuts: [40, 60, 1_500_000] })
        expect(text === stream, 'nothing is added').toBe(true)
        expect(collector.ended).toBe(1)
        expect([facts.errorType, failure?.unhealthy]).toEqual([errorType, unhealthy])
        expect(failure?.detail).toBe(`the provider's response failed: ${errorType}`)
        if (errorType === 'error') expect(failure?.status).toBe(500)
      }
    }
  })
}

test.each<[type: RouteType, stream: string, errorType: string | undefined]>([
  // The event line is the first of the rest.
  ['Messages', 'event: error\ndata: {"message":"m"}', 'error'],
  ['Completions', 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}', undefined],
  ['Completions', 'data: {"choices":[{"delta":{"content":"x"}}]}', 'incomplete'],
  // What is no event passes as well.
  ['Completions', 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n:', undefined],
])('the last event of a stream of %s may lack its empty line: %s', (type, stream, errorType) => {
  const { text, facts } = pass(stream, { type, cuts: [3] })
  expect(facts.errorType).toBe(errorType)
  if (errorType !== 'incomplete') expect(text).toBe(stream)
})

test.each<[type: RouteType, stream: string, isEmpty: boolean]>([
  ['Completions', data('[DONE]'), true],
  ['Completions', data({ choices: [{ delta: { role: 'assistant' } }] }) + data('[DONE]'), true],
  ['Completions', data({ choices: [{ delta: { content: 'x' } }] }) + data('[DONE]'), false],
  ['Completions', data({ choices: [{ delta: {}, finish_reason: 'stop' }] }) + data('[DONE]'), false],
  ['Completions', data({ error: { type: 'x' } }) + data('[DONE]'), false],
  ['Messages', event('message_stop'), true],
  ['Messages', event('message_delta', { delta: { stop_reason: 'end_turn' } }) + event('message_stop'), false],
  ['Responses', event('response.completed'), false],
  ['Detect', data('[DONE]'), false],
])('%s: an end without an answer is a failure, and nothing is added: %j is empty: %j', (type, stream, isEmpty) => {
  const { text, facts, collector } = pass(stream, { type })
  expect([text, collector.ended]).toEqual([stream, 1])
  expect(facts.errorType === 'incomplete').toBe(isEmpty)
})

test('the time to the first token begins with the request, and no event is hidden that has more than usage', async () => {
  using time = new VirtualTime()
  await time.pass(50)
  const stream = BEFORE.Messages! + event('message_stop')
  const { text, facts } = pass(stream, { type: 'Messages', hidesUsage: true })
  expect([text, facts.timeToFirstTokenMs]).toEqual([stream, 0])
})

test('what is not a whole block yet is not forwarded, and comments are no events', () => {
  const { collector } = pass(CREATED, { type: 'Responses', cuts: [3, 3] })
  expect([collector.text, collector.calls]).toEqual([CREATED + collector.text.slice(CREATED.length), 2])
  const broken = pass(`: c\n\n${CREATED}: c\n\n`, { type: 'Responses', breaks: 'reset' })
  expect(broken.text).toContain('"sequence_number":1')
})

test('text about errors is no error', () => {
  const said = '{"error": {"type":"x"}} event: error'
  for (const [type, body] of [
    [
      'Completions',
      data({ choices: [{ delta: { content: said, error: { type: 'x' } } }], error: null }) + data('[DONE]'),
    ],
    ['Messages', event('content_block_delta', { delta: { text: said } }) + event('message_stop')],
    [
      'Responses',
      event('response.output_item.done', { item: { error: { code: 'x' } }, delta: said }) + event('response.completed'),
    ],
  ] as const) {
    expect(pass(body, { type })).toMatchObject({ text: body, failure: undefined, facts: { errorType: undefined } })
  }
})

const first: [type: RouteType, none: string, some: readonly string[]][] = [
  [
    'Completions',
    `${data({ choices: [{ delta: { role: 'assistant', content: '' } }] }) + data({ choices: [], usage: null })}: c\n\n`,
    [
      data({ choices: [{ delta: { content: 'x' } }] }),
      data({ choices: [{ delta: { refusal: 'x' } }] }),
      data({ choices: [{ delta: { reasoning_content: 'x' } }] }),
      data({ choices: [{ delta: { tool_calls: [{ id: 'c' }] } }] }),
    ],
  ],
  [
    'Messages',
    event('message_start') +
      event('ping') +
      event('content_block_start', { content_block: { type: 'thinking', thinking: '', signature: '' } }) +
      event('content_block_start', { content_block: { type: 'text', text: '' } }) +
      event('content_block_delta', { delta: { type: 'text_delta', text: '' } }),
    [
      event('content_block_delta', { delta: { type: 'text_delta', text: 'x' } }),
      event('content_block_delta', { delta: { type: 'thinking_delta', thinking: 'x' } }),
      event('content_block_start', { content_block: { type: 'tool_use', name: 'f' } }),
      event('content_block_start', { content_block: { type: 'server_tool_use', name: 'web_search' } }),
      event('content_block_start', { content_block: { type: 'redacted_thinking', data: 'x' } }),
      event('content_block_start', { content_block: { type: 'text', text: 'x' } }),
    ],
  ],
  [
    'Responses',
    CREATED +
      event('response.in_progress') +
      event('response.output_item.added', { item: { type: 'message' } }) +
      event('response.output_text.delta', { delta: '' }),
    [
      event('response.output_text.delta', { delta: 'x' }),
      event('response.refusal.delta', { delta: 'x' }),
      event('response.function_call_arguments.delta', { delta: 'x' }),
      event('response.output_item.added', { item: { type: 'function_call', name: 'f' } }),
    ],
  ],
  ['Detect', data({ choices: [{ delta: { role: 'a' } }] }), [data({ candidates: [{ content: { parts: [] } }] })]],
]
for (const [type, none, some] of first) {
  test(`the first token is the first event with content: ${type}`, () => {
    expect(pass(none, { type }).facts.timeToFirstTokenMs).toBeUndefined()
    for (const one of some) expect(pass(none + one, { type }).facts.timeToFirstTokenMs, one).toBeGreaterThanOrEqual(0)
  })
}

test('a byte order mark does not hide the first event', () => {
  const stream = `\ufeff${data({ model: 'm', choices: [] })}${data('[DONE]')}`
  expect(pass(stream)).toMatchObject({ text: stream, facts: { responseModel: 'm' } })
})

const KEY = 'sk-key/of+the-gateway'
const QUOTING = `event: error\ndata: {"type":"error","error":{"type":"api_error","message":"é ${KEY}, ${KEY.replace('/', '\\/')}"}}`
const CLEAN = 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"é <redacted>, <redacted>"}}'

test.each<[what: string, end: string, cuts: readonly number[]]>([
  ['in one piece', '\n\n', []],
  ['in many pieces', '\n\n', Array.from({ length: 400 }, () => 1)],
  ['as the end of a stream', '', []],
])('an error event %s does not show the credential of the gateway', (_, end, cuts) => {
  const text = `data: {"text":"${KEY}"}\n\n`
  const more = end === '' ? '' : ': comment\n\n'
  const passed = pass(`${text}${QUOTING}${end}${more}`, { type: 'Messages', credential: `Bearer ${KEY}`, cuts })
  expect(passed.text).toBe(`${text}${CLEAN}${end}${more}`)
})

test('the last event shows a text that is like the credential, as all others do', () => {
  const stream = `data: {"choices":[{"delta":{"content":"${KEY}"},"finish_reason":"stop"}]}`
  expect(pass(stream, { credential: `Bearer ${KEY}` }).text).toBe(stream)
})

test('error events without it, and those of Detect, pass as they are', () => {
  const stream = `${QUOTING}\n\n`
  expect(pass(stream, { type: 'Messages' }).text).toBe(stream)
  expect(pass(stream, { type: 'Messages', credential: 'Bearer another-key' }).text).toBe(stream)
  expect(pass(stream, { type: 'Detect', credential: `Bearer ${KEY}` }).text).toBe(stream)
})
