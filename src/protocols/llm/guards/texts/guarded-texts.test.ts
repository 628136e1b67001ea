import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { BodyTexts, TextPlace, TextRun } from '../../texts/body-texts.ts'
import type { GuardedText } from './guarded-text.ts'
import { GuardedTexts } from './guarded-texts.ts'

type Place = readonly [json: string, more?: Partial<TextPlace>]

/** A body of JSON strings, one after the other. */
function bodyOf(
  runs: readonly { readonly role?: TextRun['role']; readonly joins?: boolean; readonly places: readonly Place[] }[],
) {
  let body = '['
  const read = runs.map(({ role = 'user', joins = true, places }) => ({
    role,
    joins,
    places: places.map(([json, more]): TextPlace => {
      const start = Buffer.byteLength(body)
      body += json
      const place = { start, end: Buffer.byteLength(body), path: `p${start}`, form: 'string' as const, canChange: true }
      body += ','
      return { ...place, ...more }
    }),
  }))
  const texts: BodyTexts = { runs: read }
  const bytes = Buffer.from(`${body}0]`)
  return { bytes, read: () => runAtOnce(GuardedTexts.read(bytes, texts)) }
}

function readable(body: ReturnType<typeof bodyOf>): GuardedTexts {
  const texts = body.read()
  if ('unreadable' in texts) throw new Error(texts.unreadable)
  return texts
}

const one = (json: string, more: Partial<TextPlace> = {}) => bodyOf([{ places: [[json, more]] }])
const shown = ({ text, canChange }: GuardedText) => [text, canChange]
const base64 = (text: string | Uint8Array) => JSON.stringify(Buffer.from(text).toString('base64'))

test.each<[what: string, json: string, more: Partial<TextPlace>, texts: unknown[], after: string]>([
  ['a string', String.raw`"\u0041é\n🙂"`, {}, [['Aé\n🙂', true]], '"x\\"y"'],
  ['a string that cannot change', '"a"', { canChange: false }, [['a', false]], '"x\\"y"'],
  [
    'arguments',
    String.raw`"{\"a\": [\"é1\", 2]}"`,
    { form: 'arguments' },
    [
      ['a', false],
      ['é1', true],
    ],
    String.raw`"{\"a\": [\"x\\\"y\", 2]}"`,
  ],
  [
    'arguments behind characters of several bytes',
    String.raw`"{\"é🙂\": [\"c\"]}"`,
    { form: 'arguments' },
    [
      ['é🙂', false],
      ['c', true],
    ],
    String.raw`"{\"é🙂\": [\"x\\\"y\"]}"`,
  ],
  [
    'arguments that cannot change',
    String.raw`"[\"b\"]"`,
    { form: 'arguments', canChange: false },
    [['b', false]],
    String.raw`"[\"x\\\"y\"]"`,
  ],
  ['arguments that are not JSON', '"{a"', { form: 'arguments' }, [['{a', true]], '"x\\"y"'],
  ['a file', base64('né'), { form: 'base64' }, [['né', true]], base64('x"y')],
  ['a file that cannot change', base64('né'), { form: 'base64', canChange: false }, [['né', false]], base64('x"y')],
])('%s is read, and written only if it changed', (_, json, more, texts, after) => {
  const body = one(json, more)
  const read = readable(body)
  expect(read.runs[0]!.texts.map(shown)).toEqual(texts)
  expect(runAtOnce(read.apply())).toBe(body.bytes)
  read.runs[0]!.texts.at(-1)!.text = 'x"y'
  expect(Buffer.from(runAtOnce(read.apply())).toString()).toBe(`[${after},0]`)
})

test.each([
  ['["a"]', '[]'],
  ['{"content":[]}', 'null'],
])('log probabilities are removed: %s', (json, after) => {
  const body = one(json, { form: 'logprobs' })
  const texts = readable(body)
  expect(texts.runs[0]!.texts).toEqual([])
  expect(Buffer.from(runAtOnce(texts.apply())).toString()).toBe(`[${after},0]`)
})

test.each<[what: string, json: string, more: Partial<TextPlace>, why: string]>([
  ['a lone surrogate', String.raw`"a\ud83d"`, {}, 'p1: text with a lone surrogate'],
  ['no base64', '"%%"', { form: 'base64' }, 'p1: a text file that is not base64'],
  ['a binary file', base64(Uint8Array.of(0xff, 0, 1, 2)), { form: 'base64' }, 'p1: a text file that is not base64'],
])('%s cannot be read', (_, json, more, unreadable) => {
  expect(one(json, more).read()).toEqual({ unreadable })
})

test('each text keeps its own place when several change', () => {
  const body = bodyOf([{ places: [['"one"'], ['"two"']] }, { places: [['"three"']] }])
  const texts = readable(body)
  expect(runAtOnce(texts.measure())).toBe(11)
  texts.runs[0]!.texts[0]!.text = 'a longer one'
  texts.runs[1]!.texts[0]!.text = ''
  expect(Buffer.from(runAtOnce(texts.apply())).toString()).toBe('["a longer one","two","",0]')
  expect(runAtOnce(texts.measure())).toBe(15)
})

test('a long string is read to its first and last character, and a half character is found in it', () => {
  const text = `é${'x'.repeat(70_000)}z`
  expect(readable(one(JSON.stringify(text))).runs[0]!.texts[0]!.text === text).toBe(true)
  expect(one(`"${'x'.repeat(70_000)}\\ud83d"`).read()).toEqual({ unreadable: 'p1: text with a lone surrogate' })
})

test('the arguments of many calls are kept without a list for each', () => {
  const places = Array.from({ length: 2000 }, (): Place => ['"{\\"a\\": \\"b\\"}"', { form: 'arguments' }])
  const body = bodyOf([{ joins: false, places }])
  const before = process.memoryUsage().arrayBuffers
  const texts = readable(body)
  // A list of a few kilobytes for each would be tens of megabytes.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000)
  expect(texts.runs[0]!.texts).toHaveLength(4000)
})
