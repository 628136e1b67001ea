import { join } from 'node:path'
import { runAtOnce } from '#base/in-slices.ts'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { Head } from '#net/http/head.ts'
import type { BodySink, BodySource } from '#net/stream.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { observeResponse } from '#protocols/llm/answer/read-response.ts'
import type { ResponsePlan } from '#protocols/llm/answer/response-plan.ts'
import type { WireDialect } from '#protocols/llm/chat/dialect.ts'
import { PROVIDER_DIALECTS } from '#protocols/llm/dialects/index.ts'
import {
  type ChatTranslation,
  type TranslatedRequest,
  translateInSteps,
} from '#protocols/llm/translation/translate-request.ts'
import {
  readCompletion,
  readCompletionsStream,
  readMessage,
  readMessagesStream,
  readResponse,
  readResponsesStream,
  type Said,
} from '#test/llm/answer-forms.ts'
import { readAnswer, readCases, readStream } from '#test/llm/harness.ts'
import { seeded } from '../net/mutate.ts'
import { mutateJson } from './mutate-json.ts'

// Usage: node fuzz/llm/translation.ts [seconds] [seed]
// See README.md in this folder.

const seconds = Number(process.argv[2] ?? 30)
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 31)
const runs = Number(process.argv[4] ?? Number.POSITIVE_INFINITY)

/** One step of a run takes no longer, unless the machine is busy. */
const MAX_STEP_MS = 2000
const MAX_BODY_BYTES = 1 << 20
const MEMORY_BYTES = 1 << 22

const CLIENTS = [
  { type: 'Completions', dialect: 'completions', readStream: readCompletionsStream, readWhole: readCompletion },
  { type: 'Messages', dialect: 'messages', readStream: readMessagesStream, readWhole: readMessage },
  { type: 'Responses', dialect: 'responses', readStream: readResponsesStream, readWhole: readResponse },
] as const
type Client = (typeof CLIENTS)[number]

/** One event of a stream: its name, if its dialect has one, and its data, parsed if it is JSON. */
interface Event {
  readonly name: string
  readonly data: unknown
}

interface Corpus {
  readonly requests: readonly unknown[]
  readonly answers: readonly unknown[]
  readonly streams: readonly (readonly Event[])[]
}

const root = join(import.meta.dirname, '../../test/llm')
const PROVIDERS = (Object.keys(PROVIDER_DIALECTS) as WireDialect[]).map((dialect) => ({
  dialect,
  corpus: readCorpus(dialect),
}))
const REQUESTS = CLIENTS.map(({ dialect }) => readCorpus(dialect).requests)

const counts = { requests: 0, sent: 0, answers: 0, streams: 0, whole: 0, failed: 0, refused: 0 }
let seed = firstSeed
let input: unknown

function tryOnce(random: () => number): void {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const client = pick(CLIENTS)
  const requests = REQUESTS[CLIENTS.indexOf(client)]!
  const provider = pick(PROVIDERS.filter(({ dialect }) => dialect !== client.dialect))
  const request = random() < 0.3 ? pick(requests) : mutateJson(pick(requests), random, requests)
  input = request
  const translated = send(client, provider.dialect, request)
  const plain = translated ?? send(client, provider.dialect, { ...plainRequest(client), stream: random() < 0.7 })!
  answer(client, provider, plain, random, pick)
}

/** Every provider takes it. */
const PLAIN = { model: 'claude-opus-4', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
const PLAIN_INPUT = { model: 'claude-opus-4', input: 'hi' }

function plainRequest({ type }: Client): object {
  return type === 'Responses' ? PLAIN_INPUT : PLAIN
}

/** @returns undefined if the request is refused */
function send({ type }: Client, dialect: WireDialect, request: unknown): TranslatedRequest | undefined {
  counts.requests++
  const body = encode(JSON.stringify(request))
  const translated = runAtOnce(
    translateInSteps(type, { kind: 'send', dialect, path: '/' }, body, Head.request('POST', '/'), undefined),
  )
  if ('kind' in translated) {
    JSON.parse(translated.body as string)
    return undefined
  }
  counts.sent++
  const sent: unknown = JSON.parse(decode(translated.body))
  if (typeof sent !== 'object' || sent === null) throw new Error('no object is sent')
  return translated
}

function answer(
  client: Client,
  { corpus, dialect }: (typeof PROVIDERS)[number],
  { answer: translation }: TranslatedRequest,
  random: () => number,
  pick: <T>(list: readonly T[]) => T,
): void {
  if (translation.kind !== 'chat') return
  const isStream = random() < 0.7
  const isBroken = random() < 0.2
  const body = isStream ? makeStream(dialect, corpus, random, pick) : makeAnswer(corpus, random, pick)
  input = { client: client.dialect, provider: dialect, streamed: translation.streamed, isBroken, body: decode(body) }
  const exchange = exchangeWith()
  exchange.llm = { ...NO_LLM }
  exchange.response = Head.response(200)
  exchange.response.set('content-type', isStream ? STREAM_TYPES[dialect]! : 'application/json')
  const plan: ResponsePlan = {
    wire: client.type,
    hidesUsage: false,
    kept: undefined,
    native: undefined,
    translation,
    guards: [],
    maxBytes: MAX_BODY_BYTES,
    account: undefined,
  }
  const memory = new BodyMemory(MEMORY_BYTES)
  const claim = new BodyClaim(memory)
  const filter = observeResponse(plan, exchange, { claim, decoding: RESPONSE_DECODING })!
  const received = new Received()
  const sink = filter.into(received)
  let isCancelled = false
  filter.whenOver?.(() => {
    isCancelled = true
  })
  for (const piece of cut(body, random)) {
    // As the memory of connections, it is overwritten.
    const bytes = Buffer.concat([piece])
    if (!isCancelled) sink.bytes(bytes, 0, bytes.length)
    bytes.fill(0xaa)
  }
  if (!isCancelled && isBroken) sink.abort('reset')
  else if (!isCancelled) sink.end()
  if (!received.isEnded) throw new Error('the answer has no end')
  if (memory.heldBytes > MEMORY_BYTES) throw new Error('more memory is held than there is')
  claim.release()
  if (memory.heldBytes !== 0) throw new Error('memory is not given back')
  counts[translation.streamed ? 'streams' : 'answers']++
  if (filter.refusal !== undefined) {
    counts.refused++
    // A whole answer is held to its end, also if the client gets a stream of it.
    if (filter.whole !== true && isStream) throw new Error('a stream is refused behind its head')
    JSON.parse(filter.refusal.body as string)
    return
  }
  const said = translation.streamed ? client.readStream(received.text) : client.readWhole(received.text)
  const { hasFailed } = said
  if (hasFailed && filter.failure === undefined) throw new Error('the failure is not known')
  if (!hasFailed) compare(said, wholeSaid(translation, body, isStream), client)
  counts[hasFailed ? 'failed' : 'whole']++
}

/** The texts and thoughts of the answer must be those that its reader finds, and so must be the calls where the dialect has all of them. */
function compare(said: Said, given: Said, { dialect }: Client): void {
  const members = dialect === 'completions' ? (['text', 'thinking'] as const) : (['text', 'thinking', 'names'] as const)
  for (const member of members) {
    const [one, other] = [said, given].map((each) =>
      member === 'names' ? JSON.stringify(each.calls.map(([name]) => name)) : sorted(each[member].toWellFormed()),
    )
    if (one !== other) throw new Error(`the ${member} of the answer: ${one} instead of ${other}`)
  }
}

/** Refusals have a place of their own in some dialects, so that the order of texts may differ. */
function sorted(text: string): string {
  return [...text].sort().join('')
}

/** What a reader finds in an answer that arrives in one piece. */
function wholeSaid({ from, names }: ChatTranslation, body: Uint8Array, isStream: boolean): Said {
  const texts: Record<string, string> = { text: '', refusal: '', thinking: '' }
  const calls: [string, string][] = []
  for (const [call, ...given] of isStream ? readStream(from, [body]) : readAnswer(from, body)) {
    if (Object.hasOwn(texts, call)) texts[call] += String(given[1])
    if (call === 'call') calls.push([names.given(String(given[2])), ''])
  }
  return { text: texts.text! + texts.refusal!, thinking: texts.thinking!, calls, hasFailed: false }
}

const STREAM_TYPES: { readonly [Name in WireDialect]?: string } = {
  completions: 'text/event-stream',
  messages: 'text/event-stream',
  responses: 'text/event-stream',
  converse: 'application/vnd.amazon.eventstream',
}

function makeAnswer({ answers }: Corpus, random: () => number, pick: <T>(list: readonly T[]) => T): Uint8Array {
  const chosen = pick(answers)
  return encode(damage(JSON.stringify(random() < 0.1 ? chosen : mutateJson(chosen, random, answers)), random))
}

/** A stream with events of several streams, in any order, changed and damaged. */
function makeStream(
  dialect: WireDialect,
  { streams }: Corpus,
  random: () => number,
  pick: <T>(list: readonly T[]) => T,
): Uint8Array {
  const events = [...pick(streams)]
  for (let times = Math.floor(random() * 4); times > 0; times--) {
    const at = Math.floor(random() * (events.length + 1))
    const more = pick(streams)
    const from = Math.floor(random() * more.length)
    switch (Math.floor(random() * 4)) {
      case 0:
        events.splice(at, Math.floor(random() * 3))
        break
      case 1:
        events.splice(at, 0, ...more.slice(from, from + 1 + Math.floor(random() * 4)))
        break
      case 2:
        events.splice(at, 0, ...events.slice(at, at + 3))
        break
      default: {
        const given = events[at]
        const donors = more.map(({ data }) => data)
        if (given !== undefined && donors.length > 0) {
          events[at] = { name: given.name, data: mutateJson(given.data, random, donors) }
        }
      }
    }
  }
  if (dialect === 'converse') return Buffer.concat(events.map((event) => frameOf(event, random)))
  const ending = pick(['\n', '\n', '\r\n', '\r'])
  const text = events.map(({ name, data }) => {
    const written = typeof data === 'string' ? data : JSON.stringify(data)
    const named = name === '' ? '' : `event: ${name}\n`
    return `${random() < 0.05 ? ': comment\n' : ''}${named}data: ${written}\n\n`.replaceAll('\n', ending)
  })
  return encode(damage(text.join(''), random))
}

function frameOf({ name, data }: Event, random: () => number): Uint8Array {
  const isException = random() < 0.02
  const headers = [
    { name: ':message-type', type: 'text' as const, value: isException ? 'exception' : 'event' },
    { name: isException ? ':exception-type' : ':event-type', type: 'text' as const, value: name },
  ]
  const frame = Buffer.from(encodeEvent(encodeHeaders(headers), encode(damage(JSON.stringify(data), random))))
  if (random() < 0.01) frame[Math.floor(random() * frame.length)]! ^= 1
  return frame
}

/** Seldom changes a few characters. */
function damage(text: string, random: () => number): string {
  if (random() < 0.9) return text
  const at = Math.floor(random() * text.length)
  const end = at + Math.floor(random() * 4)
  const added = random() < 0.5 ? '' : String.fromCharCode(Math.floor(random() * 128))
  return text.slice(0, at) + added + text.slice(end)
}

function cut(bytes: Uint8Array, random: () => number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  const size = random() < 0.3 ? 1 : 1 + Math.floor(random() * bytes.length)
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + Math.floor(random() * size)
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

/** What the client gets. */
class Received implements BodySink {
  readonly backed = false
  readonly takesFramed = false
  source: BodySource | null = null
  isEnded = false
  readonly #pieces: Buffer[] = []

  get text(): string {
    return Buffer.concat(this.#pieces).toString('utf8')
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.isEnded) throw new Error('something follows the end')
    this.#pieces.push(Buffer.from(buffer.subarray(start, end)))
  }

  end(): void {
    if (this.isEnded) throw new Error('a second end')
    this.isEnded = true
  }

  abort(): void {
    throw new Error('the answer is aborted')
  }
}

function readCorpus(dialect: WireDialect): Corpus {
  const cases = readCases(root, dialect as Parameters<typeof readCases>[1])
  const read = (file: string) => cases.filter((each) => each.has(file)).map((each) => each.text(file))
  const jsonOf = (file: string) => read(file).flatMap((text) => parse(text) ?? [])
  return {
    requests: jsonOf('request.json'),
    answers: jsonOf('answer.json'),
    streams: [...read('answer.sse').map(eventsOf), ...read('answer.frames').map(framesOf)],
  }
}

function eventsOf(stream: string): Event[] {
  return stream.split(/\r?\n\r?\n/).flatMap((block) => {
    const [, name = ''] = /^event: ?(.*)$/m.exec(block) ?? []
    const [, data] = /^data: ?(.*)$/m.exec(block) ?? []
    return data === undefined ? [] : [{ name, data: parse(data) ?? data }]
  })
}

function framesOf(lines: string): Event[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { payload, ...headers } = JSON.parse(line) as Readonly<Record<string, unknown>>
      return { name: String(headers[':event-type'] ?? headers[':exception-type'] ?? ''), data: payload }
    })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function stop(why: unknown): never {
  console.error(`seed ${seed}`, why)
  console.error(JSON.stringify(input))
  process.exit(1)
}

const until = performance.now() + seconds * 1000
console.log(`seed ${firstSeed}`)
for (let run = 0; run < runs && performance.now() < until; run++, seed++) {
  const began = performance.now()
  try {
    tryOnce(seeded(seed))
  } catch (error) {
    stop(error)
  }
  if (performance.now() - began > MAX_STEP_MS) stop('too slow')
}
console.log(counts, Math.round(process.memoryUsage.rss() / 2 ** 20), 'MiB')
