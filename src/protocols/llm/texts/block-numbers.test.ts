import { expect, test } from 'vitest'
import { ABOVE_INDEXES, BlockNumbers } from './block-numbers.ts'

test('a block has its index as its number, until one has that of another', () => {
  const blocks = new BlockNumbers()
  expect([blocks.of(1), blocks.begin(0), blocks.begin(1), blocks.begin(0), blocks.of(0), blocks.of(1)]).toEqual([
    1,
    0,
    1,
    ABOVE_INDEXES,
    ABOVE_INDEXES,
    1,
  ])
  expect([blocks.begin(0), blocks.begin(1), blocks.of(0)]).toEqual([
    ABOVE_INDEXES + 1,
    ABOVE_INDEXES + 2,
    ABOVE_INDEXES + 1,
  ])
})

test('blocks behind one with the index of another have numbers above it, in their order', () => {
  const blocks = new BlockNumbers()
  expect([blocks.begin(0), blocks.begin(0), blocks.begin(2), blocks.of(1), blocks.of(1), blocks.of(2)]).toEqual([
    0,
    ABOVE_INDEXES,
    ABOVE_INDEXES + 1,
    ABOVE_INDEXES + 2,
    ABOVE_INDEXES + 2,
    ABOVE_INDEXES + 1,
  ])
})

test('4,096 blocks are remembered', () => {
  const blocks = new BlockNumbers()
  for (let index = 0; index < 4096; index++) blocks.begin(index)
  expect(blocks.begin(4096)).toBe(4096)
  expect(blocks.begin(0)).toBe(0)
  expect(blocks.begin(4096)).toBe(ABOVE_INDEXES)
})
