import { expect, test } from 'vitest'
import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { isJson } from '../../texts/argument-texts.ts'
import type { Guard, ServiceGuard } from '../guard.ts'
import { readAnswerBody } from '../read-answer-body.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { ServiceContents } from '../service-contents.ts'
import { type BlockKind, GuardedBlock, type StreamPiece } from '../stream/guarded-block.ts'
import { writtenFrom } from '../stream/testing.ts'

const refusal = reject('prompt-guard-rejected')

type Mask = (content: string) => string

/** What a service has seen of arguments, and what the client gets; undefined: they are refused. */
interface Judged {
  readonly seen: string
  readonly passed: string | undefined
}

/** The arguments in a stream. */
async function inStream(
  pieces: readonly string[],
  mask: Mask,
  kind: Partial<BlockKind> = {},
  around: readonly Guard[] = [],
): Promise<Judged> {
  const seen: string[] = []
  const guard: ServiceGuard = {
    ...{ phase: 'response', index: 0, kind: 'webhook', refusal },
    service: {
      kind: 'webhook',
      destination: 'ProxyBackend/default/judge',
      masks: true,
      async judge({ messages: [message] }) {
        seen.push(message!.content)
        const masked = mask(message!.content)
        return masked === message!.content ? { kind: 'pass' } : { kind: 'mask', contents: [masked] }
      },
    },
  }
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const refused: Refusal[] = []
  const later: Steps<void>[] = []
  const run = (work: Steps<void> | undefined) => work && runAtOnce(work)
  const block = new GuardedBlock(
    { key: 'a', form: 'arguments', isFixed: false, text: undefined, begun: undefined, ...kind },
    {
      guards: [...around, guard, ...around],
      exchange,
      signal: new AbortController().signal,
      refuse: (why) => void refused.push(why),
      progressed() {},
      later: (work) => void later.push(work),
      noted() {},
      repeats: undefined,
    },
  )
  const held = pieces.map((original): StreamPiece => ({ original, released: undefined }))
  for (const piece of held) run(block.push(piece))
  block.end()
  for (let turn = 0; turn < 20; turn++) {
    for (const work of later.splice(0)) run(work)
    await new Promise<void>((next) => setImmediate(next))
  }
  const isOver = refused.length === 0
  if (isOver) expect(block.isOver).toBe(true)
  return { seen: seen.join('|'), passed: isOver ? held.map(({ released }) => released).join('') : undefined }
}

/** The arguments in a whole answer. */
function inAnswer(given: string, mask: Mask): Judged {
  const message = { role: 'assistant', tool_calls: [{ function: { arguments: given } }] }
  const body = Buffer.from(JSON.stringify({ choices: [{ message }] }))
  const read = runAtOnce(readAnswerBody(body, 'Completions'))
  if (typeof read === 'string') throw new Error(read)
  const contents = runAtOnce(ServiceContents.of(read.texts))
  const seen = contents.messages.map(({ content }) => content)
  const isMasked = runAtOnce(contents.mask(seen.map(mask)))
  const written = JSON.parse(Buffer.from(runAtOnce(read.write())).toString())
  const passed = written.choices[0].message.tool_calls[0].function.arguments
  return { seen: seen.join('|'), passed: isMasked ? passed : undefined }
}

const secret: Mask = (content) => content.replaceAll('secret', '"')

test.each<[given: string, seen: string, passed: string | undefined]>([
  ['{"a":"s\\u0065cret","b\\/":["\\u00e9\\/",1,""]}', 'a secret b/ é/ ', '{"a":"\\"","b\\/":["\\u00e9\\/",1,""]}'],
  ['{"a":"é\\/"}', 'a é/', '{"a":"é\\/"}'],
  ['{"secret":1}', 'secret', undefined],
  ['{"a":1,"a":"a secret"}', 'a a a secret', '{"a":1,"a":"a \\""}'],
  ['{"a":"s\\u0065cret', 'a secret', '{"a":"\\"'],
  ['{"a":"s\\u0065cret\\u00', 'a secret', '{"a":"\\"\\u00'],
  ['{"a":"\\/","b":"x" a secret', 'a / b x a secret', '{"a":"\\/","b":"x" a "'],
  ['{"secret":"x" a', 'secret x a', undefined],
  ['{secret}', 'secret}', '{"}'],
  ['{"":1', '', '{"":1'],
  [' ', ' ', ' '],
  ['12 secret', '12 secret', '12 "'],
  ['"secret"', 'secret', '"\\""'],
  ['["🙂secret"]', '🙂secret', '["🙂\\""]'],
  ['["x","secret"', 'x secret', '["x","\\""'],
])('a service sees the strings of %s, streamed or not', async (given, seen, passed) => {
  expect(inAnswer(given, secret)).toEqual({ seen, passed })
  expect(await inStream([given], secret)).toEqual({ seen, passed })
  expect(await inStream([given], secret, { form: 'input' })).toEqual({ seen, passed })
  for (let at = 0; at <= given.length; at++) {
    expect(await inStream([given.slice(0, at), given.slice(at)], secret)).toEqual({ seen, passed })
  }
  const fixed = await inStream([given], secret, { isFixed: true })
  expect(fixed).toEqual({ seen, passed: seen.includes('secret') ? undefined : given })
})

test('what a service sees of long arguments is judged in windows', async () => {
  const json = JSON.stringify({ a: 'x '.repeat(2000), b: ['y '.repeat(2000), 'secret'] })
  const { passed, seen } = await inStream([json], secret)
  expect(passed).toBe(json.replace('secret', '\\"'))
  expect(seen.split('|').length).toBeGreaterThan(1)
})

test('long arguments that are cut off are shown whole', () => {
  const given = `{"a":"${'x'.repeat(300)} secret","b":"${'y'.repeat(300)}`
  const seen = `a ${'x'.repeat(300)} secret b ${'y'.repeat(300)}`
  expect(inAnswer(given, secret)).toEqual({ seen, passed: given.replace('secret', '\\"') })
})

test('patterns before and behind a service check arguments, too', async () => {
  const rules = compileRules({ matches: ['word-[0-9]'] }, (_, message) => {
    throw new Error(message)
  })
  const guard: Guard = { ...{ phase: 'response', index: 0, kind: 'regex', rules, rejects: false }, refusal }
  const json = (...texts: string[]) => JSON.stringify({ a: 'x '.repeat(1000), b: texts })
  const mask: Mask = (content) => content.replace('secret', 'word-2')
  const { seen, passed } = await inStream([json('word-1', 'secret')], mask, {}, [guard])
  expect(seen).not.toContain('word-1')
  expect(passed).toBe(json('<masked>', '<masked>'))
})

test.each<[masked: string, inWhole: string | undefined]>([
  ['aXb', undefined],
  ['ab', undefined],
  ['c', '["c","<masked>"'],
])('a mask over several strings, %s, is refused in a stream', async (masked, inWhole) => {
  const mask: Mask = (content) => content.replace('a b', masked)
  expect(inAnswer('["a","b"', mask).passed).toBe(inWhole)
  expect((await inStream(['["a","b"'], mask)).passed).toBeUndefined()
})

test('half of a character in a string passes as it is', async () => {
  for (const given of ['{"a":"\\ud83d","b":"\\ude42"}', '["\ud83d"]']) {
    const { passed, seen } = await inStream(given.split(''), secret)
    expect(passed).toBe(given)
    expect(seen.isWellFormed()).toBe(true)
  }
})

test('a service sees the same of arguments in a stream and in a whole answer', async () => {
  const random = seededRandom(1)
  const found = { masked: 0, refused: 0, untouched: 0 }
  for (let each = 0; each < sampleSize(300, 3000); each++) {
    const given = writtenFrom(random)
    // Longer ones are judged in windows.
    if (given.length > 500) continue
    const mask: Mask = (content) => content.replace(/[a1][^ ]/, '<>')
    const whole = inAnswer(given, mask)
    const streamed = await inStream(random.pieces(given, 5), mask)
    expect({ given, ...streamed }).toEqual({ given, ...whole })
    if (whole.passed === undefined) found.refused++
    else if (whole.passed === given) found.untouched++
    else {
      found.masked++
      expect(isJson(whole.passed)).toBe(isJson(given))
    }
  }
  for (const count of Object.values(found)) expect(count).toBeGreaterThan(0)
})
