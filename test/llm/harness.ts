import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseExactJson } from '#base/exact-json.ts'
import { runAtOnce } from '#base/in-slices.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { AnswerEnd } from '#protocols/llm/chat/answer-end.ts'
import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from '#protocols/llm/chat/answer-sink.ts'
import { keepLastMarks } from '#protocols/llm/chat/cache-marks.ts'
import type { Conversation } from '#protocols/llm/chat/conversation.ts'
import type { AnswerContext, ClientDialect, Dialect, ProviderDialect } from '#protocols/llm/chat/dialect.ts'
import { Losses } from '#protocols/llm/chat/losses.ts'
import { TargetNames } from '#protocols/llm/chat/target-names.ts'
import { Untranslatable } from '#protocols/llm/chat/untranslatable.ts'
import { JsonValue, parseDocument } from '#protocols/llm/json/json-document.ts'
import { JsonPieces, writeJson } from '#protocols/llm/json/write-json.ts'

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Whether expected files are rewritten: `UPDATE=1 npx vitest run test/llm`, then `npm run format`. Review the difference like code. */
const isUpdate = process.env.UPDATE === '1'

/** A folder of `test/llm/<dialect>/`, see README.md there. */
export class FixtureCase {
  readonly name: string
  readonly dialect: Dialect
  readonly #folder: string
  /** `name.ending` of its files. */
  readonly files: readonly string[]
  /** Dialects into which the case is written, as files of `to/`. */
  readonly targets: readonly string[]
  /** Why reading what the dialect wrote does not give the same; undefined: it must. */
  readonly oneWay: string | undefined

  constructor(root: string, dialect: Dialect, name: string) {
    this.name = name
    this.dialect = dialect
    this.#folder = join(root, dialect, name)
    this.files = readdirSync(this.#folder)
    const to = join(this.#folder, 'to')
    this.targets = existsSync(to) ? readdirSync(to) : []
    const about = JSON.parse(this.text('case.json')) as { source?: string; shows?: string; oneWay?: string }
    if (!about.source || !about.shows) throw new Error(`${this.#folder}/case.json lacks source or shows`)
    this.oneWay = about.oneWay
  }

  has(file: string): boolean {
    return this.files.includes(file)
  }

  bytes(file: string): Uint8Array {
    return readFileSync(join(this.#folder, file))
  }

  text(file: string): string {
    return readFileSync(join(this.#folder, file), 'utf8')
  }

  /** The JSON of a file that shows what came out, which an update replaces. */
  expected(file: string, actual: unknown): unknown {
    if (isUpdate) writeFileSync(join(this.#folder, file), `${JSON.stringify(actual, null, 2)}\n`)
    return parseExactJson(this.text(file))
  }

  /** The same for text. */
  expectedText(file: string, actual: string): string {
    if (isUpdate) writeFileSync(join(this.#folder, file), actual)
    return this.text(file)
  }

  /** The file of the provider's answer. */
  get answer(): string | undefined {
    return this.files.find((file) => file.startsWith('answer.'))
  }
}

export function readCases(root: string, dialect: Dialect): readonly FixtureCase[] {
  const folder = join(root, dialect)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((name) => new FixtureCase(root, dialect, name))
}

export function parseJson(bytes: Uint8Array): JsonValue {
  const value = parseDocument(bytes)
  if (!(value instanceof JsonValue)) throw new Error(`not JSON at byte ${value.at}: ${value.fault}`)
  return value
}

/** A request as read: in plain JSON, or why it cannot be read. */
export interface ReadRequest {
  readonly conversation: Conversation | undefined
  readonly losses: Losses
  /** What the file `conversation.json` has. */
  readonly shown: unknown
}

export function readRequest(dialect: ClientDialect, body: Uint8Array): ReadRequest {
  const losses = new Losses()
  try {
    const conversation = runAtOnce(dialect.readRequest(parseJson(body), losses))
    const shown = { ...(plain(conversation, true) as object), losses: losses.paths }
    return { conversation, losses, shown }
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
    return { conversation: undefined, losses, shown: { refused: error.message } }
  }
}

/** A conversation without the places in the body that it came from. */
export function meaningOf(conversation: Conversation): unknown {
  return plain(conversation, false)
}

/** The body for a provider as JSON and what was lost, or why it cannot be written. */
export function writeRequest(dialect: ProviderDialect, { conversation: read, losses, shown }: ReadRequest) {
  if (read === undefined) return { shown, body: undefined }
  const conversation = keepLastMarks(read, losses)
  const names = new TargetNames(conversation.tools.map(({ name }) => name))
  try {
    const body = writeJson(runAtOnce(dialect.writeRequest(conversation, { names, body: new Uint8Array() }, losses)))
    const written = parseExactJson(decoder.decode(body))
    return { shown: losses.paths.length === 0 ? { body: written } : { body: written, losses: losses.paths }, body }
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
    return { shown: { refused: error.message }, body: undefined }
  }
}

function plain(value: unknown, withOrigins: boolean, key = ''): unknown {
  if (value instanceof JsonValue) return key === 'origin' ? value.path : parseExactJson(decoder.decode(value.json))
  if (value instanceof JsonPieces) return parseExactJson(decoder.decode(writeJson(value)))
  if (value instanceof Uint8Array) return parseExactJson(decoder.decode(value))
  if (Array.isArray(value)) return value.map((each) => plain(each, withOrigins))
  if (typeof value !== 'object' || value === null) return value
  const object = value as Readonly<Record<string, unknown>>
  const shown: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined || (name === 'origin' && !withOrigins)) continue
    const isData = name === 'data' && object.kind !== 'redacted' && member instanceof Uint8Array
    shown[name] = isData ? decoder.decode(member) : plain(member, withOrigins, name)
  }
  return shown
}

/** A call of a sink and its arguments. */
export type Call = readonly [name: keyof AnswerSink, ...given: unknown[]]

/** Writes down what it is told. */
export class Told implements AnswerSink {
  readonly calls: Call[] = []

  start = (id: string, model: string) => this.#add('start', id, model)
  text = (block: number, text: string) => this.#add('text', block, text)
  refusal = (block: number, text: string) => this.#add('refusal', block, text)
  thinking = (block: number, text: string) => this.#add('thinking', block, text)
  signature = (block: number, text: string) => this.#add('signature', block, text)
  redacted = (block: number, data: string) => this.#add('redacted', block, data)
  call = (block: number, id: string, name: string) => this.#add('call', block, id, name)
  arguments = (block: number, text: string) => this.#add('arguments', block, text)
  citation = (block: number, citation: Citation) => this.#add('citation', block, known(citation))
  close = (block: number) => this.#add('close', block)
  finish = (reason: StopReason, sequence?: string) =>
    sequence === undefined ? this.#add('finish', reason) : this.#add('finish', reason, sequence)
  usage = (usage: AnswerUsage) => this.#add('usage', known(usage))
  fail = (error: AnswerError) => this.#add('fail', known(error))
  end = () => this.#add('end')

  #add(...call: Call): void {
    this.calls.push(call)
  }
}

/** Without members that are undefined. */
function known(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}

/** Makes the calls of a list. */
export function tell(calls: readonly Call[], sink: AnswerSink): void {
  const methods = sink as unknown as Readonly<Record<string, (...given: unknown[]) => void>>
  for (const [name, ...given] of calls) methods[name]!(...given)
}

/** Most bytes of an event in fixtures. */
const MAX_EVENT_BYTES = 64 * 1024

/** What a reader makes of an answer that arrives in pieces, as its writer is told. */
export function readStream(dialect: ProviderDialect, pieces: readonly Uint8Array[], isBroken = false): readonly Call[] {
  const told = new Told()
  const end = endOf(told)
  const reader = dialect.readStream(end, {
    maxEventBytes: MAX_EVENT_BYTES,
    claim: roomFor(2 ** 20).claim,
  })
  for (const piece of pieces) {
    // As the memory of connections, it is overwritten.
    const bytes = Buffer.concat([piece])
    reader.push(bytes)
    bytes.fill(0xaa)
  }
  reader.finish()
  if (isBroken) end.break()
  else end.end()
  return told.calls
}

/** The same for a whole answer; what cannot be read is told as the pipeline does. */
export function readAnswer(dialect: ProviderDialect, body: Uint8Array): readonly Call[] {
  const told = new Told()
  const end = endOf(told)
  try {
    runAtOnce(dialect.readAnswer(parseJson(body), end))
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
    end.fail({ status: 502, type: undefined, message: error.message, code: undefined, param: undefined })
  }
  end.end()
  return told.calls
}

function endOf(sink: AnswerSink): AnswerEnd {
  return new AnswerEnd(sink, { claim: undefined, maxKept: 0 })
}

/** What the client asked, in fixtures of answers. */
function answerContext(provider: Dialect): AnswerContext {
  let ids = 0
  return {
    request: parseJson(encoder.encode('{"stream_options":{"include_usage":true}}')),
    model: 'asked-model',
    createdSeconds: 1_700_000_000,
    provider,
    newId: (prefix) => `${prefix}${++ids}`,
  }
}

/** A whole answer in the dialect of a client, as text. @param provider the dialect of the provider */
export function writeAnswer(dialect: ClientDialect, calls: readonly Call[], provider: Dialect): string {
  const bodies: string[] = []
  tell(
    calls,
    dialect.writeAnswer(answerContext(provider), (body) => bodies.push(decoder.decode(body))),
  )
  if (bodies.length !== 1) throw new Error(`${bodies.length} bodies were written`)
  return bodies[0]!
}

/** A stream in the dialect of a client. */
export function writeStream(dialect: ClientDialect, calls: readonly Call[], provider: Dialect): string {
  let events = ''
  tell(
    calls,
    dialect.writeStream(answerContext(provider), (written) => {
      events += written
    }),
  )
  return events
}

/** What an answer says, in whatever pieces and with whatever numbers of blocks. */
export function contentsOf(calls: readonly Call[]): unknown {
  const blocks = new Map<unknown, Record<string, unknown>>()
  const rest: Record<string, unknown> = {}
  for (const [name, ...given] of calls) {
    if (name === 'close' || name === 'end') continue
    if (name === 'start' || name === 'finish' || name === 'usage' || name === 'fail') {
      rest[name] = given
      continue
    }
    const [block, ...contents] = given
    const about = blocks.get(block) ?? {}
    blocks.set(block, about)
    if (name === 'call') about.call = contents
    else if (name === 'citation') about.citations = [...((about.citations as unknown[]) ?? []), ...contents]
    else about[name] = `${about[name] ?? ''}${contents[0]}`
  }
  return { ...rest, blocks: [...blocks.values()] }
}

/** Each division of a text into pieces of the same size: together they split it at every byte. */
export function divisions(bytes: Uint8Array, size: number): readonly (readonly Uint8Array[])[] {
  return Array.from({ length: Math.min(size, bytes.length) }, (_, first) => {
    const pieces = [bytes.subarray(0, first)]
    for (let at = first; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
    return pieces
  })
}

/** A stream as it comes from a provider. */
export function streamOf(file: string, bytes: Uint8Array): Uint8Array {
  return file.endsWith('.frames') ? Buffer.concat(framesOf(decoder.decode(bytes))) : bytes
}

/** Where the events of a stream end. */
export function eventEnds(file: string, bytes: Uint8Array): readonly number[] {
  if (file.endsWith('.frames')) {
    let at = 0
    return framesOf(decoder.decode(bytes)).map((frame) => {
      at += frame.length
      return at
    })
  }
  const ends: number[] = []
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x0a && bytes[at + 1] === 0x0a) ends.push(at + 2)
  return ends
}

/** Frames of an event stream, from a line of JSON each. */
function framesOf(text: string): readonly Uint8Array[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { payload, ...headers } = JSON.parse(line) as Readonly<Record<string, string>>
      const given = Object.entries(headers).map(([name, value]) => ({ name, type: 'text' as const, value }))
      return encodeEvent(encodeHeaders(given), encoder.encode(JSON.stringify(payload)))
    })
}

/** An event stream whose lines end otherwise. */
export function withLineEnds(stream: Uint8Array, ends: string): Uint8Array {
  return encoder.encode(decoder.decode(stream).replaceAll('\n', ends))
}
