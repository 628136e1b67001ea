import fc from 'fast-check'
import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { SseParser } from '../../http/sse.ts'
import { SseBlock } from './sse-block.ts'
import { SseSplitter } from './sse-splitter.ts'

type Read = [name: string, data: string]

/** Reads a stream in pieces of these sizes, all in the same memory, which is overwritten afterwards. */
function read(stream: string, cuts: readonly number[] = []): Read[] {
  const found: Read[] = []
  const reader = new SseBlock()
  const block = (buffer: Buffer, start: number, end: number) => {
    const { dataStart, name, data } = reader.read(buffer, start, end)
    if (dataStart >= 0) found.push([name, Buffer.from(data).toString()])
  }
  const splitter = new SseSplitter({ block, part: () => expect.fail() }, { claim: roomFor(0).claim })
  const bytes = Buffer.from(stream)
  const shared = Buffer.alloc(bytes.length + 9)
  let at = 0
  for (const size of [...cuts, bytes.length]) {
    const end = Math.min(at + size, bytes.length)
    bytes.copy(shared, 9, at, end)
    splitter.push(shared, 9, 9 + end - at)
    shared.fill('#')
    at = end
  }
  const { rest } = splitter
  block(rest, 0, rest.length)
  return found
}

test.each<[stream: string, events: Read[]]>([
  ['', []],
  ['data: x\n\n', [['', 'x']]],
  ['data:x\n\n', [['', 'x']]],
  ['data:  x\n\n', [['', ' x']]],
  ['data\n\n', [['', '']]],
  ['data: \n\n', [['', '']]],
  ['event: a\ndata: x\n\n', [['a', 'x']]],
  ['data: x\nevent: a\n\n', [['a', 'x']]],
  ['event: a\nevent: b\ndata: x\n\n', [['b', 'x']]],
  ['event: a\n\n', []],
  ['event:ab\ndata:x\n\n', [['ab', 'x']]],
  ['data: a data: b\ndata: c\n\n', [['', 'a data: b\nc']]],
  [': comment "\nid: 7\nretry: 5\ndata: x\n\n', [['', 'x']]],
  ['data: x\ndata:y\n: c\nid: 1\ndata\ndata: é\n\n', [['', 'x\ny\n\né']]],
  ['\ufeffdata: x\n\n', [['', 'x']]],
  ['\ufeffevent: a\r\ndata: x\r\n\r\n', [['a', 'x']]],
  [
    'event: a\rdata: x\r\rdata: y\r\r',
    [
      ['a', 'x'],
      ['', 'y'],
    ],
  ],
  ['dataset: x\nevents: y\n\n', []],
  ['data: x', [['', 'x']]],
])('%j', (stream, events) => {
  expect(read(stream)).toEqual(events)
  for (let size = 1; size < stream.length; size++) {
    expect(read(stream, new Array<number>(stream.length).fill(size))).toEqual(events)
  }
})

test('events are the same as those of the other parser, however the stream is cut', () => {
  const stream = fc.constantFrom('\n', '\r\n', '\r').chain((end) => {
    const line = fc.constantFrom('', '', 'data: {"a":1}', 'data', 'data:é', ': "c', 'event: long name', 'x: y')
    return fc.array(line, { maxLength: 20 }).map((lines) => lines.join(end) + end + end)
  })
  fc.assert(
    fc.property(stream, fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 200 }), (text, cuts) => {
      const expected = new SseParser().push(Buffer.from(text)).map(({ event, data }) => [event, data])
      expect(read(text, cuts)).toEqual(expected)
    }),
  )
})

test('line ends of all kinds may follow each other, in any pieces', () => {
  const line = fc.tuple(
    fc.constantFrom('', 'data: x', 'data: y', ': z', 'event: e'),
    fc.constantFrom('\n', '\r\n', '\r'),
  )
  const stream = fc.array(line, { maxLength: 20 }).map((lines) => lines.map((each) => each.join('')).join(''))
  fc.assert(
    fc.property(stream, fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 100 }), (text, cuts) => {
      expect(read(text, cuts)).toEqual(read(text.replaceAll(/\r\n?/g, '\n')))
    }),
    { numRuns: 1000 },
  )
})

test('an event in many small pieces is allocated a few times, not with each piece', () => {
  const claim = roomFor(0).claim
  let allocations = 0
  const take = claim.take.bind(claim)
  claim.take = (bytes) => {
    allocations++
    return take(bytes)
  }
  let blocks = 0
  const splitter = new SseSplitter({ block: () => blocks++, part: () => expect.fail() }, { claim })
  const event = Buffer.from(`data: ${'x'.repeat(1_900_000)}\n\n`)
  for (let at = 0; at < event.length; at += 64) splitter.push(event, at, Math.min(at + 64, event.length))
  expect(blocks).toBe(1)
  expect(allocations).toBeLessThan(20)
})
