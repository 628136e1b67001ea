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
  '1;a=b=c\r\na\r\n',
]

test.each(BAD)('refuses %j', (text) => {
  for (const framed of [false, true]) {
    for (const step of [text.length, 1]) {
      expect(feed(text, BODY_CHUNKED, -1, { step, framed })).toMatchObject({ bad: true, done: false })
    }
  }
})

const BYTES = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte))
/** The bytes that may follow `text`. */
const followersOf = (text: string) =>
  BYTES.filter((byte) => !feed(text + byte, BODY_CHUNKED, -1).bad)
    .join('')
    .replaceAll(/[ -~]{90,}/g, (run) => `${run[0]}..${run.at(-1)}`)

test.each([
  ['1', '\r0123456789;ABCDEFabcdef'],
  ['', '0123456789ABCDEFabcdef'],
  ['1;a="', '\t ..~'],
  ['1;a="\\', '\t ..~'],
  ['1\r', '\n'],
  ['1\r\n0', '\r'],
  ['0\r\n\r', '\n'],
])('after %j, any of %j may follow', (text, followers) => {
  expect(followersOf(text)).toBe(followers)
})

test.each([...'0123456789abcdefABCDEF'])('the size 1%s is hexadecimal', (digit) => {
  const size = 16 + Number.parseInt(digit, 16)
  const text = `1${digit}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`
  expect(feed(text, BODY_CHUNKED, -1)).toMatchObject({ taken: 'x'.repeat(size), done: true, bad: false })
})

const letters = (count: number) => 'x'.repeat(count)
// The CR after extensions is counted, and every byte of a trailer section, its last line included.
const limited: readonly (readonly [what: string, text: string, bad: boolean])[] = [
  ['extensions of 1024 bytes', `1;${letters(1023)}\r\na\r\n0\r\n\r\n`, false],
  ['longer extensions', `1;${letters(1024)}\r\na\r\n0\r\n\r\n`, true],
  [
    'extensions of 1024 bytes twice',
    `1;${letters(1023)}\r\na\r\n0;${letters(1023)}\r\nX:${letters(16_379)}\r\n\r\n`,
    false,
  ],
  ['a trailer section of 16384 bytes', `0\r\nX:${letters(16_379)}\r\n\r\n`, false],
  ['a longer trailer section', `0\r\nX:${letters(16_380)}\r\n\r\n`, true],
  ['a trailer section with a name of 16380 bytes', `0\r\nX${letters(16_379)}:\r\n\r\n`, false],
  ['a longer name', `0\r\nX${letters(16_380)}:\r\n\r\n`, true],
  ['trailers of more than 16384 bytes together', `0\r\nX:${letters(8192)}\r\nX:${letters(8193)}\r\n\r\n`, true],
  ['many trailers without a value', `0\r\n${'a:\r\n'.repeat(4095)}\r\n`, false],
  ['more trailers without a value', `0\r\n${'a:\r\n'.repeat(4096)}\r\n`, true],
]
test.each(limited)('limits: %s', (_, text, bad) => {
  for (const framed of [false, true]) {
    expect(feed(text, BODY_CHUNKED, -1, { framed })).toMatchObject({ bad, done: !bad })
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
      expect(end).toBeGreaterThan(start)
      taken += buffer.latin1Slice(start, end)
    },
  }
  for (const piece of ['1\r\na\r\n0\r\n', 'x: 1\r\n', 'y: 2\r\n\r\n']) {
    framer.feed(Buffer.from(piece), 0, piece.length, taker, true)
  }
  expect([taken, framer.done]).toEqual(['1\r\na\r\n0\r\n\r\n', true])
})

test('a framer without a body is done', () => {
  const { done, bad, left } = new Framer()
  expect([done, bad, left]).toEqual([true, false, 0])
})

test.each([
  [BODY_NONE, -1, true],
  [BODY_LENGTH, 0, true],
  [BODY_LENGTH, 1, false],
  [BODY_CHUNKED, 0, false],
  [BODY_CLOSE, 0, false],
] as const)('a body of kind %i (length %i) is done before its first byte: %s', (kind, length, done) => {
  const framer = new Framer()
  framer.start(kind, length)
  expect(framer.done).toBe(done)
  framer.start(kind, length)
  expect(framer.done).toBe(done)
})

test('no bytes are consumed from an empty piece, or after the end', () => {
  const framer = new Framer()
  let calls = 0
  const take = (text: string, start: number) =>
    framer.feed(Buffer.from(text), start, text.length, { bytes: () => calls++ }, false)
  for (const kind of [BODY_LENGTH, BODY_CLOSE, BODY_CHUNKED] as const) {
    framer.start(kind, 5)
    expect([take('abc', 3), calls]).toEqual([3, 0])
  }
  expect([take('5\r\n', 0), take('abc', 3), calls]).toEqual([3, 3, 0])
  expect([take('hello\r\n0\r\n\r\n', 0), calls, framer.done, framer.left]).toEqual([12, 1, true, 0])
  expect([take('next', 1), calls]).toEqual([1, 1])
})

test.each([
  ['a size', '00000000'],
  ['an invalid size', 'x'],
  ['a chunk', 'ff\r\nab'],
  ['extensions', `1;${'x'.repeat(1000)}`],
  ['trailers', `0\r\nX: ${'x'.repeat(16_000)}`],
])('a new body is independent of one that was aborted in %s', (_, aborted) => {
  const framer = new Framer()
  let taken = ''
  const taker = {
    bytes: (buffer: Buffer, start: number, end: number) => {
      taken += buffer.latin1Slice(start, end)
    },
  }
  framer.start(BODY_CHUNKED, -1)
  framer.feed(Buffer.from(aborted), 0, aborted.length, taker, true)
  taken = ''
  framer.start(BODY_CHUNKED, -1)
  expect(framer.bad).toBe(false)
  const text = `00000001;${'x'.repeat(1023)}\r\na\r\n0\r\nX:${'x'.repeat(16_379)}\r\n\r\n`
  framer.feed(Buffer.from(text), 0, text.length, taker, true)
  expect([framer.bad, framer.done]).toEqual([false, true])
  expect(taken).toBe(`${text.slice(0, text.indexOf('X'))}\r\n`)
})
