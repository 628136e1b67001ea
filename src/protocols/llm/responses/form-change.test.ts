import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { NativeRequest } from '../answer/form-change.ts'
import { streamOf } from '../answer/testing.ts'
import { type Answer, pass } from '../testing.ts'
import { responsesForms } from './form-change.ts'

const text = { type: 'output_text', text: 'Ö "n" 1.0', annotations: [{ type: 'url_citation', url: 'u' }], logprobs: [] }
const OUTPUT = [
  { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'so' }], encrypted_content: 'e' },
  { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
  {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [text, { type: 'refusal', refusal: 'no' }],
  },
  { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
  { id: 'ctc_1', type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'x' },
  { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aGk=' },
]
const USAGE = { input_tokens: 9, output_tokens: 2, total_tokens: 11 }
/** With what a parser would change. */
const WHOLE = `{"id":"resp_1","object":"response","created_at":1.0,"model":"m-1","status":"completed",\r\n "own":12345678901234567890,"output":${JSON.stringify(OUTPUT)},"usage":${JSON.stringify(USAGE)}}`

function answered(streamed: boolean, body: string | Buffer, more: Answer = {}) {
  const native: NativeRequest = { type: 'Responses', streamed, body: Buffer.from('{}') }
  const contentType = streamed ? 'application/json' : 'text/event-stream'
  return pass(body, { type: 'Responses', contentType, native, ...more })
}

const eventsOf = (stream: string) =>
  stream
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!
      const event = JSON.parse(data!) as Record<string, unknown>
      expect(event.type).toBe(name)
      return event
    })

test('a client that asked for a stream gets all of a whole response as events', () => {
  const { text: stream, exchange, facts } = answered(true, WHOLE)
  const events = eventsOf(stream)
  expect(exchange.response!.joined('content-type')).toBe('text/event-stream')
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i))
  expect(events.map(({ type }) => String(type).replace('response.', ''))).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
    'output_item.added',
    'output_item.done',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.annotation.added',
    'output_text.done',
    'content_part.done',
    'content_part.added',
    'refusal.delta',
    'refusal.done',
    'content_part.done',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
    'output_item.added',
    'custom_tool_call_input.delta',
    'custom_tool_call_input.done',
    'output_item.done',
    'output_item.added',
    'output_item.done',
    'completed',
  ])
  expect(events[0]!.response).toMatchObject({ id: 'resp_1', status: 'in_progress', output: [], usage: null })
  const added = events.filter(({ type }) => type === 'response.output_item.added')
  expect(added[2]!.item).toEqual({ ...OUTPUT[2], status: 'in_progress', content: [] })
  expect(added[3]!.item).toEqual({ ...OUTPUT[3], status: 'in_progress', arguments: '' })
  const done = events.filter(({ type }) => type === 'response.output_item.done')
  expect(done.map(({ item, output_index }) => [output_index, item])).toEqual(OUTPUT.map((item, i) => [i, item]))
  expect(events[12]).toMatchObject({ item_id: 'msg_1', output_index: 2, content_index: 0, delta: 'Ö "n" 1.0' })
  expect(stream).toContain(`"response":${WHOLE.replace('\r\n', ' ')}}\n\n`)
  expect(facts).toMatchObject({ responseModel: 'm-1', inputTokens: 9, outputTokens: 2, totalTokens: 11 })
})

test('a client that asked for none gets the whole response of a stream, byte by byte', () => {
  const { text: stream } = answered(true, WHOLE)
  for (const cuts of [[], Array.from({ length: 50 }, () => 7)]) {
    const { text: whole, exchange, facts } = answered(false, stream, { cuts, reads: { completion: true } })
    expect(exchange.response!.joined('content-type')).toBe('application/json')
    expect(whole).toBe(WHOLE.replace('\r\n', ' '))
    expect(facts).toMatchObject({ responseModel: 'm-1', inputTokens: 9, outputTokens: 2, totalTokens: 11 })
    expect(facts.answer?.completion).toEqual(['Ö "n" 1.0', 'no'])
  }
})

test('members without a name, or with a long one, stay in items of unknown types', () => {
  const item = { type: 'own', '': 'a', ['n'.repeat(1100)]: 'b' }
  const events = eventsOf(streamOf(responsesForms, JSON.stringify({ output: [item], status: 'completed' })))
  expect(events.slice(2, 4)).toMatchObject([
    { type: 'response.output_item.added', item },
    { type: 'response.output_item.done', item },
  ])
})

test('an incomplete response stays one, in both directions', () => {
  const incomplete = WHOLE.replace('"completed",\r\n', '"incomplete",\r\n').replace('\r\n', ' ')
  const { text: stream } = answered(true, incomplete)
  expect(eventsOf(stream).at(-1)!.type).toBe('response.incomplete')
  expect(answered(false, stream).text).toBe(incomplete)
})

test('a whole response may be compressed', () => {
  const { text: stream } = answered(true, gzipSync(WHOLE), { coding: 'gzip' })
  expect(eventsOf(stream).at(-1)!.type).toBe('response.completed')
})

const failed = { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'busy' } } }
const error = { type: 'error', code: 'server_error', message: 'broken', param: null }
const sse = (event: object) => `data: ${JSON.stringify(event)}\n\n`

test.each<[what: string, streamed: boolean, body: string, more: Answer, status: number, message: string]>([
  ['a failed response in a stream', false, sse(failed), {}, 429, 'busy'],
  ['an error in a stream', false, sse(error), {}, 500, 'broken'],
  ['a failed response', true, JSON.stringify({ ...failed.response, output: [] }), {}, 429, 'busy'],
  ['an error', true, '{"error":{"type":"overloaded_error","message":"busy"}}', {}, 529, 'busy'],
  ['a stream without an end', false, sse({ type: 'response.created', response: {} }), {}, 502, 'ended before'],
  ['an empty stream', false, '', {}, 502, 'ended before'],
  ['a stream that breaks off', false, ': \n\n', { breaks: 'reset' }, 502, 'ended before'],
  ['a response that breaks off', true, WHOLE.slice(0, -9), { breaks: 'reset' }, 502, 'ended before'],
  ['no response', true, '{"choices":[]}', {}, 502, 'no output'],
  ['no JSON', true, 'no', {}, 502, 'ended before'],
  ['a response over the limit', true, `{"output":[${' '.repeat(2 ** 21)}]}`, {}, 502, 'too large'],
  [
    'an event over the limit',
    false,
    sse({ type: 'response.completed', response: { a: 'x'.repeat(2 ** 21) } }),
    { cuts: [1e6] },
    502,
    'too large',
  ],
])('%s is an error of its status', (_, streamed, body, more, status, message) => {
  const { refusal, failure, text: sent, facts } = answered(streamed, body, more)
  expect([refusal?.status, sent]).toEqual([status, ''])
  expect(JSON.parse(String(refusal?.body)).error.message).toContain(message)
  expect([failure?.unhealthy, facts.errorType === undefined]).toEqual([true, false])
})

test('a stream is read up to the end of its response', () => {
  const { text: stream } = answered(true, WHOLE)
  expect(answered(false, `${stream}${sse(error)}`).text).toBe(WHOLE.replace('\r\n', ' '))
})

test('a stream that does not end with its response is disconnected after a second', async () => {
  using time = new VirtualTime()
  const { text: stream } = answered(true, WHOLE)
  const { collector, filter } = answered(false, `${stream}data: 1`, { stays: true })
  let cancelled = 0
  filter!.whenOver!(() => cancelled++)
  await time.pass(999)
  expect([collector.ended, cancelled]).toEqual([0, 0])
  await time.pass(1)
  expect([collector.ended, cancelled]).toEqual([1, 1])
})

test('the form that the client asked for passes unchanged', () => {
  expect(answered(true, sse(error), { contentType: 'text/event-stream' }).text).toBe(sse(error))
  expect(answered(false, WHOLE, { contentType: 'application/json' }).text).toBe(WHOLE)
})
