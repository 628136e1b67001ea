import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SseBlocks } from './sse-splitter.ts'

/** Ends of all blocks, as positions in the whole stream. */
function ends(stream: string, cuts: readonly number[] = []): number[] {
  const bytes = new TextEncoder().encode(stream)
  const blocks = new SseBlocks()
  const found: number[] = []
  let start = 0
  for (const size of [...cuts, bytes.length]) {
    const piece = bytes.subarray(start, start + size)
    for (let at = blocks.next(piece, 0); at >= 0; at = blocks.next(piece, at)) found.push(start + at)
    start += piece.length
  }
  return found
}

const cases: [stream: string, ends: number[]][] = [
  ['', []],
  ['data: x\n', []],
  ['data: x\n\n', [9]],
  ['data: x\r\n\r\n', [11]],
  ['data: x\r\r:', [9]],
  ['event: a\ndata: x\n\n: ping\n\ndata', [18, 26]],
  ['a\r\n\r\nb\n\nc\r\n\nd', [5, 8, 12]],
  ['\n\na\n\n', [1, 2, 5]],
]
for (const [stream, expected] of cases) {
  test(`blocks of ${JSON.stringify(stream)}`, () => expect(ends(stream)).toEqual(expected))
}

test('pieces make no difference', () => {
  const stream = fc.constantFrom('\n', '\r\n').chain((end) => {
    const line = fc.constantFrom('', 'data: x', ':', 'event: long name', '')
    return fc.array(line, { maxLength: 20 }).map((lines) => lines.join(end) + end)
  })
  fc.assert(
    fc.property(stream, fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 100 }), (text, cuts) => {
      expect(ends(text, cuts)).toEqual(ends(text))
    }),
  )
})

test('lone returns end lines in any pieces', () => {
  const stream = 'data: x\r\rdata: y\r\r: z\r\r'
  for (let size = 1; size < 8; size++) {
    expect(ends(stream, new Array(stream.length).fill(size))).toContain(stream.length)
  }
})
