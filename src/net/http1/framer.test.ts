import { expect, test } from 'vitest'
import { BODY_CHUNKED, BODY_CLOSE, BODY_LENGTH, BODY_NONE, type BodyKind } from '../stream.ts'
import { Framer } from './framer.ts'

interface Seen {
  taken: string
  /** Index after the last consumed byte. */
  after: number
  done: boolean
  bad: boolean
}

/** Feeds `text` in pieces of `step` bytes. */
function feed(text: string, kind: BodyKind, length: number, { step = text.length, framed = false } = {}): Seen {
  const framer = new Framer()
  framer.start(kind, length)
  const bytes = Buffer.from(text, 'latin1')
  let taken = ''
  const taker = {
    bytes: (buffer: Buffer, start: number, end: number) => {
      taken += buffer.latin1Slice(start, end)
    },
  }
  let after = 0
  for (let at = 0; at < bytes.length && !framer.done && !framer.bad; at += step) {
    after = framer.feed(bytes, at, Math.min(bytes.length, at + step), taker, framed)
  }
  return { taken, after, done: framer.done, bad: framer.bad }
}

test.each([
  ['nothing', BODY_NONE, -1, 'next', { taken: '', after: 0, done: true, bad: false }],
  ['length 0', BODY_LENGTH, 0, 'next', { taken: '', after: 0, done: true, bad: false }],
  ['a length', BODY_LENGTH, 3, 'abcnext', { taken: 'abc', after: 3, done: true, bad: false }],
  ['a length that is not reached', BODY_LENGTH, 9, 'abc', { taken: 'abc', after: 3, done: false, bad: false }],
  ['until close', BODY_CLOSE, -1, 'abc', { taken: 'abc', after: 3, done: false, bad: false }],
] as const)('%s', (_, kind, length, text, expected) => {
  expect(feed(text, kind, length)).toEqual(expected)
  expect({ ...feed(text, kind, length, { step: 1 }) }).toEqual(expected)
})

const CHUNKED: [text: string, payload: string][] = [
  ['0\r\n\r\n', ''],
  ['5\r\nhello\r\n0\r\n\r\n', 'hello'],
  ['5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n', 'hello world'],
  ['A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n', '01234567890123456789'],
  ['00000005\r\nhello\r\n00000000\r\n\r\n', 'hello'],
  ['5;a\r\nhello\r\n0;b=c\r\n\r\n', 'hello'],
  ['5;a="x;\\"y";b=c;d="";e\r\nhello\r\n0\r\n\r\n', 'hello'],
  ['1;a="b\tc"\r\nd\r\n0\r\n\r\n', 'd'],
  ['2\r\n\r\n\r\n0\r\n\r\n', '\r\n'],
  ['5\r\n0\r\n\r\n\r\n0\r\n\r\n', '0\r\n\r\n'],
]

test.each(CHUNKED)('chunked %j, whole and byte by byte, payload and framed', (text, payload) => {
  const end = { after: text.length, done: true, bad: false }
  for (const step of [text.length, 1, 2, 3, 7]) {
    expect(feed(text, BODY_CHUNKED, -1, { step })).toEqual({ ...end, taken: payload })
    expect(feed(text, BODY_CHUNKED, -1, { step, framed: true })).toEqual({ ...end, taken: text })
  }
  expect(feed(`${text}GET`, BODY_CHUNKED, -1).after).toBe(text.length)
  expect(feed(`${text}GET`, BODY_CHUNKED, -1, { framed: true })).toEqual({ ...end, taken: text })
})

test.each([
  ['2\r\nab\r\n0\r\nX: y\r\n\r\n'],
  ['2\r\nab\r\n0\r\nX:\r\nY-Z: \u00e9 \t\r\n\r\n'],
  ['2\r\nab\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: evil\r\n\r\n'],
])('trailers are removed: %j', (text) => {
  for (const step of [text.length, 1, 2, 3, 5]) {
    const end = { after: text.length, done: true, bad: false }
    expect(feed(text, BODY_CHUNKED, -1, { step, framed: true })).toEqual({ ...end, taken: '2\r\nab\r\n0\r\n\r\n' })
    expect(feed(text, BODY_CHUNKED, -1, { step })).toEqual({ ...end, taken: 'ab' })
  }
})

/** Invalid framing, including published ways of hiding a request in a chunked body. */
const BAD: string[] = [
  '\r\n',
  'x\r\n',
  'g\r\n',
  '-1\r\n',
  '+1\r\na\r\n',
  ' 1\r\na\r\n',
  '1 \r\na\r\n',
  '1\t\r\na\r\n',
  '0x1\r\na\r\n',
  '1_0\r\n',
  '1.0\r\n',
  '1,1\r\n',
  ';a\r\n',
  '000000005\r\nhello\r\n',
  '100000000\r\n',
  'fffffffffffffffff\r\n',
  '1\na\n0\n\n',
  '1\r\na\n0\r\n\r\n',
  '1\na\r\n0\r\n\r\n',
  '1\ra\r\n',
  '1\r\r\na\r\n',
  '1\r\nab\r\n',
  '1\r\na\r\r\n',
  '1\r\na0\r\n\r\n',
  '1\r\na\r0\r\n',
  '1\r\naXX0\r\n\r\n',
  '1;a\nb\r\na\r\n',
  '1;a\rb\r\na\r\n',
  '1;a\0\r\na\r\n',
  '1;\u00e9\r\na\r\n',
  '1;a\u007f\r\na\r\n',
  '1 ;a\r\na\r\n',
  '1;\r\na\r\n',
  '1;;a\r\na\r\n',
  '1;=a\r\na\r\n',
  '1;a=\r\na\r\n',
  '1; a\r\na\r\n',
  '1;a =b\r\na\r\n',
  '1;a= b\r\na\r\n',
  '1;a="b\r\na\r\n',
  '1;a="b\nc"\r\na\r\n',
  '1;a="b"c\r\na\r\n',
  '1;a=b"c"\r\na\r\n',
  '1;a="\\\r\n"\r\na\r\n',
  '0\n\r\n',
  '0\r\n\n',
  '0\r\n\rX',
  '0\r\n X: y\r\n\r\n',
  '0\r\nX\r\n\r\n',
  '0\r\nX : y\r\n\r\n',
  '0\r\n: y\r\n\r\n',
  '0\r\nX: y\n\r\n',
  '0\r\nX: a\rb\r\n\r\n',
  '0\r\nX: a\r\n b\r\n\r\n',
  '0\r\nX: \0\r\n\r\n',
  '\u00b9\r\na\r\n',
  `1;${'x'.repeat(1025)}\r\na\r\n`,
  `0\r\nX: ${'x'.repeat(16_385)}\r\n\r\n`,
]

test.each(BAD)('refuses %j', (text) => {
  for (const framed of [false, true]) {
    for (const step of [text.length, 1]) {
      expect(feed(text, BODY_CHUNKED, -1, { step, framed })).toMatchObject({ bad: true, done: false })
    }
  }
})

test('many chunks with signatures are accepted: the limit of extensions is per chunk', () => {
  const chunk = `1;chunk-signature=${'0'.repeat(64)}\r\na\r\n`
  const text = `${chunk.repeat(1000)}0\r\n\r\n`
  expect(feed(text, BODY_CHUNKED, -1)).toMatchObject({ taken: 'a'.repeat(1000), done: true })
})

test('no bytes of an invalid piece are forwarded with framing', () => {
  expect(feed('1\r\na\r\nzz', BODY_CHUNKED, -1, { framed: true })).toMatchObject({ taken: '', bad: true })
})

test.each([
  [BODY_NONE, -1, true],
  [BODY_LENGTH, 3, false],
  [BODY_CHUNKED, -1, false],
  [BODY_CLOSE, -1, true],
] as const)('the end of the connection ends a body of kind %i (length %i): %s', (kind, length, ends) => {
  const framer = new Framer()
  framer.start(kind, length)
  expect(framer.close()).toBe(ends)
})

test('the number of remaining bytes is known only with a length', () => {
  const framer = new Framer()
  framer.start(BODY_LENGTH, 5)
  framer.feed(Buffer.from('ab'), 0, 2, { bytes: () => {} }, false)
  expect(framer.left).toBe(3)
  framer.start(BODY_CHUNKED, -1)
  expect(framer.left).toBe(-1)
})

test('a trailer in a separate piece is dropped, and the end is kept', () => {
  const framer = new Framer()
  framer.start(BODY_CHUNKED, -1)
  let taken = ''
  const taker = {
    bytes: (buffer: Buffer, start: number, end: number) => {
      taken += buffer.latin1Slice(start, end)
    },
  }
  for (const piece of ['1\r\na\r\n0\r\n', 'x: 1\r\n', 'y: 2\r\n\r\n']) {
    framer.feed(Buffer.from(piece), 0, piece.length, taker, true)
  }
  expect([taken, framer.done]).toEqual(['1\r\na\r\n0\r\n\r\n', true])
})

test('a new body is independent of an aborted one', () => {
  const framer = new Framer()
  framer.start(BODY_CHUNKED, -1)
  framer.feed(Buffer.from('00000000'), 0, 8, { bytes: () => {} }, false)
  framer.start(BODY_CHUNKED, -1)
  framer.feed(Buffer.from('00000001\r\n'), 0, 10, { bytes: () => {} }, false)
  expect(framer.bad).toBe(false)
})
