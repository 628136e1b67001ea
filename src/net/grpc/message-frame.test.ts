import { expect, test } from 'vitest'
import { BadFrame, FrameReader, frameMessage } from './message-frame.ts'

const bytes = (...all: number[]) => Uint8Array.from(all)

/** All messages of a body in these pieces. */
function messagesOf(pieces: readonly Uint8Array[], maxBytes = 100): string[] {
  const reader = new FrameReader(maxBytes)
  const messages: Uint8Array[] = []
  for (const piece of pieces) {
    reader.push(piece)
    for (let next = reader.next(); next !== undefined; next = reader.next()) messages.push(next)
  }
  const texts = messages.map((message) => Buffer.from(message).toString())
  return reader.atBoundary ? texts : [...texts, 'incomplete']
}

test('a message as it is sent', () => {
  expect(frameMessage(bytes(7, 8))).toEqual(bytes(0, 0, 0, 0, 2, 7, 8))
  expect(frameMessage(bytes())).toEqual(bytes(0, 0, 0, 0, 0))
})

test('messages arrive in any pieces, and stay as they are when more arrives', () => {
  const body = Buffer.concat(['one', '', 'three', 'x'.repeat(90)].map((text) => frameMessage(Buffer.from(text))))
  const expected = ['one', '', 'three', 'x'.repeat(90)]
  for (const size of [1, 2, 4, 5, 7, 50, 1000]) {
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
      body.subarray(i * size, (i + 1) * size),
    )
    expect(messagesOf(pieces), `pieces of ${size}`).toEqual(expected)
  }
})

test.each([
  ['in the prefix', bytes(0, 0, 0)],
  ['in the message', bytes(0, 0, 0, 0, 2, 7)],
])('a body that ends %s is incomplete', (_, body) => {
  expect(messagesOf([body])).toEqual(['incomplete'])
})

test('a compressed message is refused', () => {
  expect(() => messagesOf([bytes(1, 0, 0, 0, 1, 65)])).toThrow(new BadFrame('the message is compressed'))
})

test('a message over the limit is refused before it arrives; one of that size is not', () => {
  expect(messagesOf([frameMessage(Buffer.from('abc'))], 3)).toEqual(['abc'])
  const tooLong = new BadFrame('the message has 4294967295 bytes; the limit is 3')
  expect(() => messagesOf([bytes(0, 255, 255, 255, 255)], 3)).toThrow(tooLong)
  expect(() => messagesOf([bytes(0, 0, 0, 0, 4)], 3)).toThrow(new BadFrame('the message has 4 bytes; the limit is 3'))
})

test('many small pieces of a large message take linear time', () => {
  const reader = new FrameReader(4_000_000)
  const body = frameMessage(new Uint8Array(4_000_000).fill(7))
  let copies = 0
  const { set } = Uint8Array.prototype
  Uint8Array.prototype.set = function (...given) {
    copies += (given[0] as ArrayLike<number>).length
    set.apply(this, given)
  }
  try {
    for (let at = 0; at < body.length; at += 500) reader.push(body.subarray(at, at + 500))
  } finally {
    Uint8Array.prototype.set = set
  }
  expect(Buffer.compare(reader.next()!, body.subarray(5))).toBe(0)
  expect(copies).toBeLessThan(4 * body.length)
})
