import { runAtOnce } from '#base/in-slices.ts'
import { Exchange } from '#exchange/exchange.ts'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { Head } from '#net/http/head.ts'
import type { WireDialect } from '#protocols/llm/chat/dialect.ts'
import { FORMATS, findTranslation } from '#protocols/llm/dialects/index.ts'
import type { ClientFormat } from '#protocols/llm/settings/route-type.ts'
import { ChatAnswer } from '#protocols/llm/translation/chat-answer.ts'
import { type ChatTranslation, translateInSteps } from '#protocols/llm/translation/translate-request.ts'
import { LOCAL_PEER } from '#test/support/local-peer.ts'
import { Nowhere } from '../nowhere.ts'

/**
 * CPU time of translations between dialects in one thread, without the wire: requests of several sizes, and events of streams. The bars are
 * in bench/README.md.
 */
const encoder = new TextEncoder()
const PNG = 'iVBORw0KGgoAAAANSUhEUgAA'

/** A chat of alternating turns with a tool, about `bytes` long. */
function chat(format: ClientFormat, bytes: number): object {
  const word = 'Tell me about the weather in Ulm, please. '
  const turns = bytes < 10_000 ? 4 : 40
  const text = word.repeat(Math.max(1, Math.floor((bytes - 400) / turns / word.length)))
  const messages = Array.from({ length: turns - 1 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: text,
  }))
  const parameters = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }
  const description = 'The weather of a place'
  if (format === 'Messages') {
    return {
      model: 'm',
      max_tokens: 100,
      messages,
      tools: [{ name: 'weather', description, input_schema: parameters }],
    }
  }
  const tools = [{ type: 'function', function: { name: 'weather', description, parameters } }]
  return { model: 'm', max_tokens: 100, temperature: 0.5, messages, tools }
}

function picture(format: ClientFormat): object {
  const data = PNG.repeat(5_000_000 / PNG.length)
  const image =
    format === 'Messages'
      ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
      : { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }
  return { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: [image] }] }
}

/** Something that is measured. */
interface Case {
  readonly name: string
  readonly bar: number
  /** How often it runs in a round. */
  readonly runs: number
  /** Units in one run; the bar is for one. */
  readonly units: number
  readonly run: () => void
}

const ROUNDS = 7

/**
 * Microseconds of CPU time per unit in the fastest of several rounds, because other programs only add to it. All cases take turns, and all
 * have run before the first round.
 */
function measure(cases: readonly Case[]): readonly number[] {
  const rounds = cases.map((): number[] => [])
  for (let round = -1; round < ROUNDS; round++) {
    for (const [i, { run, runs, units }] of cases.entries()) {
      const begin = process.cpuUsage()
      for (let n = 0; n < runs; n++) run()
      const { user, system } = process.cpuUsage(begin)
      if (round >= 0) rounds[i]!.push((user + system) / (runs * units))
    }
  }
  return rounds.map((each) => Math.min(...each))
}

const PAIRS: readonly (readonly [ClientFormat, WireDialect])[] = [
  ['Completions', 'messages'],
  ['Messages', 'completions'],
  ['Completions', 'converse'],
  ['Messages', 'converse'],
  ['Responses', 'messages'],
  ['Responses', 'completions'],
]

function translated(format: ClientFormat, dialect: WireDialect, body: Uint8Array) {
  const request = runAtOnce(translateInSteps(format, { kind: 'send', dialect, path: '/' }, body, HEAD, undefined))
  if ('kind' in request) throw new Error(`refused: ${request.body ?? request.code}`)
  return request
}

const HEAD = Head.request('POST', '/')

const SIZES: readonly (readonly [name: string, bytes: number, runs: number, bar: number])[] = [
  ['1 KB', 1000, 20_000, 10],
  ['100 KB', 100_000, 300, 400],
  ['1 MB', 1_000_000, 30, 4000],
]

const cases: Case[] = []

for (const [format, dialect] of PAIRS) {
  if (findTranslation(format, dialect) === undefined || format === 'Responses') continue
  const pair = `${FORMATS[format].dialect} to ${dialect}`
  for (const [name, bytes, runs, bar] of SIZES) {
    const body = encoder.encode(JSON.stringify(chat(format, bytes)))
    cases.push({ name: `${pair}, ${name}`, bar, runs, units: 1, run: () => translated(format, dialect, body) })
  }
  const body = encoder.encode(JSON.stringify(picture(format)))
  const run = () => translated(format, dialect, body)
  cases.push({ name: `${pair}, image of 5 MB`, bar: 10_000, runs: 5, units: 1, run })
}

/** Streams of 1,000 events with text. */
const SSE_STREAMS: Readonly<Record<string, string>> = {
  messages:
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}\n\n' +
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" weather"}}\n\n'.repeat(
      1000,
    ) +
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n' +
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1000}}\n\n' +
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  completions:
    'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n' +
    'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" weather"},"logprobs":null,"finish_reason":null}]}\n\n'.repeat(
      1000,
    ) +
    'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
    'data: [DONE]\n\n',
}

function frames(...events: readonly (readonly [type: string, payload: object])[]): readonly Buffer[] {
  return events.map(([type, payload]) => {
    const headers = encodeHeaders([
      { name: ':event-type', type: 'text', value: type },
      { name: ':content-type', type: 'text', value: 'application/json' },
      { name: ':message-type', type: 'text', value: 'event' },
    ])
    return Buffer.from(encodeEvent(headers, encoder.encode(JSON.stringify(payload))))
  })
}

/** As the wire delivers them: one event in each piece. */
function piecesOf(dialect: WireDialect): readonly Buffer[] | undefined {
  if (dialect !== 'converse') return SSE_STREAMS[dialect]?.split(/(?<=\n\n)/).map((each) => Buffer.from(each))
  const delta = ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: ' weather' }, p: 'abcdefgh' }] as const
  return frames(
    ['messageStart', { role: 'assistant' }],
    ...Array.from({ length: 1000 }, () => delta),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['messageStop', { stopReason: 'end_turn' }],
    ['metadata', { usage: { inputTokens: 10, outputTokens: 1000, totalTokens: 1010 }, metrics: { latencyMs: 5 } }],
  )
}

function exchange(contentType: string): Exchange {
  const made = new Exchange(Head.request('POST', '/'), LOCAL_PEER)
  made.response = Head.response(200)
  made.response.set('content-type', contentType)
  return made
}

for (const [format, dialect] of PAIRS) {
  const pieces = piecesOf(dialect)
  if (findTranslation(format, dialect) === undefined || pieces === undefined || format === 'Responses') continue
  const body = encoder.encode(JSON.stringify({ ...chat(format, 1000), stream: true }))
  const { answer } = translated(format, dialect, body)
  const made = exchange('text/event-stream')
  const memory = new BodyMemory(2 ** 26)
  const run = () => {
    const facts: LlmFacts = { ...NO_LLM }
    const claim = new BodyClaim(memory)
    const filter = new ChatAnswer(
      answer as ChatTranslation,
      { exchange: made, facts, kept: undefined, claim, maxBytes: 2 ** 21 },
      true,
    )
    const sink = filter.into(new Nowhere())
    for (const piece of pieces) sink.bytes(piece, 0, piece.length)
    sink.end()
    claim.release()
  }
  const bar = dialect === 'converse' ? 5 : 3
  const name = `a text event of ${dialect} to ${FORMATS[format].dialect}`
  cases.push({ name, bar, runs: 30, units: pieces.length, run })
}

for (const [i, us] of measure(cases).entries()) {
  const { name, bar } = cases[i]!
  console.log(`${name}: ${us.toFixed(us < 10 ? 2 : 1)} us (bar ${bar})`)
  if (us > bar) process.exitCode = 1
}
