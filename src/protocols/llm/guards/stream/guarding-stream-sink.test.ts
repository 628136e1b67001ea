import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { GuardLoad } from '#exchange/guard-load.ts'
import { READS_NOTHING } from '#exchange/llm-reads.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { type Abort, BODY_CHUNKED, type BodySink, type BodySource } from '#net/stream.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith, runContext } from '#policies/shared/testing.ts'
import { eventually } from '#test/support/eventually.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { ChatType } from '../../dialects/index.ts'
import { FORMATS } from '../../dialects/index.ts'
import { KeptAnswer } from '../../facts/kept-answer.ts'
import type { Guard, RegexGuard, ServiceGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import type { ServiceVerdict } from '../services/service.ts'
import { GuardingStreamSink } from './guarding-stream-sink.ts'

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(async () => {
  time[Symbol.dispose]()
  // Slices of other tests count for this turn.
  await new Promise<void>((resolve) => setImmediate(resolve))
})

const refusal = reject('prompt-guard-rejected', { status: 403, body: 'no' })
const SECRET: RegexGuard = {
  ...{ phase: 'response', index: 0, kind: 'regex', rejects: false, refusal },
  rules: compileRules({ matches: ['secret-[0-9]+'] }, () => {}),
}
const OTHER: RegexGuard = { ...SECRET, index: 1, rules: compileRules({ matches: ['other'] }, () => {}) }

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const DONE = 'data: [DONE]\n\n'

/** A service that answers when the test says so. */
function service({ masks = true } = {}) {
  const asked: ((verdict: ServiceVerdict) => Promise<void>)[] = []
  const judge = () =>
    new Promise<ServiceVerdict>((resolve) =>
      asked.push(async (verdict) => {
        resolve(verdict)
        await new Promise<void>((later) => setImmediate(later))
      }),
    )
  const guard: ServiceGuard = {
    ...{ phase: 'response', index: 0, kind: 'webhook', refusal },
    service: { kind: 'webhook', destination: 'ProxyBackend/default/judge', masks, judge },
  }
  return { guard, asked }
}

/** What the client gets. */
class Client implements BodySink {
  backed = false
  readonly takesFramed = false
  source: BodySource | null = null
  text = ''
  ended = 0
  aborted: Abort | undefined
  trailers: Head | undefined

  bytes(buffer: Buffer, start: number, end: number): void {
    this.text += buffer.toString('utf8', start, end)
  }

  end(trailers?: Head): void {
    this.ended++
    this.trailers = trailers
  }

  abort(why: Abort): void {
    this.aborted = why
  }
}

function sinkWith(
  guards: readonly Guard[],
  memoryBytes = 4_000_000,
  format: ChatType = 'Completions',
  kept?: KeptAnswer,
) {
  const exchange = exchangeWith()
  let now = 1_000
  let leave = () => {}
  let held = 0
  exchange.startMonotonicMs = 900
  exchange.context = runContext({
    monotonic: () => now,
    whenOver: (over) => {
      leave = over
    },
    guardLoad: new GuardLoad(
      {
        add(bytes) {
          held += bytes
        },
      },
      { add: () => {} },
    ),
  })
  exchange.response = Head.response(200)
  const out = new Client()
  const told: (string | Refusal)[] = []
  const sink = new GuardingStreamSink(out, {
    guards,
    format,
    stream: FORMATS[format].stream(),
    exchange,
    claim: roomFor(2_000_000, memoryBytes).claim,
    maxEventBytes: 100_000,
    kept,
    begin: () => void told.push('begin'),
    refused: (why) => void told.push(why),
    over: () => void told.push('over'),
  })
  const source = {
    kind: BODY_CHUNKED,
    length: -1,
    pipe: () => {},
    resumed: 0,
    pause: () => {},
    resume: () => void source.resumed++,
  }
  sink.source = source as unknown as BodySource
  const send = (text: string) => sink.bytes(Buffer.from(text), 0, Buffer.byteLength(text))
  return {
    ...{ sink, out, told, exchange, send, source },
    pass(ms: number) {
      now += ms
    },
    leave: () => leave(),
    held: () => held,
  }
}

test('the end passes with its trailers, after what was held', async () => {
  const { guard, asked } = service()
  for (const guards of [[SECRET], [guard]]) {
    const { sink, out, send } = sinkWith(guards)
    send(chunk({ content: 'a secr' }))
    const trailers = Head.response(200)
    trailers.set('x-sum', '1')
    trailers.set('content-digest', 'sha-256=:x:')
    sink.end(trailers)
    trailers.remove('x-sum')
    await asked[0]?.({ kind: 'pass' })
    expect(out.text).toBe(chunk({ content: 'a secr' }))
    expect([out.ended, out.aborted]).toEqual([1, undefined])
    expect(out.trailers!.get('x-sum')).toBe('1')
    expect(out.trailers!.has('content-digest')).toBe(false)
  }
})

const typed = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`

/** Events without text, in the order of a stream, and one with text. */
const WITHOUT_TEXT: Readonly<Record<ChatType, readonly [events: readonly string[], text: string]>> = {
  Completions: [
    [
      `data: ${JSON.stringify({ id: 'c1', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })}\n\n`,
      ':\n\n',
      chunk({}),
      `data: ${JSON.stringify({ id: 'c1', choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } })}\n\n`,
    ],
    chunk({ content: 'text' }),
  ],
  Messages: [
    [
      typed('message_start', { message: { id: 'm1', role: 'assistant', content: [], usage: { input_tokens: 3 } } }),
      typed('ping', {}),
      typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text: '' } }),
    ],
    typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'text' } }),
  ],
  Responses: [
    [
      typed('response.created', { sequence_number: 0, response: { id: 'r1', status: 'in_progress', output: [] } }),
      typed('response.output_item.added', {
        sequence_number: 1,
        output_index: 0,
        item: { id: 'msg1', type: 'message', role: 'assistant', content: [] },
      }),
      typed('response.content_part.added', {
        sequence_number: 2,
        ...{ item_id: 'msg1', output_index: 0, content_index: 0, part: { type: 'output_text', text: '' } },
      }),
    ],
    typed('response.output_text.delta', {
      sequence_number: 3,
      ...{ item_id: 'msg1', output_index: 0, content_index: 0, delta: 'text' },
    }),
  ],
}

test.each(Object.entries(WITHOUT_TEXT))(
  'events of %s without text wait only for text before them',
  async (format, [events, text]) => {
    const { guard, asked } = service()
    const { sink, out, send } = sinkWith([guard], undefined, format as ChatType)
    for (const event of events) send(event)
    expect(out.text).toBe(events.join(''))
    send(text)
    for (const event of events.slice(1)) send(event)
    expect(out.text).toBe(events.join(''))
    sink.end()
    await asked[0]!({ kind: 'pass' })
    expect(out.text).toBe([...events, text, ...events.slice(1)].join(''))
  },
)

test.each<[format: ChatType, deltas: (text: string) => string]>([
  ['Completions', (content) => chunk({ content })],
  ['Messages', (text) => typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })],
  [
    'Responses',
    (delta) => typed('response.output_text.delta', { item_id: 'i', output_index: 0, content_index: 0, delta }),
  ],
])('expressions read what the client gets of a stream of %s', (format, delta) => {
  const kept = new KeptAnswer({ ...READS_NOTHING, completion: true }, 10_000)
  const { sink, send } = sinkWith([SECRET], undefined, format, kept)
  for (const text of ['a ', 'secret-1 b ', 'secr', 'et-22', ' c']) send(delta(text))
  sink.end()
  expect(kept.completion).toEqual(['a <masked> b <masked> c'])
})

test('choices that take turns have windows of their own, and leave in the order of the provider', async () => {
  const { guard, asked } = service({ masks: false })
  const { sink, out, send } = sinkWith([guard])
  const choice = (index: number) =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content: 'a word '.repeat(147).slice(0, 1024) } }] })}\n\n`
  const events = [choice(0), choice(1), choice(2), choice(0)]
  for (const event of events) send(event)
  expect(asked.length).toBe(4)
  // The verdicts come in another order.
  for (const index of [2, 3, 1]) {
    await asked[index]!({ kind: 'pass' })
    expect(out.text).toBe('')
  }
  await asked[0]!({ kind: 'pass' })
  await eventually('the last event leaves', () => out.text.length >= events.join('').length)
  expect(out.text).toBe(events.join(''))
  sink.end()
  expect(out.ended).toBe(1)
})

test('an event without the empty line after it is one as well', () => {
  const { sink, out, send } = sinkWith([SECRET])
  send(chunk({ content: 'secret-1 ' }) + chunk({ content: 'secret-2 ' }).trimEnd())
  sink.end()
  expect(out.text).toBe(chunk({ content: '<masked> ' }) + chunk({ content: '<masked> ' }).trimEnd())
  expect(out.ended).toBe(1)
})

test('what had arrived passes before the connection breaks off, and nothing after the client has disconnected', async () => {
  const { guard, asked } = service()
  const broken = sinkWith([guard])
  broken.send(chunk({ content: 'hello' }))
  broken.sink.abort('reset')
  expect([broken.out.text, broken.out.aborted]).toEqual(['', undefined])
  await asked[0]!({ kind: 'pass' })
  expect([broken.out.text, broken.out.aborted, broken.out.ended]).toEqual([chunk({ content: 'hello' }), 'reset', 0])

  const left = sinkWith([guard])
  left.send(chunk({ content: 'hello' }))
  left.sink.abort('cancelled')
  expect([left.out.text, left.out.aborted]).toEqual(['', 'cancelled'])
  expect(left.held()).toBe(0)

  const gone = sinkWith([SECRET])
  gone.send(chunk({ content: 'a secr' }))
  expect(gone.held()).toBeGreaterThan(0)
  gone.leave()
  expect(gone.held()).toBe(0)
  gone.send(chunk({ content: 'late ' }))
  gone.sink.end()
  expect([gone.out.text, gone.out.ended]).toEqual(['', 0])
})

test('the provider waits as long as services have no room, and goes on after their verdict', async () => {
  const { guard, asked } = service()
  const { sink, out, send, source } = sinkWith([guard])
  const body = chunk({ content: 'x'.repeat(1_024) })
  send(body)
  expect(sink.backed).toBe(false)
  send(body)
  expect(sink.backed).toBe(true)
  // The client has room, and the services do not.
  out.source!.resume()
  expect(source.resumed).toBe(0)
  await asked[0]!({ kind: 'pass' })
  expect([out.text, sink.backed, source.resumed]).toEqual([body, false, 1])
  await asked[1]!({ kind: 'pass' })
  expect(out.text).toBe(body + body)
  out.backed = true
  expect(sink.backed).toBe(true)
  out.source!.resume()
  expect(source.resumed).toBe(3)
})

test('a provider that waits because much is held takes no pause: what there is of all texts is judged at once', async () => {
  const { guard, asked } = service()
  const { sink, out, send } = sinkWith([guard])
  const padding = ' '.repeat(2_000)
  const word = (index: number) =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content: 'word ' } }] })}${padding}\n\n`
  const events = Array.from({ length: 10 }, (_, index) => word(index % 2))
  for (const event of events.slice(0, 7)) send(event)
  expect([asked.length, sink.backed]).toEqual([0, false])
  send(events[7]! + events[8]!)
  expect([asked.length, sink.backed]).toEqual([2, true])
  // Verdicts make room for what waits, which is less than is held at a time.
  await asked[0]!({ kind: 'pass' })
  expect(out.text).toBe(events[0])
  await asked[1]!({ kind: 'pass' })
  expect([out.text, sink.backed]).toEqual([events.slice(0, 8).join(''), false])
  send(events[9]!)
  sink.end()
  expect(asked.length).toBe(4)
  for (const answer of asked.slice(2)) await answer({ kind: 'pass' })
  expect([out.text, out.ended]).toEqual([events.join(''), 1])
})

test('what waits unread when the client has room is read first', async () => {
  const { guard, asked } = service()
  const { sink, out, send, source } = sinkWith([guard])
  const body = chunk({ content: 'x'.repeat(1_024) })
  // More than is read at once: a part of it waits.
  send(body.repeat(12))
  expect(sink.backed).toBe(true)
  out.source!.resume()
  expect(source.resumed).toBe(0)
  sink.end()
  expect(out.ended).toBe(0)
  for (const answer of asked) await answer({ kind: 'pass' })
  expect([out.text, out.ended]).toEqual([body.repeat(12), 1])
})

test('what has passed leaves before a rejection, whichever verdict comes first', async () => {
  const { guard, asked } = service({ masks: false })
  const { out, told, send } = sinkWith([guard])
  const [first, second] = ['x', 'y'].map((letter) => chunk({ content: letter.repeat(1_024) }))
  send(first! + second!)
  await asked[1]!({ kind: 'reject' })
  expect([out.text, told]).toEqual(['', []])
  await asked[0]!({ kind: 'pass' })
  expect(out.text.startsWith(`${first}data: {"error"`)).toBe(true)
  expect(out.text).not.toContain('yy')
  expect(told).toEqual(['begin', expect.objectContaining({ code: 'prompt-guard-rejected' }), 'over'])
})

test('what passes during long work leaves before a rejection during the same work', async () => {
  workSlowly()
  const { guard, asked } = service()
  const { sink, out, send } = sinkWith([guard])
  const [first, second] = ['x', 'y'].map((letter) => chunk({ content: letter.repeat(1_024) }))
  send(first!)
  await vi.waitFor(() => expect(asked).toHaveLength(1))
  await vi.waitFor(() => expect(sink.backed).toBe(false))
  send(second! + chunk({}).repeat(2_000))
  guard.service.judge = () => Promise.resolve({ kind: 'reject' })
  expect(sink.backed).toBe(true)
  void asked[0]!({ kind: 'pass' })
  await vi.waitFor(() => expect(out.ended).toBe(1))
  expect(out.text.startsWith(`${first}data: {"error"`)).toBe(true)
})

test('long texts between a service and patterns leave in their order, with all masks', async () => {
  const { guard, asked } = service()
  const { sink, out, send } = sinkWith([OTHER, guard, SECRET])
  const long = 'x '.repeat(6000)
  send(
    chunk({ content: `${long}other, secret-1 ` }) +
      chunk({ content: 'and secret-' }) +
      chunk({ content: '22' }, 'stop') +
      DONE,
  )
  sink.end()
  expect(out.text).toBe('')
  for (let at = 0; at < asked.length; at++) await asked[at]!({ kind: 'pass' })
  await vi.waitFor(() => expect(out.ended).toBe(1))
  const masked = [`${long}<masked>, <masked> `, 'and <masked>', '']
  expect(out.text).toBe(masked.map((content, at) => chunk({ content }, at === 2 ? 'stop' : null)).join('') + DONE)
})

test('long texts that wait for patterns do not leave after a rejection', async () => {
  const { guard, asked } = service()
  const { out, send } = sinkWith([guard, SECRET])
  send(chunk({ content: `secret-1 ${'x '.repeat(6000)}` }))
  await asked[0]!({ kind: 'reject' })
  expect(out.text).not.toContain('x x')
  expect(out.ended).toBe(1)
})

/** Each look at the clock is a millisecond later, so that long work takes many turns. The clock of the test ends it. */
function workSlowly(): void {
  let now = 1
  clock.monotonic = () => now++
}

const LONG = chunk({ content: 'a secret-1 '.repeat(1000) })
const LONG_MASKED = chunk({ content: 'a <masked> '.repeat(1000) })

test('what comes during long work, and after it, passes in its order', async () => {
  workSlowly()
  const { sink, out, send, source } = sinkWith([SECRET])
  send(LONG)
  expect([sink.backed, out.text]).toEqual([true, ''])
  // A source may deliver what it has read before it was told to wait.
  send(chunk({ content: ' b secret-2 ' }))
  await vi.waitFor(() => expect(source.resumed).toBe(1))
  expect([sink.backed, out.text]).toEqual([false, LONG_MASKED + chunk({ content: ' b <masked> ' })])
  send(chunk({ content: ' c secret-3 ' }))
  await vi.waitFor(() => expect(out.text.endsWith(chunk({ content: ' c <masked> ' }))).toBe(true))
  send(LONG)
  sink.end()
  expect(out.ended).toBe(0)
  await vi.waitFor(() => expect(out.ended).toBe(1))
  expect(out.text.endsWith(LONG_MASKED)).toBe(true)
  expect(source.resumed).toBe(1)
})

test.each([
  ['a long event', `data: {${' '.repeat(20_000)}"choices":[{"index":0,"delta":{}}]}\n\n`],
  ['many events', chunk({}).repeat(150)],
])('a verdict at any time of the work for %s releases what waits for it', async (_, body) => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  let turns = 0
  // Until the work is over before the verdict.
  for (let wait = 0; turns === wait && wait < 100; wait++) {
    workSlowly()
    const { guard, asked } = service()
    const { sink, out, send } = sinkWith([guard])
    const first = chunk({ content: 'x'.repeat(1_024) })
    send(first)
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    send(body)
    for (turns = 0; turns <= wait && sink.backed; turns++) await turn()
    void asked[0]!({ kind: 'pass' })
    for (let left = 0; left < 200 && out.text.length < first.length + body.length; left++) await turn()
    expect(out.text, `a verdict after ${wait} turns`).toBe(first + body)
    sink.abort('cancelled')
  }
  expect(turns).toBeGreaterThan(1)
})

test('the memory of long events is free when they have passed', () => {
  const { out, send, told } = sinkWith([SECRET])
  const event = chunk({ content: 'word '.repeat(18_000) })
  for (let times = 0; times < 60; times++) send(event)
  expect(told).toEqual(['begin'])
  expect(out.text === event.repeat(60)).toBe(true)
})

test('a long event for which no memory is left ends the stream', () => {
  const { out, told, send } = sinkWith([SECRET], 10_000)
  send(chunk({ content: 'word '.repeat(1_300) }))
  expect(told[0]).toMatchObject({ detail: 'promptGuard.response[0]: regex: there is no memory for the stream' })
  expect(out.text).not.toContain('word')
})

test('what comes during long work and has no room in memory ends the stream', async () => {
  workSlowly()
  const { told, send } = sinkWith([SECRET])
  send(LONG)
  send(chunk({ content: 'word '.repeat(300_000) }))
  await vi.waitFor(() => expect(told).toHaveLength(2))
  expect(told[0]).toMatchObject({ detail: 'promptGuard.response[0]: regex: there is no memory for the stream' })
})

test('a half event at a break is not an event', () => {
  const { sink, out, send } = sinkWith([SECRET])
  send(`${chunk({ content: 'a ' })}data: {"choi`)
  sink.abort('reset')
  expect([out.text, out.aborted, out.ended]).toEqual([chunk({ content: 'a ' }), 'reset', 0])
})

test('an event whose text is masked at once leaves at once', () => {
  const { out, send } = sinkWith([SECRET])
  for (const [sent, masked] of [
    [' a secret-1 ', ' a <masked> '],
    [' b secret-2.', ' b <masked>.'],
  ] as const) {
    out.text = ''
    send(chunk({ content: sent }))
    expect(out.text).toBe(chunk({ content: masked }))
  }
})

test('the end mark ends all texts, before the connection ends', () => {
  const { out, send } = sinkWith([SECRET])
  send(chunk({ content: 'a secr' }))
  expect(out.text).toBe('')
  send(DONE)
  expect(out.text).toBe(chunk({ content: 'a secr' }) + DONE)
})

test('the head waits for the first text', () => {
  const { told, send } = sinkWith([SECRET])
  send(chunk({ role: 'assistant', content: '' }))
  send(chunk({ content: 'secr' }))
  expect(told).toEqual([])
  send(chunk({ content: 'et ' }))
  expect(told).toEqual(['begin'])
  send(chunk({ content: 'more ' }))
  expect(told).toEqual(['begin'])
})

test('each pattern guard has one record of the whole stream', () => {
  const { exchange, send, sink, pass } = sinkWith([SECRET, OTHER])
  pass(30)
  send(chunk({ content: 'a secret-1 ' }) + chunk({ content: 'secret-2' }) + DONE)
  sink.end()
  const common = { phase: 'response', kind: 'regex', count: 1, length: 19, startMs: 100, durationMs: 30 }
  expect(exchange.guardChecks).toMatchObject([
    { ...common, index: 0, verdict: 'Mask' },
    { ...common, index: 1, verdict: 'Allow' },
  ])
  // A stream that has ended has no second end.
  sink.end()
  expect(exchange.guardChecks).toHaveLength(2)
})

const RULES: RegexGuard = {
  ...SECRET,
  rules: compileRules({ matches: ['secret-[0-9]+', 'never', 'other'], builtins: ['Ssn'] }, () => {}),
}
const call = (part: string) => chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: part } }] })

test.each<[what: string, events: string, check: object]>([
  [
    'all that have masked, in their order',
    chunk({ content: '078-05-1120 other ' }) + chunk({ content: 'secret-1 other ' }),
    { verdict: 'Mask', rule: 'matches[0], matches[2], Ssn', placeholder: '<masked>, <masked>, <SSN>' },
  ],
  ['none if nothing matches', chunk({ content: 'hi ' }), { verdict: 'Allow', rule: undefined }],
])('the record of a stream names rules: %s', (_, events, check) => {
  const { exchange, send, sink } = sinkWith([RULES])
  send(events + DONE)
  sink.end()
  expect(exchange.guardChecks).toMatchObject([{ placeholder: undefined, detail: undefined, ...check }])
})

test('the arguments of calls have records of their own', () => {
  const { exchange, send, sink } = sinkWith([RULES])
  inOneTurn(() => send(chunk({ content: 'secret-1 ' }) + call('{"a":"other"') + call('}') + DONE))
  inOneTurn(() => sink.end())
  expect(exchange.guardChecks).toMatchObject([
    { verdict: 'Mask', rule: 'matches[2]', placeholder: '<masked>' },
    { verdict: 'Mask', rule: 'matches[0]', placeholder: '<masked>' },
  ])
})

test('a stream may have 1,024 open texts', () => {
  const { out, told, send, held } = sinkWith([SECRET])
  const choices = (indexes: readonly number[]) =>
    `data: ${JSON.stringify({ choices: indexes.map((index) => ({ index, delta: { content: 'secret-1 ' } })) })}\n\n`
  const all = Array.from({ length: 1024 }, (_, index) => index)
  send(choices(all))
  expect(out.text.match(/<masked>/g)).toHaveLength(1024)
  send(choices([1024]))
  expect(told[1]).toMatchObject({ detail: 'promptGuard.response[0]: regex: too many texts are open' })
  expect(held()).toBe(0)
})

test('a rejection ends the stream once, although the provider has ended it: the client gets its error, the provider is told, and the log knows the guard', async () => {
  const { guard, asked } = service()
  const { sink, out, told, exchange, send, held } = sinkWith([guard, SECRET])
  send(chunk({ content: 'hello' }))
  sink.end()
  await asked[0]!({ kind: 'reject' })
  const refused = { ...refusal, detail: 'promptGuard.response[0]: webhook rejected' }
  expect(told).toEqual([refused, 'over'])
  expect(out.text).toBe(
    'data: {"error":{"message":"no","type":"permission_error","param":null,"code":"guardrail_intervention"}}\n\n',
  )
  expect([out.ended, held()]).toEqual([1, 0])
  const { reason, refusal: code, refusalDetail } = exchange
  expect([reason, code, refusalDetail]).toEqual(['Guardrail', 'prompt-guard-rejected', refused.detail])
  expect(exchange.guardChecks).toMatchObject([
    { index: 0, verdict: 'Reject' },
    { index: 0, kind: 'regex', verdict: 'Allow' },
  ])
})

test.each<[guards: readonly Guard[], name: string, check: object]>([
  [[SECRET, OTHER], 'regex', { kind: 'regex', verdict: 'Fail', length: 3 }],
  [[service().guard], 'webhook default/judge', { kind: 'webhook', verdict: 'Fail', length: 0 }],
])('what cannot be checked is a failure of the first guard', (guards, name, check) => {
  const { out, told, exchange, send } = sinkWith(guards)
  send(`${chunk({ content: 'hi ' })}data: {\n\n`)
  expect(told.at(-2)).toMatchObject({
    code: 'prompt-guard-failed',
    detail: `promptGuard.response[0]: ${name}: event 1 of the stream is not JSON`,
  })
  expect(out.text).toContain('prompt guard failed')
  expect(exchange.guardChecks![0]).toMatchObject({ ...check, detail: 'event 1 of the stream is not JSON' })
  expect(exchange.refusal).toBe('prompt-guard-failed')
})

test('an event over the limit ends the stream', () => {
  const { told, send } = sinkWith([SECRET])
  send(`data: "${'x'.repeat(100_001)}`)
  expect(told[0]).toMatchObject({ detail: 'promptGuard.response[0]: regex: an event of the stream is too large' })
})

test('a stream for which no memory is left ends', () => {
  const { told, send } = sinkWith([service().guard])
  send(chunk({ content: 'x'.repeat(1_024) }).repeat(2_000))
  expect(told[0]).toMatchObject({
    detail: 'promptGuard.response[0]: webhook default/judge: there is no memory for the stream',
  })
})

test.each([
  ['more than an event may have', 4_000_000],
  ['more than there is memory for', 20_000],
])('a stream with %s in texts that may be repeated passes, until one is repeated', (_, memoryBytes) => {
  const { out, told, send } = sinkWith([SECRET], memoryBytes, 'Responses')
  const delta = (text: string, item: number) =>
    typed('response.output_text.delta', { output_index: item, content_index: 0, delta: text })
  const done = (text: string, item: number) =>
    typed('response.output_text.done', { output_index: item, content_index: 0, text })
  send(delta('short', 0) + done('short', 0))
  const long = 'word '.repeat(200)
  for (let count = 0; count < 150; count++) send(delta(long, 1))
  const passed = delta('short', 0) + done('short', 0) + delta(long, 1).repeat(150)
  expect(out.text).toBe(passed)
  send(done(long, 1))
  expect(out.text.slice(passed.length)).toMatch(/^event: error\n.*prompt guard failed.*\n\n$/)
  expect(told[1]).toMatchObject({ detail: expect.stringContaining('too long to be kept') })
})
