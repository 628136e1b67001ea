import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { SseSplitter } from './sse-splitter.ts'

/** Splits pieces, and notes the texts of blocks and of parts. */
function split(pieces: readonly string[], limits: { claim?: BodyClaim; maxBlockBytes?: number } = {}) {
  const got: string[] = []
  const receiver = {
    block: (buffer: Buffer, start: number, end: number) => got.push(buffer.toString('latin1', start, end)),
    part: (buffer: Buffer, start: number, end: number, isLast: boolean) => {
      got.push(`${isLast ? 'last' : 'part'} ${buffer.toString('latin1', start, end)}`)
    },
  }
  const splitter = new SseSplitter(receiver, { claim: roomFor(0).claim, ...limits })
  for (const piece of pieces) {
    // Between other bytes.
    const buffer = Buffer.from(`\n${piece}\n`, 'latin1')
    splitter.push(buffer, 1, buffer.length - 1)
  }
  return { got, rest: splitter.rest.toString('latin1') }
}

test.each<[pieces: string[], got: string[], rest: string]>([
  [[''], [], ''],
  [['a\n\n'], ['a\n\n'], ''],
  [['a\n\nb\n\n'], ['a\n\n', 'b\n\n'], ''],
  [['a\n\nb'], ['a\n\n'], 'b'],
  [['a', 'b\n\nc\n\n'], ['ab\n\n', 'c\n\n'], ''],
  [['a\n', '\nb\n\nc', 'd'], ['a\n\n', 'b\n\n'], 'cd'],
  [['a', '', 'b', '\n\n', 'c\n\n'], ['ab\n\n', 'c\n\n'], ''],
])('pieces %j give whole blocks', (pieces, got, rest) => {
  expect(split(pieces)).toEqual({ got, rest })
})

test.each<[pieces: string[], got: string[], rest: string]>([
  [['abc', 'd', '\n\n'], ['part abcd', 'last \n\n'], ''],
  [['abcde', 'f', 'g\n\nh\n\n'], ['part abcde', 'part f', 'last g\n\n', 'h\n\n'], ''],
  // As long as the limit.
  [['ab', '\n\n'], ['ab\n\n'], ''],
  [['abcde', '\n\n', 'f', '\n\n'], ['part abcde', 'last \n\n', 'f\n\n'], ''],
  [['abcde\n\nf', '\n\n'], ['abcde\n\n', 'f\n\n'], ''],
  [['a', 'bcdef', 'g'], ['part a', 'part bcdef', 'part g'], ''],
])('of pieces %j, blocks of more than four bytes over several pieces are in parts', (pieces, got, rest) => {
  expect(split(pieces, { maxBlockBytes: 4 })).toEqual({ got, rest })
})

test('without memory, a block over several pieces is in parts', () => {
  const claim = new BodyClaim(new BodyMemory(0))
  expect(split(['a\n\nb', 'c\n\n', 'd\n\n'], { claim }).got).toEqual(['a\n\n', 'part b', 'last c\n\n', 'd\n\n'])
})

test('the memory of a block is free when the block is complete', () => {
  const memory = new BodyMemory(4)
  const claim = new BodyClaim(memory)
  expect(split(['ab', '\n\n', 'cd', '\n\n'], { claim, maxBlockBytes: 4 }).got).toEqual(['ab\n\n', 'cd\n\n'])
  expect(split(['ab', 'cdef', '\n\ngh', '\n\n'], { claim, maxBlockBytes: 4 }).got).toEqual([
    ...['part ab', 'part cdef', 'last \n\n', 'gh\n\n'],
  ])
})

test('a block of two megabytes is whole, and a longer one is in parts', () => {
  const line = (length: number) => `${'x'.repeat(length - 2)}\n\n`
  const kinds = (length: number) => {
    const text = line(length)
    return split([text.slice(0, 10), text.slice(10)]).got.map((each) => each.slice(0, 4))
  }
  expect(kinds(2_097_152)).toEqual(['xxxx'])
  expect(kinds(2_097_153)).toEqual(['part', 'last'])
})
