import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { RepeatedText, RepeatMemory } from './repeated-text.ts'

function textWith(pieces: readonly (readonly [original: string, released: string])[], memory = roomy()): RepeatedText {
  const text = new RepeatedText(memory)
  for (const [original, released] of pieces) {
    text.receive(original)
    text.pass(original, released)
  }
  return text
}

const roomy = () => new RepeatMemory(roomFor(1e6).claim, 1e6)

const many = (count: number, piece: string) => Array.from({ length: count }, () => [piece, piece] as const)

test.each<[what: string, pieces: (readonly [string, string])[], input: string, output: string]>([
  [
    'unchanged',
    [
      ['a ', 'a '],
      ['b', 'b'],
    ],
    'a b',
    'a b',
  ],
  [
    'changed at the end',
    [
      ['a ', 'a '],
      ['b', '*'],
    ],
    'a b',
    'a *',
  ],
  [
    'changed at the beginning',
    [
      ['a', '*'],
      [' ', ''],
      ['b', 'b'],
    ],
    'a b',
    '*b',
  ],
  [
    'many pieces',
    [...many(1000, 'ab'), ['c', '*'], ...many(1000, 'd')],
    `${'ab'.repeat(1000)}c${'d'.repeat(1000)}`,
    `${'ab'.repeat(1000)}*${'d'.repeat(1000)}`,
  ],
  [
    'halves of a character',
    [
      ['\ud83d', '\ud83d'],
      ['\ude00', '\ude00'],
    ],
    '\u{1f600}',
    '\u{1f600}',
  ],
])('a text is repeated, and what the client got of it is known: %s', (_, pieces, input, output) => {
  const text = textWith(pieces)
  expect([text.isRepeatedBy(input), text.outputFor(input)]).toEqual([true, output])
  expect([text.isRepeatedBy(`${input} `), text.isRepeatedBy(input.replace('a', 'x'))]).toEqual([
    false,
    input[0] !== 'a',
  ])
  expect([text.isEmpty, text.isForgotten]).toEqual([false, false])
})

test('a text that comes before that behind it has passed', () => {
  const text = new RepeatedText(roomy())
  for (const original of ['a', 'b', 'c']) text.receive(original)
  text.pass('a', 'a')
  text.pass('b', '*')
  text.pass('c', 'c')
  expect(text.outputFor('abc')).toBe('a*c')
})

test.each([
  ['the stream', 5000, 1e6],
  ['the worker', 1e6, 5000],
])('the texts of a stream take what %s has for them, and what does not fit is forgotten', (_, maxLength, room) => {
  const { claim, memory } = roomFor(0, room)
  const repeats = new RepeatMemory(claim, maxLength)
  const first = textWith(many(2000, 'x'), repeats)
  const second = textWith(many(4000, 'x'), repeats)
  expect([first.isForgotten, second.isForgotten]).toEqual([false, true])
  expect(memory.heldBytes).toBeLessThanOrEqual(5000)
  // No later text takes more.
  const before = memory.heldBytes
  expect(textWith(many(100, 'x'), repeats).isForgotten).toBe(true)
  expect(memory.heldBytes).toBe(before)
})

test('what the client got counts as well', () => {
  const text = textWith([['x', '*'], ...many(3000, 'x')], new RepeatMemory(roomFor(0, 1e6).claim, 5000))
  expect(text.isForgotten).toBe(true)
})
