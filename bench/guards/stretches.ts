import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { reject } from '#exchange/outcome.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { FORMATS } from '#protocols/llm/dialects/index.ts'
import type { Guard, ServiceGuard } from '#protocols/llm/guards/guard.ts'
import { GuardedAnswer } from '#protocols/llm/guards/guard-answer.ts'
import { guardRequest } from '#protocols/llm/guards/guard-request.ts'
import { loadPhoneNumbers } from '#protocols/llm/guards/rules/phone-numbers.ts'
import { GuardedStream } from '#protocols/llm/guards/stream/guarded-stream.ts'
import { JsonValue, parseDocument } from '#protocols/llm/json/json-document.ts'
import { Nowhere } from '../nowhere.ts'
import { exchange, type GuardSpec, guardOf } from './whole-path.ts'

/** The longest time for which guards hold a worker at a stretch, for the largest bodies and events that they read. */

// As workers have it (workers/worker-pool.ts).
setFlagsFromString('--no-allocation-site-pretenuring')

const ALL: GuardSpec = {
  builtins: ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'],
  matches: ['sk-[A-Za-z0-9]{20,}', 'AKIA[0-9A-Z]{16}', '(?i)(password|secret)\\s*[:=]\\s*\\S+'],
}
const SIZE = 1_900_000
const PROSE = 'The quick brown fox jumps over the lazy dog, mails to jane@example.org and pays 1,250 dollars. '
const LONG = PROSE.repeat(Math.ceil(SIZE / PROSE.length)).slice(0, SIZE)

const encode = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const chat = (content: unknown, more: object = {}) =>
  encode({ model: 'm', messages: [{ role: 'user', content }], ...more })
const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))

function nested(depth: number): unknown {
  let value: unknown = 'mail jane@example.org'
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? { ['n'.repeat(4)]: value } : [value]
  return value
}

const call = (text: string) => [{ id: 'c', type: 'function', function: { name: 'f', arguments: text } }]
const called = (text: string) =>
  encode({ model: 'm', messages: [{ role: 'assistant', content: null, tool_calls: call(text) }] })

/** A request with a member that no interface has. */
const named = (json: string) => Buffer.from(`{"model":"m","messages":[],"odd":${json}}`)

const REQUESTS: Readonly<Record<string, Buffer>> = {
  'a text of 1.9 MB': chat(LONG),
  'a text of 1.9 MB with 270,000 addresses': chat('a@b.co '.repeat(SIZE / 7)),
  'a text of 1.9 MB in digits': chat('123-45-6789 '.repeat(SIZE / 12)),
  '20,000 parts': chat(many(20_000, (i) => ({ type: 'text', text: `part ${i} of ${PROSE.slice(0, 50)}` }))),
  '20,000 messages': encode({
    model: 'm',
    messages: many(20_000, (i) => ({ role: i % 2 ? 'user' : 'assistant', content: `${i} ${PROSE.slice(0, 40)}` })),
  }),
  '10,000 tools': chat('hello', {
    tools: many(10_000, (i) => ({ type: 'function', function: { name: `f${i}`, description: PROSE } })),
  }),
  '7,000 tools with schemas': chat('hello', {
    tools: many(7_000, (i) => ({
      type: 'function',
      function: {
        name: `f${i}`,
        description: PROSE,
        parameters: { type: 'object', properties: { a: { type: 'string', description: 'x' } } },
      },
    })),
  }),
  'deep objects': chat('x', { odd: many(400, () => nested(240)) }),
  'arguments of one string of 1.9 MB': called(JSON.stringify({ text: LONG })),
  'arguments of 60,000 strings': called(JSON.stringify(many(60_000, (i) => `mail ${i}@example.org`))),
  'arguments of 300,000 strings': called(JSON.stringify(many(300_000, () => 'ab'))),
  'a member whose name has 1.9 MB': chat('x', { [LONG]: 'y' }),
  'a member whose name has 1.9 MB of escapes': named(`{"${'\\u0061'.repeat(SIZE / 6)}":"y"}`),
  'a member in 1.9 MB of spaces': named(`{${' '.repeat(SIZE)}}`),
  'arguments with a name of 1.9 MB': called(JSON.stringify({ [LONG]: 'y' })),
  'arguments with a name of 1.9 MB of escapes': called(`{"${'\\u0061'.repeat(SIZE / 7)}":"y"}`),
  'a schema with eight names of 230 KB': chat('x', {
    tools: [
      {
        type: 'function',
        function: { name: 'f', parameters: Object.fromEntries(many(8, (i) => [`${LONG.slice(0, 230_000)}${i}`, 1])) },
      },
    ],
  }),
  'a file of 1.4 MB': chat([
    {
      type: 'file',
      file: { file_data: `data:text/plain;base64,${Buffer.from(LONG.slice(0, 1_400_000)).toString('base64')}` },
    },
  ]),
}

interface Stretch {
  readonly startMs: number
  readonly endMs: number
}

/** The longest times between two turns of the event loop: with collections of garbage, and without them. */
interface Longest {
  readonly allMs: number
  readonly workMs: number
  readonly inAllMs: number
}

const collections: Stretch[] = []
const observer = new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    collections.push({ startMs: startTime, endMs: startTime + duration })
  }
})
observer.observe({ entryTypes: ['gc'] })

async function longestStretch(run: () => unknown): Promise<Longest> {
  const stretches: Stretch[] = []
  let isOver = false
  let last = 0
  const next = () => {
    const now = performance.now()
    stretches.push({ startMs: last, endMs: now })
    last = now
  }
  const tick = () => {
    next()
    if (!isOver) setImmediate(tick)
  }
  await setTimeout(10)
  collections.length = 0
  const start = performance.now()
  last = start
  setImmediate(tick)
  await run()
  next()
  isOver = true
  const inAllMs = last - start
  // Collections are reported later.
  await setTimeout(10)
  const allMs = Math.max(...stretches.map(({ startMs, endMs }) => endMs - startMs))
  const workMs = Math.max(...stretches.map((stretch) => stretch.endMs - stretch.startMs - collectionMs(stretch)))
  return { allMs, workMs, inAllMs }
}

function collectionMs(stretch: Stretch): number {
  let ms = 0
  for (const { startMs, endMs } of collections) {
    ms += Math.max(0, Math.min(endMs, stretch.endMs) - Math.max(startMs, stretch.startMs))
  }
  return ms
}

/** The least and the median of a few runs: other programs share the machine. */
async function report(name: string, run: () => unknown): Promise<void> {
  if (process.argv[2] !== undefined && !name.includes(process.argv[2])) return
  const runs: Longest[] = []
  for (let i = 0; i < 7; i++) runs.push(await longestStretch(run))
  const shown = (of: (run: Longest) => number) => {
    const sorted = runs.map(of).toSorted((one, other) => one - other)
    return `${sorted[0]!.toFixed(1)} to ${sorted[3]!.toFixed(1)} ms`
  }
  const work = shown(({ workMs }) => workMs)
  const all = shown(({ allMs }) => allMs)
  console.log(`${name}: ${work} at a stretch, ${all} with collections, ${shown(({ inAllMs }) => inAllMs)} in all`)
}

function parseMs(body: Buffer): string {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 5; i++) {
    const start = performance.now()
    if (!(parseDocument(body) instanceof JsonValue)) return 'refused'
    best = Math.min(best, performance.now() - start)
  }
  return `${best.toFixed(1)} ms`
}

await loadPhoneNumbers()
const guards = { request: [guardOf('request', ALL)], response: [], closed: false as const }
const five = { request: many(5, () => guardOf('request', ALL)), response: [], closed: false as const }
for (const [name, body] of Object.entries(REQUESTS)) {
  await report(`request, ${name} (parsed in ${parseMs(body)})`, () =>
    guardRequest(guards, 'Completions', body, exchange()),
  )
}
await report('request, 20,000 parts, five guards', () =>
  guardRequest(five, 'Completions', REQUESTS['20,000 parts']!, exchange()),
)

/** A service that masks at once. */
const MASKING: ServiceGuard = {
  phase: 'request',
  index: 0,
  kind: 'webhook',
  refusal: reject('prompt-guard-rejected'),
  service: {
    kind: 'webhook',
    destination: 'masks',
    masks: true,
    judge: async ({ messages }) => ({
      kind: 'mask',
      contents: messages.map(({ content }) => content.replaceAll('jane@example.org', '<E>').replaceAll('jumps', '<J>')),
    }),
  },
}
for (const name of ['20,000 parts', '20,000 messages', 'a text of 1.9 MB']) {
  const masking = { request: [MASKING], response: [], closed: false as const }
  await report(`request, ${name}, masked by a service`, () =>
    guardRequest(masking, 'Completions', REQUESTS[name]!, exchange()),
  )
}
await report('request, a text of 1.9 MB, five guards', () =>
  guardRequest(five, 'Completions', REQUESTS['a text of 1.9 MB']!, exchange()),
)
await report('ten requests of 20,000 parts at once', () =>
  Promise.all(many(10, () => guardRequest(guards, 'Completions', REQUESTS['20,000 parts']!, exchange()))),
)
await report('ten requests of 200 KB at once', () =>
  Promise.all(many(10, () => guardRequest(guards, 'Completions', chat(LONG.slice(0, 200_000)), exchange()))),
)

const memory = new BodyMemory(2 ** 28)

function answer(body: Buffer): Promise<void> {
  const sink = new Nowhere()
  const options = {
    guards: [guardOf('response', ALL)],
    format: 'Completions' as const,
    exchange: exchange(),
    claim: new BodyClaim(memory),
    maxBytes: 2 ** 24,
    keep: undefined,
    isError: false,
  }
  const guarding = new GuardedAnswer(undefined, options).into(sink)
  guarding.bytes(body, 0, body.length)
  guarding.end()
  return sink.ended
}

const answered = (messages: unknown[]) =>
  encode({ id: 'a', choices: messages.map((message, index) => ({ index, message, finish_reason: 'stop' })) })
const ANSWERS = {
  'a text of 8 MB': answered([{ role: 'assistant', content: LONG.repeat(4) }]),
  '128 texts of 60 KB': answered(many(128, () => ({ role: 'assistant', content: LONG.slice(0, 60_000) }))),
  '18,000 calls': answered([
    { role: 'assistant', content: null, tool_calls: many(18_000, () => call('{"mail": "a@b.co"}')[0]) },
  ]),
}
for (const [name, body] of Object.entries(ANSWERS)) {
  await report(`answer, ${name} (parsed in ${parseMs(body)})`, () => answer(body))
}

function stream(events: readonly Buffer[], guard: Guard = guardOf('response', ALL)): Promise<void> {
  const sink = new Nowhere()
  const options = {
    guards: [guard],
    format: 'Completions' as const,
    stream: FORMATS.Completions.stream(),
    exchange: exchange(),
    claim: new BodyClaim(memory),
    maxEventBytes: 2 ** 21,
    kept: undefined,
  }
  const guarding = new GuardedStream(undefined, options).into(sink)
  const feed = async () => {
    for (const event of events) {
      for (let at = 0; at < event.length; at += 65_536) {
        guarding.bytes(event, at, Math.min(event.length, at + 65_536))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    guarding.end()
  }
  void feed()
  return sink.ended
}

const event = (delta: object) => Buffer.from(`data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta }] })}\n\n`)
const callDelta = (text: string) => ({ tool_calls: call(text).map((each) => ({ index: 0, ...each })) })
const eventOfCalls = (count: number) =>
  event({ tool_calls: many(count, (index) => ({ index, ...call('{"mail": "a@b.co"}')[0] })) })
const STREAMED: Readonly<Record<string, readonly Buffer[]>> = {
  'an event of 1.9 MB': [event({ content: LONG })],
  'two events of 1.9 MB': [event({ content: LONG }), event({ content: LONG })],
  'an event of 1.9 MB in digits': [event({ content: '123-45-6789 '.repeat(SIZE / 12) })],
  'arguments of one string of 1.9 MB': [event(callDelta(JSON.stringify({ text: LONG })))],
  'arguments of 60,000 strings': [event(callDelta(JSON.stringify(many(60_000, (i) => `mail ${i}@example.org`))))],
  'an event of 1,000 calls': [eventOfCalls(1_000)],
  'an event of 18,000 calls, which are too many': [eventOfCalls(18_000)],
  'events of 64 KB at once': [Buffer.concat(many(300, (i) => event({ content: `word ${i} ` })))],
}
for (const [name, events] of Object.entries(STREAMED)) await report(`stream, ${name}`, () => stream(events))
for (const name of ['an event of 1.9 MB', 'events of 64 KB at once']) {
  await report(`stream, ${name}, masked by a service`, () => stream(STREAMED[name]!, { ...MASKING, phase: 'response' }))
}
observer.disconnect()
