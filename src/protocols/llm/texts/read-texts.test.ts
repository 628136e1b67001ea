import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { type BlockOf, type EventShape, indexOf, readEvent } from './read-texts.ts'
import { documentOf } from './testing.ts'
import { compileTable } from './text-table.ts'
import { FILE, TEXT } from './treatments.ts'

const TABLE = compileTable({ first: [], runs: {}, places: { text: TEXT, file: FILE }, anywhere: {} })

function eventOf(event: object, shape: Partial<EventShape> = {}) {
  const all: EventShape = { isKnown: true, blockOf: () => undefined, closes: [], exempt: undefined, ...shape }
  const read = runAtOnce(readEvent(documentOf(event), TABLE, all))
  return { ...read, texts: read.places.map((place) => read.textAt(place)) }
}

const BLOCK: BlockOf = { block: 'b', kind: 'delta' }

test('a text of no block is a block of its own', () => {
  const { texts, isSteady } = eventOf({ text: 'a' })
  expect(texts).toMatchObject([{ block: 'event text', kind: 'delta', form: 'string', ends: true, sequence: undefined }])
  expect(isSteady).toBe(false)
})

test('in an event that is not known, all texts go on, and names do not', () => {
  const { texts } = eventOf({ list: [{ index: 3, x: 'a' }], odd: { name: 'b' } }, { isKnown: false })
  expect(texts.map(({ block, kind, ends }) => [block, kind, ends])).toEqual([
    ['event list[0]{0}:name', 'delta', true],
    ['event list[0]{1}:name', 'delta', true],
    ['list[3]{1}', 'delta', false],
    ['event odd{0}:name', 'delta', true],
    ['odd{0}', 'delta', false],
  ])
})

test('a text of a block has the form of the block, and its sequence', () => {
  const { texts } = eventOf({ text: 'a' }, { blockOf: () => ({ ...BLOCK, form: 'arguments', sequence: 's' }) })
  expect(texts).toMatchObject([{ block: 'b', form: 'arguments', ends: false, sequence: 's' }])
  expect(eventOf({ text: 'a' }, { blockOf: () => BLOCK }).texts).toMatchObject([{ block: 'b', form: 'string' }])
})

test.each<[what: string, event: object, shape: Partial<EventShape>, isSteady: boolean]>([
  ['a text that goes on', { text: 'a' }, { blockOf: () => BLOCK }, true],
  // Other data may be no text.
  ['a file', { file: 'YWI=' }, { blockOf: () => BLOCK }, false],
  ['no text', { n: 1 }, { blockOf: () => BLOCK }, false],
  ['two texts', { text: 'a', more: 'b' }, { blockOf: () => BLOCK }, false],
  ['a text that ends', { text: 'a' }, { blockOf: () => ({ ...BLOCK, ends: true }) }, false],
  ['a whole text', { text: 'a' }, { blockOf: () => ({ ...BLOCK, kind: 'whole' }) }, false],
  ['a text, and the end of another block', { text: 'a' }, { blockOf: () => BLOCK, closes: ['c'] }, false],
])('an event with %s is steady: %#', (_, event, shape, isSteady) => {
  expect(eventOf(event, shape).isSteady).toBe(isSteady)
})

test.each<[element: object, number: number]>([
  [{ index: 0 }, 0],
  [{ index: 1 }, 1],
  [{ index: 2 ** 53 - 1 }, 2 ** 53 - 1],
  [{ index: 2 ** 53 }, 7],
  [{ index: -1 }, 7],
  [{ index: 1.5 }, 7],
  [{ index: '1' }, 7],
  [{}, 7],
])('the number of %j at position 7 is %i', (element, number) => {
  expect(indexOf(documentOf(element), 7)).toBe(number)
})
