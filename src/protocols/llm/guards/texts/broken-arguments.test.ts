import { expect, test } from 'vitest'
import { Pace, runAtOnce, type Steps } from '#base/in-slices.ts'
import { reject } from '#exchange/outcome.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import type { TextRule } from '../rules/text-rule.ts'
import { type ArgumentStrings, BrokenArguments } from './broken-arguments.ts'

const brokenOf = (text: string, canChange = true) => new BrokenArguments(text, canChange, false)
const stringsOf = (text: string, canChange = true): ArgumentStrings =>
  runAtOnce(brokenOf(text, canChange).strings(new Pace()))

function guardOf(...matches: readonly string[]): RegexGuard {
  const rules = compileRules({ matches }, () => {})
  return { phase: 'response', index: 0, kind: 'regex', rejects: false, refusal: reject('prompt-guard-rejected'), rules }
}

function countYields(work: Steps<unknown>): number {
  let yields = 0
  while (work.next().done !== true) yields++
  return yields
}

const LONG = 'x '.repeat(400)

test.each<[text: string, matches: string, masked: string | undefined]>([
  ['{"a":"secret', 'secret', '{"a":"<masked>'],
  ['{"a":"\\u0073ecret", secret', 'secret', '{"a":"<masked>", <masked>'],
  ['{"a":"b\\/"', 'secret', '{"a":"b\\/"'],
  ['{"secret":"b"', 'secret', undefined],
  ['12 secret', 'secret', '12 <masked>'],
  [`["${LONG}secret","${LONG}"`, 'secret', `["${LONG}<masked>","${LONG}"`],
  // A match that begins in JSON, which cannot be masked; all of the JSON counts.
  [`["secret${LONG}", secret`, 'secret(?s:.)*secret', undefined],
  // In a stream, 256 characters of an open match are held.
  [`["${' '.repeat(250)}x${'- '.repeat(400)}z" z`, 'x[^z]*z', `["${' '.repeat(250)}<masked>" z`],
  ['', 'secret', ''],
])('%s, under %s, becomes %s', (text, matches, masked) => {
  const broken = brokenOf(text)
  const guard = guardOf(matches)
  const rules = new Set<TextRule>()
  expect(runAtOnce(broken.maskAll(guard, rules, new Pace()))).toEqual(masked === undefined ? guard.rules : undefined)
  if (masked === undefined) return
  expect(broken.text).toBe(masked)
  expect([...rules]).toEqual(masked === text ? [] : guard.rules)
})

test('arguments that cannot change are only searched', () => {
  const guard = guardOf('secret')
  const found = (text: string) => runAtOnce(brokenOf(text, false).maskAll(guard, new Set(), new Pace()))
  expect([found('{"a":"b'), found('{"a":"secret'), found('secret')]).toEqual([undefined, guard.rules, guard.rules])
})

test.each<[text: string, strings: [text: string, canChange: boolean][]]>([
  [
    '{"a":"\\u0062\\/","":["","c"',
    [
      ['a', false],
      ['b/', true],
      ['', false],
      ['', false],
      ['c', true],
    ],
  ],
  [
    '{"a":b, "c"',
    [
      ['a', false],
      ['b, "c"', true],
    ],
  ],
  ['plain', [['plain', true]]],
  [' ', [[' ', true]]],
  [`["${LONG}`, [[LONG, true]]],
  [`["\\/${LONG}\\/`, [[`/${LONG}/`, true]]],
  ['{', []],
  ['', []],
])('the strings of %s are %j', (text, strings) => {
  const found = stringsOf(text)
  expect(found.texts.map((each) => [each.text, each.canChange])).toEqual(strings)
  expect(stringsOf(text, false).texts.map(({ canChange }) => canChange)).toEqual(strings.map(() => false))
  // What has not changed stays as it is written.
  expect(runAtOnce(found.write(new Pace()))).toBe(text)
})

test('strings that have changed are written anew', () => {
  const found = stringsOf(`{"a":"\\u0062","c":"${LONG}\\/","d":["\\/", secret "e"`)
  const [, b, , c, , slash, plain] = found.texts
  b!.text = '"'
  c!.text = 'c"'
  plain!.text = 'plain "'
  expect(slash!.text).toBe('/')
  expect(runAtOnce(found.write(new Pace()))).toBe('{"a":"\\"","c":"c\\"","d":["\\/", plain "')
})

test('long arguments are checked, read and written in steps', () => {
  // A step is for four parts of 256 characters.
  const long = brokenOf(`["${'x'.repeat(570 * 256)}`)
  expect(countYields(long.maskAll(guardOf('secret'), new Set(), new Pace()))).toBe(142)
  expect(countYields(long.strings(new Pace()))).toBe(142)
  expect(countYields(brokenOf('["a"').strings(new Pace()))).toBe(0)
  const many = stringsOf(`[${'"x",'.repeat(5000)}`)
  expect(countYields(many.write(new Pace()))).toBe(10)
  expect(countYields(stringsOf(`["x","${'x'.repeat(16_384)}"`).write(new Pace()))).toBe(1)
})
