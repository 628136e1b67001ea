import { expect, test } from 'vitest'
import { HAS_ERROR, HAS_FINISH, HAS_USAGE, SseBlock } from './sse-block.ts'

test('what is found is that of the block that was read last', () => {
  const block = new SseBlock()
  const found = (text: string) => {
    const bytes = Buffer.from(text)
    return block.read(bytes, 0, bytes.length, 'finish').found
  }
  expect(found('data: {"usage":{},"error":{},"finish":"stop"}\n\n')).toBe(HAS_USAGE | HAS_ERROR | HAS_FINISH)
  expect(found('data: {}\n\n')).toBe(0)
})
