import { expect, test } from 'vitest'
import { SseBlock } from '../sse/sse-block.ts'
import { isEventOf } from './stream-format.ts'

test.each<[text: string, is: boolean]>([
  ['event: x\ndata: {}\n\n', true],
  ['event: y\ndata: {"type":"x"}\n\n', false],
  ['data: {"type":"x"}\n\n', true],
  ['data: {"type": "x","a":1}\n\n', true],
  ['data: {"type":  "x"}\n\n', false],
  ['data: {"kind":"x"}\n\n', false],
  ['data: {"type":"xy"}\n\n', false],
  ['data: {"a":1,"type":"x"}\n\n', false],
  ['data: "x"\n\n', false],
  ['data: x\n\n', false],
  [': x\n\n', false],
])('%j is an event of type x: %j', (text, is) => {
  const bytes = Buffer.from(`--${text}`)
  expect(isEventOf(new SseBlock().read(bytes, 2, bytes.length), 'x')).toBe(is)
})
