import { crc32 } from 'node:zlib'
import { EventStreamCodec, Int64 } from '@smithy/core/event-streams'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from '../body/body-memory.ts'
import { type EventFrame, encodeEvent } from './event-frame.ts'
import { type EventHeader, encodeHeaders } from './event-header.ts'
import { type BadFrame, EventReader } from './event-reader.ts'

const REFERENCE = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => Buffer.from(text),
)
const KINDS: readonly EventHeader[] = [
  { name: 'yes', type: 'boolean', value: true },
  { name: 'no', type: 'boolean', value: false },
  { name: 'byte', type: 'byte', value: -128 },
  { name: 'short', type: 'short', value: -32_768 },
  { name: 'integer', type: 'integer', value: -2_147_483_648 },
  { name: 'long', type: 'long', value: -9_007_199_254_740_993n },
  { name: 'bytes', type: 'bytes', value: Uint8Array.of(0, 255) },
  { name: ':text', type: 'text', value: 'zwölf' },
  { name: 'time', type: 'timestamp', value: 1_767_323_045_678 },
  { name: 'uuid', type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
]
/** The same, as the reference has them. */
const REFERENCE_KINDS = {
  yes: { type: 'boolean', value: true },
  no: { type: 'boolean', value: false },
  byte: { type: 'byte', value: -128 },
  short: { type: 'short', value: -32_768 },
  integer: { type: 'integer', value: -2_147_483_648 },
  long: { type: 'long', value: new Int64(Uint8Array.fromHex('ffdfffffffffffff')) },
  bytes: { type: 'binary', value: Uint8Array.of(0, 255) },
  ':text': { type: 'string', value: 'zwölf' },
  time: { type: 'timestamp', value: new Date(1_767_323_045_678) },
  uuid: { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
} as const

interface Read {
  readonly frames: readonly { readonly headers: readonly EventHeader[]; readonly payload: string }[]
  readonly problem: string | undefined
  readonly isComplete: boolean
  readonly heldBytes: number
}

/** Reads a body in these pieces, each of which is overwritten afterwards, like the memory of connections. */
function read(pieces: readonly Uint8Array[], { maxBytes = 1000, memory = 10_000 } = {}): Read {
  const frames: { headers: readonly EventHeader[]; payload: string }[] = []
  const bodies = new BodyMemory(memory)
  const reader = new EventReader(new BodyClaim(bodies), maxBytes, (frame) => {
    frames.push({ headers: frame.headers().map(kept), payload: frame.payload.toString() })
  })
  let bad: BadFrame | undefined
  for (const piece of pieces) {
    const buffer = Buffer.concat([Buffer.from('..'), piece, Buffer.from('..')])
    bad = reader.read(buffer, 2, 2 + piece.length)
    buffer.fill(170)
  }
  return {
    frames,
    problem: bad && `${bad.why}: ${bad.detail}`,
    isComplete: reader.atBoundary,
    heldBytes: bodies.heldBytes,
  }
}

const kept = (header: EventHeader): EventHeader =>
  header.type === 'bytes' ? { ...header, value: Uint8Array.from(header.value) } : header
const problemOf = (...pieces: Uint8Array[]) => read(pieces).problem
const event = (payload: string, ...headers: EventHeader[]) => encodeEvent(encodeHeaders(headers), Buffer.from(payload))

/** A frame with these lengths, and with correct checksums. */
function frameOf(length: number, headersLength: number, rest: Uint8Array = new Uint8Array(0)): Buffer {
  const frame = Buffer.alloc(16 + rest.length)
  frame.writeUInt32BE(length, 0)
  frame.writeUInt32BE(headersLength, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  frame.set(rest, 12)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

test('headers of all types are encoded and decoded like by the library of the vendor', () => {
  const encoded = encodeEvent(encodeHeaders(KINDS), Buffer.from('{}'))
  expect(Buffer.from(encoded).toString('hex')).toBe(
    Buffer.from(REFERENCE.encode({ headers: REFERENCE_KINDS, body: Buffer.from('{}') })).toString('hex'),
  )
  expect(read([encoded]).frames).toEqual([{ headers: KINDS, payload: '{}' }])
})

test('the smallest frame', () => {
  expect(Buffer.from(event('')).toString('hex')).toBe('000000100000000005c248eb7d98c8ff')
  expect(read([event('')]).frames).toEqual([{ headers: [], payload: '' }])
})

test('frames that the library of the vendor encodes, in any pieces', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.subarray(KINDS.slice()), fc.string({ unit: 'grapheme', maxLength: 60 })), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 30 }),
      (events, sizes) => {
        const body = Buffer.concat(
          events.map(([headers, payload]) => {
            const named = headers.map(({ name }) => [name, REFERENCE_KINDS[name as keyof typeof REFERENCE_KINDS]])
            return REFERENCE.encode({ headers: Object.fromEntries(named), body: Buffer.from(payload) })
          }),
        )
        const pieces: Buffer[] = []
        for (let at = 0, i = 0; at < body.length; i++) {
          const size = sizes[i % sizes.length]!
          pieces.push(body.subarray(at, at + size))
          at += size
        }
        expect(read(pieces)).toEqual({
          frames: events.map(([headers, payload]) => ({ headers, payload })),
          problem: undefined,
          isComplete: true,
          heldBytes: 0,
        })
      },
    ),
  )
})

test('any changed byte of a frame is noticed', () => {
  const frame = encodeEvent(encodeHeaders(KINDS), Buffer.from('payload'))
  for (let at = 0; at < frame.length; at++) {
    const changed = Uint8Array.from(frame)
    changed[at]! ^= 1
    const whole = read([changed])
    expect([at, whole.frames, whole.problem]).toEqual([at, [], expect.stringMatching(/^malformed: the checksum/)])
    const split = read([changed.subarray(0, at), changed.subarray(at)])
    expect([at, split.frames, split.problem]).toEqual([at, [], whole.problem])
  }
})

test.each([
  ['a length below the minimum', frameOf(15, 0), 'malformed: a frame of 15 bytes cannot have 0 bytes of headers'],
  ['headers longer than the frame', frameOf(24, 9), 'malformed: a frame of 24 bytes cannot have 9 bytes of headers'],
  ['a frame over the limit', frameOf(1001, 0), 'too-large: a frame has 1001 bytes; the limit is 1000'],
  ['the largest length', frameOf(0xffff_ffff, 0), 'too-large: a frame has 4294967295 bytes; the limit is 1000'],
  [
    'headers over their limit',
    frameOf(200_000, 131_073),
    'malformed: a frame has 131073 bytes of headers; the limit is 131072',
  ],
])('%s is refused before the frame arrives', (_, frame, problem) => {
  expect(problemOf(frame.subarray(0, 12))).toBe(problem)
  for (const at of [3, 11]) expect(problemOf(frame.subarray(0, at), frame.subarray(at, 12))).toBe(problem)
})

test.each([
  ['an empty name', [0, 7, 0, 0]],
  ['a name beyond the headers', [3, 97, 97]],
  ['no type', [1, 97]],
  ['an unknown type', [1, 97, 10]],
  ['a number beyond the headers', [1, 97, 4, 0, 0, 0]],
  ['a length beyond the headers', [1, 97, 7, 0]],
  ['text beyond the headers', [1, 97, 7, 0, 2, 97]],
  ['a second header beyond the headers', [1, 97, 0, 1, 98, 9]],
])('a header with %s is refused', (_, bytes) => {
  const frame = frameOf(16 + bytes.length, bytes.length, Uint8Array.from(bytes))
  expect(read([frame])).toMatchObject({ frames: [], problem: 'malformed: a header of a frame is malformed' })
})

test('a frame of the size of the limit is read', () => {
  const frame = event('x'.repeat(984))
  expect(frame.length).toBe(1000)
  expect(read([frame.subarray(0, 500), frame.subarray(500)]).frames[0]!.payload).toHaveLength(984)
})

test('nothing is read after a problem', () => {
  const broken = frameOf(15, 0)
  expect(read([event('first'), broken, event('second')])).toMatchObject({
    frames: [{ payload: 'first' }],
    problem: 'malformed: a frame of 15 bytes cannot have 0 bytes of headers',
  })
})

test('a frame that is not complete holds memory, until there is none', () => {
  const frame = event('x'.repeat(500))
  expect(read([frame.subarray(0, 100)])).toMatchObject({ problem: undefined, isComplete: false, heldBytes: 100 })
  expect(read([frame.subarray(0, 100), frame.subarray(100)], { memory: 300 })).toMatchObject({
    frames: [],
    problem: 'no-memory: no memory is left for a frame',
  })
})

test('a frame within one piece is not copied', () => {
  const piece = Buffer.from(event('hello'))
  let payload: Buffer | undefined
  const take = (frame: EventFrame) => {
    payload = frame.payload
  }
  new EventReader(new BodyClaim(new BodyMemory(0)), 1000, take).read(piece, 0, piece.length)
  expect([payload?.toString(), payload?.buffer === piece.buffer]).toEqual(['hello', true])
})

test('a header by its name', () => {
  const frame = event('', ...KINDS, { name: ':text', type: 'text', value: 'second' })
  let found: unknown
  const take = (read: EventFrame) => {
    found = [read.text(':text'), read.text('long'), read.text(':tex'), read.has('long'), read.has('longer')]
  }
  new EventReader(new BodyClaim(new BodyMemory(0)), 1000, take).read(Buffer.from(frame), 0, frame.length)
  expect(found).toEqual(['zwölf', undefined, undefined, true, false])
})

test.each([
  ['an empty name', { name: '', type: 'boolean', value: true }],
  ['a name of 256 bytes', { name: 'x'.repeat(256), type: 'boolean', value: true }],
  ['a text of 32768 bytes', { name: 'x', type: 'text', value: 'x'.repeat(32_768) }],
] satisfies [string, EventHeader][])('%s is not encoded', (_, header) => {
  expect(() => event('', header)).toThrow(RangeError)
})
