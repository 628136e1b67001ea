import { describe, expect, test } from 'vitest'
import type { Dialect } from '#protocols/llm/chat/dialect.ts'
import { PROVIDER_DIALECTS } from '#protocols/llm/dialects/index.ts'
import { CLIENT_DIALECTS } from '#protocols/llm/testing.ts'
import { sampleOf } from '#test/support/sample-size.ts'
import {
  type Call,
  contentsOf,
  divisions,
  eventEnds,
  type FixtureCase,
  meaningOf,
  readAnswer,
  readCases,
  readRequest,
  readStream,
  streamOf,
  withLineEnds,
  writeAnswer,
  writeRequest,
  writeStream,
} from './harness.ts'

const ROOT = import.meta.dirname
/** Sizes of the pieces in which streams arrive. */
const BYTE = 1
const SOME = 37

const DIALECTS = [...new Set([...Object.keys(CLIENT_DIALECTS), ...Object.keys(PROVIDER_DIALECTS)])] as Dialect[]

describe.each(DIALECTS)('%s', (dialect) => {
  const cases = readCases(ROOT, dialect)
  const requests = cases.filter((each) => each.has('request.json'))
  const answers = cases.filter((each) => each.answer !== undefined)

  test.each(requests.map((each) => [each.name, each] as const))('reads and writes the request %s', (_, given) => {
    const read = readRequest(clientOf(given), given.bytes('request.json'))
    expect(read.shown).toEqual(given.expected('conversation.json', read.shown))
    for (const target of given.targets) {
      const again = readRequest(clientOf(given), given.bytes('request.json'))
      const { shown } = writeRequest(providerNamed(target), again)
      expect(shown, target).toEqual(given.expected(`to/${target}`, shown))
    }
  })

  test.each(answers.map((each) => [each.name, each] as const))('reads and writes the answer %s', (_, given) => {
    const calls = readCase(given)
    expect(calls).toEqual(given.expected('told.json', calls))
    for (const target of given.targets) {
      const isStream = target.endsWith('.sse')
      const written = isStream
        ? writeStream(clientNamed(target), calls, dialect)
        : writeAnswer(clientNamed(target), calls, dialect)
      if (isStream) expect(written, target).toBe(given.expectedText(`to/${target}`, written))
      else expect(JSON.parse(written), target).toEqual(given.expected(`to/${target}`, JSON.parse(written)))
    }
  })

  test.each(requests.map((each) => [each.name, each] as const))('refuses or reads the request %s', (_, given) => {
    for (const body of sampleOf([...variants(JSON.parse(given.text('request.json')))], 3, given.name.length)) {
      const read = readRequest(clientOf(given), Buffer.from(JSON.stringify(body)))
      if (PROVIDER_DIALECTS[dialect] !== undefined) writeRequest(providerOf(given), read)
    }
  })

  const whole = answers.filter((each) => each.answer === 'answer.json')
  test.each(whole.map((each) => [each.name, each] as const))('refuses or reads the answer %s', (_, given) => {
    for (const body of sampleOf([...variants(JSON.parse(given.text('answer.json')))], 3, given.name.length)) {
      const calls = readAnswer(providerOf(given), Buffer.from(JSON.stringify(body)))
      expect(calls.filter(([name]) => name === 'end')).toHaveLength(1)
    }
  })

  const streams = answers.filter((each) => !each.answer!.endsWith('.json'))
  test.each(streams.map((each) => [each.name, each] as const))('reads the stream %s in any pieces', (_, given) => {
    const stream = streamOf(given.answer!, given.bytes(given.answer!))
    const whole = readStream(providerOf(given), [stream])
    const forms = given.answer!.endsWith('.sse') ? ['\n', '\r\n', '\r'] : ['\n']
    for (const form of forms) {
      const same = form === '\n' ? stream : withLineEnds(stream, form)
      for (const size of [BYTE, SOME]) {
        for (const pieces of divisions(same, size)) expect(readStream(providerOf(given), pieces)).toEqual(whole)
      }
    }
  })

  test.each(streams.map((each) => [each.name, each] as const))('ends the stream %s wherever it breaks', (_, given) => {
    const bytes = given.bytes(given.answer!)
    const stream = streamOf(given.answer!, bytes)
    const whole = readStream(providerOf(given), [stream])
    for (const end of [0, ...eventEnds(given.answer!, bytes)]) {
      const calls = readStream(providerOf(given), [stream.subarray(0, end)], true)
      expect(calls.at(-1), `after ${end}`).toEqual(['end'])
      const isWhole = calls.some(([name]) => name === 'finish')
      expect(
        calls.filter(([name]) => name === 'fail'),
        `after ${end}`,
      ).toHaveLength(isWhole ? 0 : 1)
      const said = calls.slice(0, isWhole ? -1 : -2)
      // A failure before anything else begins the answer itself.
      const isBegun = said.length !== 1 || isWhole
      if (isBegun) expect(said, `after ${end}`).toEqual(whole.slice(0, said.length))
    }
  })

  const both = CLIENT_DIALECTS[dialect] !== undefined && PROVIDER_DIALECTS[dialect] !== undefined
  const sameBack = both ? [...requests, ...answers] : []
  test.each(sameBack.map((each) => [each.name, each] as const))('reads what it writes of %s', (_, given) => {
    const check = () => (given.has('request.json') ? checkRequest(given) : checkAnswer(given))
    // A reason that is no longer one would hide what is lost.
    if (given.oneWay === undefined) check()
    else expect(check, given.oneWay).toThrow()
  })
})

/** The value with any one of its parts replaced by any of these. Whatever else than `Untranslatable` is thrown fails the test. */
const OTHERS: readonly unknown[] = [null, true, -1, 'other', [], ['other'], {}, [{}]]

function* variants(value: unknown): Generator<unknown> {
  yield* OTHERS
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries())
      for (const other of variants(element)) yield value.with(index, other)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value))
      for (const other of variants(member)) yield { ...value, [key]: other }
  }
}

function checkRequest(given: FixtureCase): void {
  const read = readRequest(clientOf(given), given.bytes('request.json'))
  const { body } = writeRequest(providerOf(given), read)
  if (read.conversation === undefined || body === undefined) return
  const again = readRequest(clientOf(given), body)
  expect(again.conversation && meaningOf(again.conversation), given.name).toEqual(meaningOf(read.conversation))
}

function checkAnswer(given: FixtureCase): void {
  const calls = readCase(given)
  if (calls.some(([name]) => name === 'fail')) return
  const [client, provider] = [clientOf(given), providerOf(given)]
  const whole = readAnswer(provider, Buffer.from(writeAnswer(client, calls, given.dialect)))
  expect(contentsOf(whole), given.name).toEqual(contentsOf(calls))
  const streamed = readStream(provider, [Buffer.from(writeStream(client, calls, given.dialect))])
  expect(contentsOf(streamed), given.name).toEqual(contentsOf(calls))
}

function readCase(given: FixtureCase): readonly Call[] {
  const file = given.answer!
  const bytes = given.bytes(file)
  if (file.endsWith('.json')) return readAnswer(providerOf(given), bytes)
  return readStream(providerOf(given), [streamOf(file, bytes)])
}

function clientOf({ dialect }: FixtureCase) {
  return clientNamed(dialect)
}

function providerOf({ dialect }: FixtureCase) {
  return providerNamed(dialect)
}

/** @param name of a dialect, or of a file with the name of one */
function clientNamed(name: string) {
  const dialect = CLIENT_DIALECTS[name.split('.', 1)[0] as Dialect]
  if (dialect === undefined) throw new Error(`${name}: no client speaks it`)
  return dialect
}

function providerNamed(name: string) {
  const dialect = PROVIDER_DIALECTS[name.split('.', 1)[0] as Dialect]
  if (dialect === undefined) throw new Error(`${name}: no provider speaks it`)
  return dialect
}
