import { expect, test } from 'vitest'
import { SseBlock } from './sse-block.ts'

/** Reads a block that is not at the beginning of its memory. */
function read(text: string, finish?: string, block = new SseBlock()): SseBlock {
  const bytes = Buffer.from(`"usage":1,${text}`)
  return block.read(bytes, 10, bytes.length, finish)
}

// 1: usage, 2: the reason why the model stopped, 4: an error.
test.each<[block: string, found: number]>([
  ['data: {}', 0],
  ['data: {"usage":{}}', 1],
  ['data: {"finish":"stop"}', 2],
  ['data: {"error":"x"}', 4],
  ['data: {"usage":{},"error":{},"finish":"stop"}', 7],
  ['data: {"a":{"usage" : 1}}', 1],
  ['data: {"usage":null,"finish": null}', 0],
  ['data: {"usage":null,"b":{"usage":2}}', 1],
  ['data: {"a":"usage"}', 0],
  ['data: ["usage", 1]', 0],
  ['data: {"a":"usage::x"}', 0],
  ['data: {"my usage":1}', 0],
  ['data: {"usage":', 0],
  ['data: {}\n: "usage":1', 0],
  [': "usage":1', 0],
])('in %j, %i is found', (text, found) => {
  const block = new SseBlock()
  for (const end of ['\n\n', '']) {
    expect(read(`${text}${end}`, 'finish', block).found).toBe(found)
    expect(read(`${text}${end}`, undefined, block).found).toBe(0)
    // What was read before leaves nothing.
    expect(
      read('data: {"usage":{},"error":{},"finish":"stop","more":"................"}\n\n', 'finish', block).found,
    ).toBe(7)
  }
})

test('a format without a member for the end finds none', () => {
  expect(read('data: {"":1}\n\n', '').found).toBe(0)
})

test('each block is read anew', () => {
  const block = new SseBlock()
  const shown = ({ name, data, isSplit, hasOtherLines }: SseBlock) => {
    return [name, Buffer.from(data).toString(), isSplit, hasOtherLines]
  }
  expect(shown(read('event: a\ndata: x\ndata: y\nid: 1\n\n', undefined, block))).toEqual(['a', 'x\ny', true, true])
  expect(shown(read('data: z\n\n', undefined, block))).toEqual(['', 'z', false, false])
  read('data: a long one\n\n', undefined, block)
  expect(shown(read('event: b\n\n', undefined, block))).toEqual(['b', '', false, false])
  expect(shown(read('\rdata: x\r\r', undefined, block))).toEqual(['', 'x', false, false])
})

test.each([
  ['stop', true],
  ['stip', false],
  ['st', false],
  ['stopped', false],
])('a block with the name stop is named %s: %s', (name, isNamed) => {
  expect(read('event: stop\ndata: 1\n\n').isNamed(name)).toBe(isNamed)
})
