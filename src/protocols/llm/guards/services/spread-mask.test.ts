import { expect, test } from 'vitest'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import { type ChangeableText, type Joining, spreadMask } from './spread-mask.ts'

function spread(texts: readonly ChangeableText[], joining: Joining, after: string): boolean {
  return runAtOnce(spreadMask(texts, joining, after, new Pace()))
}

test.each<[string[], string, string[] | false]>([
  [['ab', 'cd', 'ef'], 'abcXdef', ['ab', 'cXd', 'ef']],
  [['ab', 'cd'], 'abXcd', ['abX', 'cd']],
  [['ab', 'cd'], 'Xabcd', ['Xab', 'cd']],
  [['ab', 'cd'], 'abcdX', ['ab', 'cdX']],
  [['!ab', 'cd'], 'abXcd', false],
  [['aa'], 'a', ['a']],
  [['a'], 'aa', ['aa']],
  [['ab', 'cd', 'ef'], 'aXYf', ['aXY', '', 'f']],
  [['ab', 'cd'], '', ['', '']],
  [['a\u{1f600}b'], 'a\u{1f601}b', ['a\u{1f601}b']],
])('what follows without a separator: %j -> %j', (before, after, expected) => {
  const texts = before.map((text) => ({ text: text.replace(/^!/, ''), canChange: !text.startsWith('!') }))
  expect(spread(texts, { separator: '', covered: '' }, after) && texts.map(({ text }) => text)).toEqual(expected)
})

test('a text that is covered becomes what the joining says', () => {
  const texts = ['one', 'two', 'three'].map((text) => ({ text, canChange: true }))
  expect(spread(texts, { separator: ' ', covered: '<x>' }, 'on***')).toBe(true)
  expect(texts.map(({ text }) => text)).toEqual(['on***', '<x>', '<x>'])
})

test('what long texts have in common stays', () => {
  const [start, end] = ['s'.repeat(10_000), 'e'.repeat(9_000)]
  const texts = [start, 'secret', end].map((text) => ({ text, canChange: text === 'secret' }))
  expect(spread(texts, { separator: ' ', covered: 'x' }, `${start} <S> ${end}`)).toBe(true)
  expect(texts.map(({ text }) => text)).toEqual([start, '<S>', end])
  // The same character on both sides of a change.
  const one = [{ text: 'a'.repeat(9000), canChange: true }]
  expect(spread(one, { separator: '', covered: '' }, 'a'.repeat(8500))).toBe(true)
  expect(one[0]!.text).toBe('a'.repeat(8500))
})

test.each([
  ['at their start', `secret${'a'.repeat(9000)}`, `<S>${'a'.repeat(9000)}`],
  ['at their end', `${'a'.repeat(9000)}secret`, `${'a'.repeat(9000)}<S>`],
  ['but for one part', `${'s'.repeat(9000)}${'a'.repeat(5000)}`, `${'*'.repeat(9000)}${'a'.repeat(5000)}`],
])('long texts that differ %s', (_, before, after) => {
  const one = [{ text: before, canChange: true }]
  expect(spread(one, { separator: '', covered: '' }, after)).toBe(true)
  expect(one[0]!.text === after).toBe(true)
})

test('what long texts do not have in common changes', () => {
  const texts = ['s', 'e'].map((letter) => ({ text: letter.repeat(5000), canChange: true }))
  const after = `${'s'.repeat(4900)}${'x'.repeat(10_000)}`
  expect(spread(texts, { separator: '', covered: '' }, after)).toBe(true)
  expect(texts.map(({ text }) => text).join('')).toBe(after)
})
