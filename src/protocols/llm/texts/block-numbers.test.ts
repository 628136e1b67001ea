import { expect, test } from 'vitest'
import { ABOVE_INDEXES, BlockNumbers } from './block-numbers.ts'

test('a block has its index as its number, unless another one had it', () => {
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

test('4,096 blocks are remembered', () => {
  const blocks = new BlockNumbers()
  for (let index = 0; index < 4096; index++) blocks.begin(index)
  expect(blocks.begin(0)).toBe(0)
  for (let index = 1; index < 4095; index++) blocks.begin(index)
  expect(blocks.begin(0)).toBe(ABOVE_INDEXES)
})
