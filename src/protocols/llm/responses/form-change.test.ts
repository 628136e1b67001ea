import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { NativeRequest } from '../answer/form-change.ts'
import { collect, collected, streamOf } from '../answer/testing.ts'
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

test.each([
  ['completed', 'response.completed'],
  ['incomplete', 'response.incomplete'],
  ['cancelled', 'response.cancelled'],
  // What it became is not known.
  ['queued', 'response.in_progress'],
  ['constructor', 'response.in_progress'],
])('a response that is %s ends with %s', (status, type) => {
  const events = eventsOf(streamOf(responsesForms, JSON.stringify({ output: [], status })))
  expect(events.at(-1)!.type).toBe(type)
})

test('a response without status is completed, and its beginning has no end', () => {
  const events = eventsOf(streamOf(responsesForms, JSON.stringify({ output: [], completed_at: 5, usage: USAGE })))
  expect(events.map(({ type }) => type)).toEqual(['response.created', 'response.in_progress', 'response.completed'])
  expect(events[1]!.response).toEqual({ output: [], completed_at: null, usage: null })
})

test.each<[type: string, member: string, event: string, named: boolean]>([
  ['function_call', 'arguments', 'function_call_arguments', true],
  ['mcp_call', 'arguments', 'mcp_call_arguments', true],
  ['custom_tool_call', 'input', 'custom_tool_call_input', false],
])('the text of an item of type %s', (type, member, event, named) => {
  const item = { id: 'i', type, name: 'f', [member]: '{}' }
  const [added, delta, done] = eventsOf(streamOf(responsesForms, JSON.stringify({ output: [item] }))).slice(2, 5)
  const about = { item_id: 'i', output_index: 0 }
  expect(added!.item).toEqual({ ...item, [member]: '' })
  expect(delta).toEqual({ type: `response.${event}.delta`, sequence_number: 3, ...about, delta: '{}' })
  const name = named ? { name: 'f' } : {}
  expect(done).toEqual({ type: `response.${event}.done`, sequence_number: 4, ...about, [member]: '{}', ...name })
})

test.each<[type: string, member: string, event: string, list: string, index: string]>([
  ['refusal', 'refusal', 'refusal', 'content', 'content_index'],
  ['reasoning_text', 'text', 'reasoning_text', 'content', 'content_index'],
  ['summary_text', 'text', 'reasoning_summary_text', 'summary', 'summary_index'],
])('the text of a part of type %s', (type, member, event, list, index) => {
  const part = { type, [member]: 'a', own: 1 }
  const events = eventsOf(
    streamOf(responsesForms, JSON.stringify({ output: [{ id: 'i', type: 'own', [list]: [part] }] })),
  )
  const kind = list === 'content' ? 'response.content_part' : 'response.reasoning_summary_part'
  const about = { item_id: 'i', output_index: 0, [index]: 0 }
  expect(events.slice(3, 7).map(({ sequence_number: _, ...rest }) => rest)).toEqual([
    { type: `${kind}.added`, ...about, part: { ...part, [member]: '' } },
    { type: `response.${event}.delta`, ...about, delta: 'a' },
    { type: `response.${event}.done`, ...about, [member]: 'a' },
    { type: `${kind}.done`, ...about, part },
  ])
})

test('parts and items without what is known of them are whole', () => {
  const output = [
    { type: 'message', content: [{ own: 1 }, { type: 'output_text' }] },
    { own: 2, undefined: 'x' },
    { type: 'function_call' },
  ]
  const events = eventsOf(streamOf(responsesForms, JSON.stringify({ output })))
  expect(events.slice(2, -1).map(({ type, part, item }) => [type, part ?? item])).toEqual([
    ['response.output_item.added', { type: 'message', content: [] }],
    ...['response.content_part.added', 'response.content_part.done'].map((type) => [type, { own: 1 }]),
    ...['response.content_part.added', 'response.content_part.done'].map((type) => [type, { type: 'output_text' }]),
    ['response.output_item.done', output[0]],
    ['response.output_item.added', { own: 2, undefined: 'x' }],
    ['response.output_item.done', { own: 2, undefined: 'x' }],
    ['response.output_item.added', { type: 'function_call' }],
    ['response.output_item.done', { type: 'function_call' }],
  ])
})

test.each<[what: string, logprobs: object, shown: unknown]>([
  ['has', { logprobs: [{ token: 'a', logprob: -0.1 }] }, [{ token: 'a', logprob: -0.1 }]],
  ['has not', {}, []],
])('a text that %s probabilities shows them with each event', (_, logprobs, shown) => {
  const part = { type: 'output_text', text: 'a', ...logprobs }
  const events = eventsOf(streamOf(responsesForms, JSON.stringify({ output: [{ content: [part] }] })))
  const about = { item_id: '', output_index: 0, content_index: 0, logprobs: shown }
  expect(events.slice(4, 6)).toEqual([
    { type: 'response.output_text.delta', sequence_number: 4, ...about, delta: 'a' },
    { type: 'response.output_text.done', sequence_number: 5, ...about, text: 'a' },
  ])
})

test('a call without name and id has empty ones', () => {
  const output = [{ type: 'function_call', arguments: '{}' }]
  const done = eventsOf(streamOf(responsesForms, JSON.stringify({ output })))[4]
  expect(done).toMatchObject({ type: 'response.function_call_arguments.done', item_id: '', name: '' })
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

/** The events of `WHOLE`, with another last one. */
const streamWith = (response: object, keeps: (event: Record<string, unknown>) => boolean = () => true) =>
  [...eventsOf(answered(true, WHOLE).text).slice(0, -1).filter(keeps), { type: 'response.completed', response }]
    .map(sse)
    .join('')
const outputOf = (stream: string) => (JSON.parse(collected(responsesForms, stream)) as { output: unknown }).output
const HEAD = { id: 'resp_1', status: 'completed', usage: USAGE }

test.each<[what: string, response: object]>([
  ['no output', HEAD],
  ['an empty output', { ...HEAD, output: [] }],
  ['a null as its output', { ...HEAD, output: null }],
])('a last event with %s has that of the events before', (_, response) => {
  const { text: whole, facts } = answered(false, streamWith(response), { reads: { completion: true } })
  expect(JSON.parse(whole)).toEqual({ ...HEAD, output: OUTPUT })
  expect(facts.answer?.completion).toEqual(['Ö "n" 1.0', 'no'])
})

test('events are known by their lines alone, or by their types', () => {
  const response = { n: 1, output: [{ id: 'a' }] }
  for (const stream of [
    `event: response.completed\ndata: ${JSON.stringify({ response })}\n\n`,
    `event: response.completed\ndata: ${JSON.stringify({ type: 'own', response })}\n\n`,
    sse({ type: 'response.completed', response }),
  ]) {
    expect(JSON.parse(collected(responsesForms, sse({ n: 1 }) + stream))).toEqual(response)
  }
})

test('items keep the numbers and the order of the provider', () => {
  const item = (id: string, index: number) =>
    `data: {"type":"response.output_item.done","output_index":${index},"item":{"id":"${id}","n":12345678901234567890}}\n\n`
  const stream = `${item('b', 1)}${item('a', 0)}${sse({ type: 'response.completed', response: { n: 1 } })}`
  expect(collected(responsesForms, stream)).toBe(
    '{"n":1,"output":[{"id":"a","n":12345678901234567890},{"id":"b","n":12345678901234567890}]}',
  )
  const empty = sse({ type: 'response.completed', response: {} })
  expect(collected(responsesForms, empty)).toBe('{"output":[]}')
})

test('items that are never done have what has arrived of them', () => {
  const stream = (keeps: (type: string) => boolean) => streamWith(HEAD, ({ type }) => keeps(String(type)))
  expect(outputOf(stream((type) => type !== 'response.output_item.done'))).toEqual(OUTPUT)
  const deltas = outputOf(stream((type) => !type.endsWith('.done')))
  expect(deltas).toEqual(OUTPUT)
  // Without the beginnings of parts.
  const noParts = outputOf(stream((type) => !type.includes('part.') && type !== 'response.output_item.done'))
  expect(noParts).toEqual([
    OUTPUT[0],
    OUTPUT[1],
    {
      ...OUTPUT[2],
      content: [{ type: 'output_text', text: text.text, annotations: text.annotations }, OUTPUT[2]!.content![1]],
    },
    ...OUTPUT.slice(3),
  ])
})

test('the end of an incomplete response leaves its last item incomplete', () => {
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { id: 'm', type: 'message', status: 'in_progress' } },
    { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'Hel' },
    { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'lo' },
    { type: 'response.incomplete', response: { status: 'incomplete', output: [] } },
  ]
  const content = [{ type: 'output_text', annotations: [], text: 'Hello' }]
  expect(outputOf(events.map(sse).join(''))).toEqual([{ id: 'm', type: 'message', status: 'incomplete', content }])
})

test.each<[event: string, item: object, member: string]>([
  ['function_call_arguments', { type: 'function_call', arguments: '' }, 'arguments'],
  ['mcp_call_arguments', { type: 'mcp_call', arguments: '' }, 'arguments'],
  ['custom_tool_call_input', { type: 'custom_tool_call', input: '' }, 'input'],
  ['code_interpreter_call_code', { type: 'code_interpreter_call', code: null }, 'code'],
])('%s is a member of its item', (event, item, member) => {
  const piece = (state: string, more: object) => ({ type: `response.${event}.${state}`, output_index: 0, ...more })
  const stream = (...events: readonly object[]) =>
    [
      { type: 'response.output_item.added', output_index: 0, item },
      ...events,
      { type: 'response.completed', response: {} },
    ]
      .map(sse)
      .join('')
  const deltas = [piece('delta', { delta: 'a' }), piece('delta', { delta: 'b' })]
  expect(outputOf(stream(...deltas))).toEqual([{ ...item, [member]: 'ab' }])
  expect(outputOf(stream(...deltas, piece('done', { [member]: 'abc' })))).toEqual([{ ...item, [member]: 'abc' }])
  expect(outputOf(stream(...deltas, piece('delta', {})))).toEqual([{ ...item, [member]: 'ab' }])
  expect(outputOf(stream(...deltas, piece('done', {})))).toEqual([{ ...item, [member]: 'ab' }])
})

test.each<[event: string, index: string, list: string, part: object, member: string]>([
  ['output_text', 'content_index', 'content', { type: 'output_text', annotations: [] }, 'text'],
  ['refusal', 'content_index', 'content', { type: 'refusal' }, 'refusal'],
  ['reasoning_text', 'content_index', 'content', { type: 'reasoning_text' }, 'text'],
  ['reasoning_summary_text', 'summary_index', 'summary', { type: 'summary_text' }, 'text'],
])('%s is a part of its item', (event, index, list, part, member) => {
  const piece = (at: number, delta: string) => ({
    type: `response.${event}.delta`,
    output_index: 0,
    [index]: at,
    delta,
  })
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { id: 'i' } },
    ...[piece(1, 'c'), piece(0, 'a'), piece(0, 'b')],
    { type: 'response.completed', response: {} },
  ]
  const parts = ['ab', 'c'].map((text) => ({ ...part, [member]: text }))
  expect(outputOf(events.map(sse).join(''))).toEqual([{ id: 'i', [list]: parts }])
})

interface Told {
  readonly added?: readonly [index: number | undefined, id: string | undefined]
  readonly delta?: readonly [index: number | undefined, id: string | undefined, text: string]
  readonly done?: readonly [index: number | undefined, id: string | undefined, text: string]
}

const told = ({ added, delta, done }: Told) => {
  const about = ([output_index, id]: readonly [number | undefined, string | undefined, ...unknown[]]) => ({
    output_index,
    item: { id, type: 'function_call', arguments: '' },
  })
  if (added !== undefined) return { type: 'response.output_item.added', ...about(added) }
  if (delta !== undefined) {
    const [output_index, item_id, text] = delta
    return { type: 'response.function_call_arguments.delta', output_index, item_id, delta: text }
  }
  const { output_index, item } = about(done!)
  return { type: 'response.output_item.done', output_index, item: { ...item, arguments: done![2] } }
}

test.each<[what: string, events: readonly Told[], calls: readonly string[]]>([
  [
    'interleave',
    [{ added: [0, 'a'] }, { added: [1, 'b'] }, { delta: [1, 'b', 'B'] }, { delta: [0, 'a', 'A'] }],
    ['A', 'B'],
  ],
  [
    'all have the number 0',
    [
      { added: [0, 'a'] },
      { done: [0, 'a', 'A'] },
      { added: [0, 'b'] },
      { delta: [0, 'b', 'B'] },
      { done: [0, 'b', 'BB'] },
    ],
    ['A', 'BB'],
  ],
  ['all have the number 0, without beginnings', [{ done: [0, 'a', 'A'] }, { done: [0, 'b', 'B'] }], ['A', 'B']],
  [
    'have another id in each event',
    [
      { added: [0, 'a'] },
      { delta: [0, 'b', 'A'] },
      { done: [0, 'c', 'AA'] },
      { added: [1, 'd'] },
      { delta: [1, 'e', 'B'] },
    ],
    ['AA', 'B'],
  ],
  [
    'all have one id',
    [
      { added: [0, 'a'] },
      { done: [0, 'a', 'A'] },
      { added: [1, 'a'] },
      { delta: [1, 'a', 'B'] },
      { done: [1, 'a', 'BB'] },
    ],
    ['A', 'BB'],
  ],
  ['all have one id, without beginnings', [{ done: [0, 'a', 'A'] }, { done: [1, 'a', 'B'] }], ['A', 'B']],
  [
    'have no numbers',
    [
      { added: [undefined, 'a'] },
      { added: [undefined, 'b'] },
      { delta: [undefined, 'a', 'A'] },
      { done: [undefined, 'b', 'B'] },
    ],
    ['A', 'B'],
  ],
  [
    'have neither numbers nor ids',
    [{ done: [undefined, undefined, 'A'] }, { done: [undefined, undefined, 'B'] }],
    ['A', 'B'],
  ],
  ['are done twice', [{ done: [0, 'a', 'A'] }, { done: [0, 'a', 'AA'] }, { done: [undefined, 'a', 'AAA'] }], ['AAA']],
  ['have ends after they are done', [{ done: [0, 'a', 'A'] }, { delta: [0, 'a', 'B'] }], ['A']],
  ['have not begun', [{ delta: [0, 'a', 'A'] }, { done: [1, 'b', 'B'] }], ['B']],
])('items that %s', (_, events, calls) => {
  const stream = [...events.map(told), { type: 'response.completed', response: {} }].map(sse).join('')
  const output = outputOf(stream) as readonly { readonly arguments: string }[]
  expect(output.map((item) => item.arguments)).toEqual(calls)
})

test('memory is counted once, and too many items are a fault only if the last event lacks them', () => {
  const long = 'x'.repeat(1000)
  const events = [
    told({ added: [0, 'a'] }),
    ...Array.from({ length: 10 }, () => told({ delta: [0, 'a', long] })),
    { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'a', arguments: long.repeat(10) },
    told({ done: [0, 'a', long.repeat(10)] }),
  ]
  const stream = (response: object) => [...events, { type: 'response.completed', response }].map(sse).join('')
  const most = 10_000 + 13 * 64 + 60
  expect(collect(responsesForms, stream({}), most)?.kind).toBe('whole')
  expect(collect(responsesForms, stream({}), 10_000)).toEqual({ kind: 'unusable', what: 'the response is too large' })
  expect(collect(responsesForms, stream({ output: [{ id: 'a' }] }), 10_000)?.kind).toBe('whole')
})

test.each<[what: string, events: (i: number) => object]>([
  ['items', (i) => told({ done: [i, `id-${i}`, ''] })],
  ['parts', (content_index) => ({ type: 'response.output_text.delta', output_index: 0, content_index, delta: '' })],
  ['annotations', () => ({ type: 'response.output_text.annotation.added', output_index: 0, annotation: {} })],
])('a flood of %s ends at the limit', (_, event) => {
  const begun = told({ added: [0, 'a'] })
  const ends = { type: 'response.completed', response: {} }
  const stream = [begun, ...Array.from({ length: 100 }, (__, i) => event(i)), ends].map(sse).join('')
  expect(collect(responsesForms, stream, 101 * 64 - 1)).toEqual({ kind: 'unusable', what: 'the response is too large' })
  expect(collect(responsesForms, stream, 100_000)?.kind).toBe('whole')
})

test.each<[what: string, event: object]>([
  ['an item in an event of another type', { type: 'response.own', item: { id: 'x' } }],
  ['an end without an item', { type: 'response.output_item.done', output_index: 0 }],
  ['a part in an event of another type', { type: 'response.own', output_index: 0, part: { type: 'own' } }],
  ['an event without its part', { type: 'response.content_part.added', output_index: 0 }],
  ['a piece without a place', { type: 'response.output_text.delta', delta: 'x' }],
  ['a piece of an unknown type', { type: 'response.constructor.delta', output_index: 0, delta: 'x' }],
])('%s changes nothing', (_, event) => {
  const item = { id: 'm', type: 'message' }
  const begun = { type: 'response.output_item.added', output_index: 0, item }
  const stream = [begun, event, { type: 'response.completed', response: {} }].map(sse).join('')
  expect(outputOf(stream)).toEqual([item])
})

test('parts that an item begins with are continued', () => {
  const text = (end: string) => ({ type: 'output_text', text: `Hel${end}`, annotations: [] })
  const thought = (end: string) => ({ type: 'summary_text', text: `Hm${end}` })
  const item = (end: string) => ({ id: 'm', content: [text(end)], summary: [thought(end)] })
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: item('') },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'lo' },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'lo' },
    { type: 'response.completed', response: {} },
  ]
  expect(outputOf(events.map(sse).join(''))).toEqual([item('lo')])
})

test('a part that begins without annotations gets those that follow, without an index those of the first part', () => {
  const part = { type: 'output_text', text: 'a' }
  const annotated = (annotation?: object) => ({
    ...{ type: 'response.output_text.annotation.added', output_index: 0, annotation },
  })
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { id: 'm', content: [part] } },
    ...[annotated(), annotated({ url: 'u' }), annotated({ url: 'v' })],
    { type: 'response.completed', response: {} },
  ]
  const content = [{ ...part, annotations: [{ url: 'u' }, { url: 'v' }] }]
  expect(outputOf(events.map(sse).join(''))).toEqual([{ id: 'm', content }])
})

const lengthOf = (value: object) => JSON.stringify(value).length
const ITEM = { id: 'm', type: 'message', status: 'in_progress' }
const SHORT = { type: 'output_text', text: '' }
const PART = { type: 'output_text', text: 'some words' }
const DONE = { ...ITEM, status: 'completed', content: [PART] }

test.each<[what: string, event: object, growth: number]>([
  ['a part', { type: 'response.content_part.added', part: PART }, 0],
  ['a shorter part', { type: 'response.content_part.done', part: SHORT }, 0],
  ['a longer part', { type: 'response.content_part.done', part: { ...PART, own: 1 } }, ',"own":1'.length],
  ['no annotation', { type: 'response.output_text.annotation.added' }, 0],
  ['another part', { type: 'response.content_part.added', content_index: 1, part: PART }, lengthOf(PART)],
  ['the same item when it is done', { type: 'response.output_item.done', item: DONE }, 0],
  ['a longer item', { type: 'response.output_item.done', item: { ...DONE, own: 1 } }, ',"own":1'.length],
  ['another item', { type: 'response.output_item.done', output_index: 1, item: { ...ITEM, id: 'n' } }, lengthOf(ITEM)],
])('behind a part, %s needs room for what it adds', (_, event, growth) => {
  const asked: number[] = []
  const reader = responsesForms.collector((length) => asked.push(length) > 0)
  const begun = { type: 'response.output_item.added', item: ITEM }
  for (const each of [begun, { type: 'response.content_part.added', part: PART }, event]) {
    reader.event('', Buffer.from(JSON.stringify({ output_index: 0, ...each })))
  }
  expect(asked).toEqual([64 + lengthOf(ITEM), 64 + lengthOf(PART), 64 + growth])
})

test('the form that the client asked for passes unchanged', () => {
  expect(answered(true, sse(error), { contentType: 'text/event-stream' }).text).toBe(sse(error))
  expect(answered(false, WHOLE, { contentType: 'application/json' }).text).toBe(WHOLE)
})
