import { expect, test } from 'vitest'
import { OwnPattern } from '#base/pattern/own-pattern.ts'
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
