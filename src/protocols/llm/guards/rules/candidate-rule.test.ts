import { expect, test } from 'vitest'
import { OwnPattern } from '#base/pattern/own-pattern.ts'
import { builtinRule } from './builtin-rules.ts'
import { CandidateRule, type CheckCandidate } from './candidate-rule.ts'
import { findMatches } from './testing.ts'

const ruleWith = (check: CheckCandidate | undefined, patterns: readonly string[]) =>
  new CandidateRule(
    { placeholder: '<x>', label: 'X', isNumeric: false },
    patterns.map((pattern) => new OwnPattern(pattern)),
    check,
  )
const rule = (...patterns: readonly string[]) => ruleWith(undefined, patterns)

/** A candidate counts behind a space only. */
const behindSpace: CheckCandidate = ({ length }, before) => (before === ' ' ? [{ start: 0, end: length }] : [])

test.each<[what: string, patterns: string[], text: string, matches: [start: number, end: number][]]>([
  ['one inside another', ['abcdef', 'cd'], '.abcdef.', [[1, 7]]],
  ['one that begins with another', ['abc', 'abcdef'], 'abcdef', [[0, 6]]],
  ['one that ends with another', ['abcdef', 'def'], 'abcdef', [[0, 6]]],
  ['two that overlap', ['abcd', 'cdef'], 'abcdef', [[0, 6]]],
  ['three that overlap one after the other', ['abc', 'cde', 'efg'], 'abcdefg', [[0, 7]]],
  [
    'two that touch',
    ['ab', 'cd'],
    'abcd',
    [
      [0, 2],
      [2, 4],
    ],
  ],
  [
    'two apart, the second pattern first',
    ['cd', 'ab'],
    'ab cd ab',
    [
      [0, 2],
      [3, 5],
      [6, 8],
    ],
  ],
])('matches of several patterns: %s', (_, patterns, text, matches) => {
  const expected = matches.map(([start, end]) => ({ start, end }))
  expect(findMatches(rule(...patterns), text)).toEqual(expected)
  for (let cut = 0; cut <= text.length; cut++) {
    const scanner = rule(...patterns).scan()
    const found = [text.slice(0, cut), text.slice(cut), ''].flatMap((piece, index) => {
      if (index === 2) scanner.finish()
      else scanner.push(piece)
      return scanner.takeMatches()
    })
    expect(found, `cut at ${cut}`).toEqual(expected.map((match) => ({ ...match, continues: false })))
  }
})

test('a match that is certain is told while another one may go on', () => {
  const scanner = rule('ab', 'cd', 'cdef').scan()
  scanner.push('ab cd')
  expect(scanner.takeMatches()).toEqual([{ start: 0, end: 2, continues: false }])
  scanner.push('x')
  expect(scanner.takeMatches()).toEqual([{ start: 3, end: 5, continues: false }])
})

test('a copy finds what its original would have found, and each goes on by itself', () => {
  const checked = ruleWith(behindSpace, ['ab', 'abcd', 'cdef'])
  const matchesOf = (text: string) => findMatches(checked, text).map((match) => ({ ...match, continues: false }))
  const text = 'ab abcdef ab'
  expect(matchesOf(text)).toHaveLength(2)
  for (let cut = 0; cut <= text.length; cut++) {
    const scanner = checked.scan()
    scanner.push(text.slice(0, cut))
    const copy = scanner.fork()
    expect(copy.settled).toBe(scanner.settled)
    for (const [each, rest] of [
      [scanner, ' ab'],
      [copy, text.slice(cut)],
    ] as const) {
      each.push(rest)
      each.finish()
      expect(each.takeMatches()).toEqual(matchesOf(text.slice(0, cut) + rest))
    }
  }
})

test.each<[what: string, one: string, other: string, agrees: boolean]>([
  ['both behind text without a match', 'xx', 'x', true],
  ['the other one at the beginning, where no space is before a candidate', 'x', '', false],
  ['the first one at the beginning', '', 'x', false],
  ['only the first one with a candidate', 'xa', 'x', false],
  ['only the first one in a match', ' abc', 'xabc', false],
  ['only the other one in a match', 'xabc', ' abc', false],
])('searches agree only if they find the same from there on: %s', (_, one, other, agrees) => {
  const checked = ruleWith(behindSpace, ['ab', 'abcd'])
  const [scanner, another] = [one, other].map((text) => {
    const scanner = checked.scan()
    scanner.push(text)
    scanner.takeMatches()
    return scanner
  })
  expect(scanner!.agreesWith(another!, one.length - other.length)).toBe(agrees)
})

test('a search agrees with none of another kind', () => {
  const [scanner, another] = [rule('ab', 'cd').scan(), builtinRule('Ssn').scan()]
  for (const each of [scanner, another]) each!.push('x ')
  expect(scanner!.agreesWith(another!, 0)).toBe(false)
})
