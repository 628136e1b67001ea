import { beforeEach, expect, test } from 'vitest'
import { BODY_CHUNKED, BODY_CLOSE, BODY_LENGTH, BODY_NONE, type BodyKind, type BodySource } from '../stream.ts'
import { MemoryTransport } from '../testing/memory-transport.ts'
import { BodyWriter } from './body-writer.ts'

let events: string[]
let transport: MemoryTransport
let writer: BodyWriter
let source: BodySource
beforeEach(() => {
  events = []
  transport = new MemoryTransport()
  writer = newWriter(true)
  source = { kind: BODY_LENGTH, length: -1, pipe: () => {}, pause: () => {}, resume: () => events.push('resume') }
})

function newWriter(keepsWhole: boolean): BodyWriter {
  const owner = { messageWritten: () => events.push('written'), messageCut: (why: string) => events.push(`cut ${why}`) }
  return new BodyWriter(owner, { keepsWhole })
}

/** Gives bytes from the middle of a buffer. */
function give(text: string): void {
  const bytes = Buffer.from(`before${text}after`, 'latin1')
  writer.bytes(bytes, 6, 6 + text.length)
}

const bodies: [kind: BodyKind, length: number, parts: string[], sent: string, sentBytes: number, event: string][] = [
  [BODY_LENGTH, 5, ['hello'], 'hello', 5, 'written'],
  [BODY_LENGTH, 5, ['he', '', 'llo'], 'hello', 5, 'written'],
  [BODY_LENGTH, 0, [], '', 0, 'written'],
  [BODY_LENGTH, 6, ['hello'], 'hello', 5, 'cut protocol-error'],
  [BODY_LENGTH, 1, [], '', 0, 'cut protocol-error'],
  [BODY_LENGTH, 4, ['hello'], '', 0, 'cut protocol-error'],
  [BODY_LENGTH, 4, ['hell', 'o'], 'hell', 4, 'cut protocol-error'],
  [BODY_CHUNKED, -1, [], '0\r\n\r\n', 0, 'written'],
  [BODY_CHUNKED, -1, ['hello', ''], '5\r\nhello\r\n0\r\n\r\n', 5, 'written'],
  [
    BODY_CHUNKED,
    9,
    ['0123456789abcdef', '\u00ff'],
    '10\r\n0123456789abcdef\r\n1\r\n\u00ff\r\n0\r\n\r\n',
    17,
    'written',
  ],
  [BODY_CLOSE, -1, ['hel', 'lo'], 'hello', 5, 'written'],
  [BODY_NONE, 9, ['hello'], '', 0, 'written'],
]
test.each(bodies)('a body of kind %i and length %i in parts %j is sent as %j', (kind, length, parts, sent, ...rest) => {
  const [sentBytes, event] = rest
  writer.start(transport, 'HEAD ', kind, length)
  expect(writer.takesFramed).toBe(kind === BODY_CHUNKED)
  expect([writer.open, writer.whole]).toEqual([true, ''])
  for (const part of parts) give(part)
  writer.end()
  const text = transport.writes.join('')
  expect([text, writer.sentBytes, events]).toEqual([`HEAD ${sent}`, sentBytes, [event]])
  expect([writer.open, writer.whole]).toEqual([false, text])
})

test('chunks as they were received are sent as they are', () => {
  writer.start(transport, '', BODY_CHUNKED, -1)
  writer.framed = true
  give('2;x\r\nab\r\n0\r\n\r\n')
  writer.end()
  expect([transport.text, writer.sentBytes, events]).toEqual(['2;x\r\nab\r\n0\r\n\r\n', 14, ['written']])
})

test('outside of a message nothing is sent, and no event is reported', () => {
  const isSilent = () => {
    give('late')
    writer.end()
    writer.abort('reset')
    writer.drained()
    return events.splice(0).length === 0 && !writer.open
  }
  expect([writer.backed, writer.sentBytes, isSilent()]).toEqual([false, 0, true])
  writer.start(transport, 'a', BODY_LENGTH, 0)
  writer.source = source
  writer.end()
  expect(events.splice(0)).toEqual(['written'])
  expect([writer.source, isSilent()]).toEqual([null, true])
  writer.start(transport, 'b', BODY_LENGTH, 5)
  writer.source = source
  writer.abort('timeout')
  expect(events.splice(0)).toEqual(['cut timeout'])
  expect([writer.source, isSilent(), transport.text]).toEqual([null, true, 'ab'])
})

test('nothing of a message is left for the next one', () => {
  writer.start(transport, '', BODY_CHUNKED, -1)
  writer.source = source
  writer.framed = true
  give('5\r\nhello')
  writer.start(transport, '', BODY_CHUNKED, -1)
  expect([writer.source, writer.framed, writer.sentBytes, writer.whole]).toEqual([null, false, 0, ''])
})

test.each([
  ['a message of 16 KiB', [16_379], true],
  ['a message of a byte more', [16_380], false],
  ['one of parts that fit', [8000, 8000], true],
  ['one of parts that do not fit together', [8000, 8000, 8000], false],
  ['one with a part that does not fit', [16_385], false],
  ['one with parts behind that', [16_385, 1], false],
])('the whole of %s is kept for a replay: %j, %s', (_, sizes, kept) => {
  writer.start(transport, 'HEAD ', BODY_CLOSE, -1)
  for (const size of sizes) give('x'.repeat(size))
  writer.end()
  const total = sizes.reduce((sum, size) => sum + size, 0)
  expect(transport.text).toBe(`HEAD ${'x'.repeat(total)}`)
  expect(writer.whole).toBe(kept ? transport.text : '')
})

test('the whole is not kept if it was forgotten, or is not needed', () => {
  writer.start(transport, 'HEAD', BODY_LENGTH, 1)
  writer.forgetWhole()
  give('x')
  writer.end()
  expect(writer.whole).toBe('')
  writer = newWriter(false)
  writer.start(transport, 'HEAD', BODY_LENGTH, 1)
  give('x')
  writer.end()
  expect([writer.whole, transport.text]).toEqual(['', 'HEADxHEADx'])
})

test('of a message in chunks that is too large, nothing is kept', () => {
  writer.start(transport, 'HEAD ', BODY_CHUNKED, -1)
  give('x'.repeat(16_385))
  give('x')
  writer.end()
  expect(writer.whole).toBe('')
})

test('a message continues on another transport, when that has room', () => {
  const [full, next] = [new MemoryTransport(), new MemoryTransport()]
  full.backed = true
  writer.start(transport, 'HEAD ', BODY_LENGTH, 10)
  writer.source = source
  give('hello')
  writer.moveTo(full)
  expect([writer.backed, events]).toEqual([true, []])
  writer.drained()
  expect(events.splice(0)).toEqual(['resume'])
  writer.moveTo(next)
  expect([writer.backed, events]).toEqual([false, ['resume']])
  give('world')
  expect([transport.text, full.text, next.text]).toEqual(['HEAD hello', '', 'world'])
})
