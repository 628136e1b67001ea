import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as ws from 'ws'
import { BodyClaim, BodyMemory } from '../body/body-memory.ts'
import { MessageReader } from './message-reader.ts'

/** The frames of another implementation, whose published types lack this. */
const { Sender } = ws as unknown as {
  readonly Sender: { frame(data: Buffer, options: object): Buffer[] }
}

interface Read {
  /** Texts in quotes, `missed: why`, `closed: code`. */
  readonly said: readonly string[]
  readonly problem: string | undefined
  readonly heldBytes: number
}

type Side = 'client' | 'server'

/** Reads these pieces, each of which is overwritten afterwards, like the memory of connections. */
function read(sender: Side, pieces: readonly Uint8Array[], { maxBytes = 1_000_000, memory = 4_000_000 } = {}): Read {
  const said: string[] = []
  const bodies = new BodyMemory(memory)
  const reader = new MessageReader(
    { sender, claim: new BodyClaim(bodies), maxBytes },
    {
      text: (message) => said.push(`"${Buffer.from(message)}"`),
      missed: (why) => said.push(`missed: ${why}`),
      closed: (code) => said.push(`closed: ${code}`),
    },
  )
  let problem: string | undefined
  for (const piece of pieces) {
    const buffer = Buffer.concat([Buffer.from('..'), piece, Buffer.from('..')])
    problem = reader.read(buffer, 2, 2 + piece.length)
    buffer.fill(170)
  }
  return { said, problem, heldBytes: bodies.heldBytes }
}

interface Sent {
  readonly opcode: number
  readonly payload: string | Buffer
  readonly fin?: boolean
}

/** The frames as another implementation sends them. */
function frames(sender: Side, ...sent: readonly Sent[]): Buffer {
  return Buffer.concat(
    sent.flatMap(({ opcode, payload, fin = true }) =>
      Sender.frame(Buffer.from(payload as string), {
        opcode,
        fin,
        mask: sender === 'client',
        readOnly: false,
        rsv1: false,
      }),
    ),
  )
}

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')
const SIDES = ['client', 'server'] as const
const closing = (code: number) => Buffer.from([code >> 8, code & 255, ...Buffer.from('bye')])

const conversations: [name: string, sent: Sent[], said: string[]][] = [
  ['a text', [{ opcode: 1, payload: 'hello' }], ['"hello"']],
  ['an empty text', [{ opcode: 1, payload: '' }], ['""']],
  ['the longest length of one byte', [{ opcode: 1, payload: 'x'.repeat(125) }], [`"${'x'.repeat(125)}"`]],
  ['the shortest length of two bytes', [{ opcode: 1, payload: 'x'.repeat(126) }], [`"${'x'.repeat(126)}"`]],
  ['the longest length of two bytes', [{ opcode: 1, payload: 'x'.repeat(65_535) }], [`"${'x'.repeat(65_535)}"`]],
  ['the shortest length of eight bytes', [{ opcode: 1, payload: 'x'.repeat(65_536) }], [`"${'x'.repeat(65_536)}"`]],
  [
    'fragments, with control frames between them',
    [
      { opcode: 1, payload: 'a', fin: false },
      { opcode: 9, payload: 'ping' },
      { opcode: 0, payload: '', fin: false },
      { opcode: 10, payload: 'x'.repeat(125) },
      { opcode: 0, payload: 'bc' },
      { opcode: 1, payload: 'd' },
    ],
    ['"abc"', '"d"'],
  ],
  [
    'binary messages are passed over',
    [
      { opcode: 2, payload: 'x'.repeat(300) },
      { opcode: 2, payload: 'a', fin: false },
      { opcode: 0, payload: 'b' },
      { opcode: 1, payload: 'c' },
    ],
    ['"c"'],
  ],
  ['a close with a code', [{ opcode: 8, payload: closing(4000) }], ['closed: 4000']],
  ['a close without a code', [{ opcode: 8, payload: '' }], ['closed: undefined']],
  [
    'what follows a close is ignored',
    [
      { opcode: 8, payload: closing(1000) },
      { opcode: 1, payload: 'late' },
      { opcode: 8, payload: closing(1001) },
    ],
    ['closed: 1000'],
  ],
]
for (const sender of SIDES) {
  test.each(conversations)(`frames of a ${sender}: %s`, (_, sent, said) => {
    expect(read(sender, [frames(sender, ...sent)])).toEqual({ said, problem: undefined, heldBytes: 0 })
  })
}

test('any pieces give the same messages, and hold nothing at the end', () => {
  const payload = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom(126, 127, 65_535, 65_536).map((length) => 'y'.repeat(length)),
  )
  const control = fc.record({
    opcode: fc.constantFrom(9, 10),
    payload: fc.string({ unit: 'grapheme-ascii', maxLength: 125 }),
  })
  const message = fc
    .tuple(
      fc.constantFrom(1, 2),
      fc.array(payload, { minLength: 1, maxLength: 4 }),
      fc.array(control, { maxLength: 2 }),
    )
    .map(([opcode, parts, controls]) => ({
      text: opcode === 1 ? [`"${parts.join('')}"`] : [],
      sent: parts.flatMap((part, i): Sent[] => [
        { opcode: i === 0 ? opcode : 0, payload: part, fin: i === parts.length - 1 },
        ...(i < parts.length - 1 ? controls : []),
      ]),
    }))
  const cuts = fc.array(fc.nat(), { maxLength: 20 })
  const conversation = fc.tuple(fc.constantFrom(...SIDES), fc.array(message, { maxLength: 5 }), cuts, fc.boolean())
  fc.assert(
    fc.property(conversation, ([sender, messages, places, isBytewise]) => {
      const whole = frames(sender, ...messages.flatMap(({ sent }) => sent))
      const at =
        isBytewise && whole.length < 2000 ? [...whole.keys()] : places.map((place) => place % (whole.length + 1))
      const sorted = [0, ...at.sort((a, b) => a - b), whole.length]
      const pieces = sorted.slice(1).map((end, i) => whole.subarray(sorted[i], end))
      const said = messages.flatMap(({ text }) => text)
      expect(read(sender, pieces)).toEqual({ said, problem: undefined, heldBytes: 0 })
    }),
  )
})

const malformed: [name: string, sender: Side, hex: string, problem: string][] = [
  ['a reserved bit', 'server', 'c1 00', 'a frame has a reserved bit, although no extension was negotiated'],
  ['an unknown kind of data', 'server', '83 00', 'a frame has the unknown opcode 3'],
  ['an unknown kind of control', 'server', '8b 00', 'a frame has the unknown opcode 11'],
  ['a masked frame of a server', 'server', '81 80 00000000', 'a frame is masked'],
  ['a plain frame of a client', 'client', '81 00', 'a frame is not masked'],
  ['a fragmented control frame', 'server', '09 00', 'a control frame is fragmented or too long'],
  ['a long control frame', 'server', '89 7e 007e', 'a control frame is fragmented or too long'],
  ['a continuation of nothing', 'server', '80 00', 'a frame is out of sequence'],
  ['a message within another', 'server', '01 00 81 00', 'a frame is out of sequence'],
  ['two bytes for a short length', 'server', '81 7e 007d', 'a frame has a length in a form that is not allowed'],
  [
    'eight bytes for a short length',
    'server',
    '81 7f 000000000000ffff',
    'a frame has a length in a form that is not allowed',
  ],
  [
    'a length beyond all numbers',
    'server',
    '81 7f 8000000000000000',
    'a frame has a length in a form that is not allowed',
  ],
  ['half a close code', 'server', '88 01 03', 'a close frame has half a code'],
]
test.each(malformed)('malformed: %s', (_, sender, hex, problem) => {
  const good = frames(sender, { opcode: 1, payload: 'a' })
  const whole = Buffer.concat([good, bytes(hex), good])
  expect(read(sender, [whole])).toEqual({ said: ['"a"'], problem, heldBytes: 0 })
  expect(
    read(
      sender,
      [...whole].map((byte) => Buffer.of(byte)),
    ),
  ).toEqual({ said: ['"a"'], problem, heldBytes: 0 })
})

test.each(SIDES)('a message of a %s over a limit is missed, and the next one is read', (sender) => {
  const pieces = (...sent: Sent[]) =>
    [...frames(sender, ...sent, { opcode: 1, payload: 'next' })].map((byte) => Buffer.of(byte))
  const long = pieces({ opcode: 1, payload: 'x'.repeat(11) })
  expect(read(sender, long, { maxBytes: 10 }).said).toEqual(['missed: too-large', '"next"'])
  const fragmented = pieces(
    { opcode: 1, payload: 'x'.repeat(10), fin: false },
    { opcode: 0, payload: 'y', fin: false },
    { opcode: 0, payload: 'z' },
  )
  expect(read(sender, fragmented, { maxBytes: 10 })).toEqual({
    said: ['missed: too-large', '"next"'],
    problem: undefined,
    heldBytes: 0,
  })
  expect(read(sender, long, { memory: 10 })).toEqual({
    said: ['missed: no-memory', '"next"'],
    problem: undefined,
    heldBytes: 0,
  })
})

test('a plain message within one piece needs no memory', () => {
  const pieces = [frames('server', { opcode: 1, payload: 'x'.repeat(1000) })]
  expect(read('server', pieces, { memory: 0 }).said).toEqual([`"${'x'.repeat(1000)}"`])
})

test('random bytes are read without an error', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SIDES), fc.array(fc.uint8Array({ maxLength: 30 })), (sender, pieces) => {
      expect(() => read(sender, pieces)).not.toThrow()
    }),
    { numRuns: 500 },
  )
})
