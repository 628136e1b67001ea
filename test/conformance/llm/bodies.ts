import { join } from 'node:path'
import type { Dialect } from '#protocols/llm/chat/dialect.ts'
import { FORMATS, PROVIDER_DIALECTS } from '#protocols/llm/dialects/index.ts'
import { CLIENT_DIALECTS } from '#protocols/llm/testing.ts'
import { FEATURES, CLIENTS as TYPES } from '#test/llm/carried.ts'
import {
  type Call,
  type FixtureCase,
  type ReadRequest,
  readAnswer,
  readCases,
  readRequest,
  readStream,
  streamOf,
  writeAnswer,
  writeRequest,
  writeStream,
} from '#test/llm/harness.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'llm')
const CLIENTS = Object.entries(CLIENT_DIALECTS)
const PROVIDERS = Object.entries(PROVIDER_DIALECTS)
const ALL = [...new Set([...CLIENTS, ...PROVIDERS].map(([name]) => name as Dialect))]

/** One of each family of models: what is written differs. */
const MODELS = ['gpt-5.1', 'claude-sonnet-4-5', 'amazon.nova-pro-v1:0'] as const

/** A body that a writer wrote. */
export interface WrittenBody {
  /** `case > dialect`, with the number of the event in a stream. */
  readonly name: string
  readonly dialect: string
  readonly kind: 'request' | 'answer' | 'event'
  readonly body: unknown
}

/** Every request and every answer of `test/llm`, in every dialect in which it can be written. */
export function* writtenBodies(): Generator<WrittenBody> {
  for (const from of ALL) {
    for (const given of readCases(FIXTURES, from)) {
      if (given.has('request.json')) yield* requestsOf(given)
      if (given.answer !== undefined) yield* answersOf(given, given.answer)
    }
  }
  yield* featureRequests()
}

function requestsOf(given: FixtureCase): Generator<WrittenBody> {
  const name = `${given.dialect}/${given.name}`
  return requestsFrom(name, () => readRequest(CLIENT_DIALECTS[given.dialect]!, given.bytes('request.json')))
}

/** The requests with which the page of translations shows what each dialect carries. */
function* featureRequests(): Generator<WrittenBody> {
  for (const { name, by } of FEATURES) {
    for (const format of TYPES) {
      for (const model of by[format] === undefined ? [] : MODELS) {
        const body = Buffer.from(JSON.stringify({ model, ...by[format] }))
        const client = FORMATS[format].client!
        yield* requestsFrom(`${format}, ${name}, ${model}`, () => readRequest(client, body))
      }
    }
  }
}

/** @param read reads it anew, because each writer adds its losses */
function* requestsFrom(name: string, read: () => ReadRequest): Generator<WrittenBody> {
  for (const [dialect, provider] of PROVIDERS) {
    const { body } = writeRequest(provider, read())
    if (body === undefined) continue
    const written: unknown = JSON.parse(Buffer.from(body).toString())
    yield { name: `${name} > ${dialect}`, dialect, kind: 'request', body: written }
  }
}

function* answersOf(given: FixtureCase, file: string): Generator<WrittenBody> {
  const calls = readGiven(given, file)
  for (const [dialect, client] of CLIENTS) {
    const name = `${given.dialect}/${given.name} > ${dialect}`
    yield { name, dialect, kind: 'answer', body: JSON.parse(writeAnswer(client, calls, given.dialect)) }
    const events = dataOf(writeStream(client, calls, given.dialect))
    for (const [index, body] of events.entries()) {
      yield { name: `${name}, event ${index}`, dialect, kind: 'event', body }
    }
  }
}

function readGiven(given: FixtureCase, file: string): readonly Call[] {
  const provider = PROVIDER_DIALECTS[given.dialect]!
  const bytes = given.bytes(file)
  return file.endsWith('.json') ? readAnswer(provider, bytes) : readStream(provider, [streamOf(file, bytes)])
}

function dataOf(stream: string): readonly unknown[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)))
}
