import { expect, test } from 'vitest'
import * as ws from 'ws'
import { BodyClaim, BodyMemory } from '../body/body-memory.ts'
import { countedSource, recordedSink } from '../testing/recorded-sink.ts'
import { type Gatekeeper, MessageGate, type Passed } from './message-gate.ts'
import { MessageReader } from './message-reader.ts'

/** The frames of another implementation, whose published types lack this. */
const { Sender } = ws as unknown as {
  readonly Sender: { frame(data: Buffer, options: object): Buffer[] }
}

interface Sent {
  readonly opcode: number
  readonly payload: string | Buffer
  readonly fin?: boolean
}

const TEXT = 1
const BINARY = 2
const CLOSE = 8
const PING = 9
const PONG = 10

function frame({ opcode, payload, fin = true }: Sent, mask = true): Buffer {
  const bytes = Buffer.from(payload as string)
  return Buffer.concat(Sender.frame(bytes, { opcode, fin, mask, readOnly: true, rsv1: false }))
}

const text = (payload: string, fin = true): Sent => ({ opcode: TEXT, payload, fin })
const more = (payload: string, fin = true): Sent => ({ opcode: 0, payload, fin })

/** A gate, and everything that the provider gets. The verdicts: `drop` drops, `mask` becomes `MASKED`, `wait...` waits. */
function gate({ maxBytes = 1_000_000, memory = 4_000_000 } = {}) {
  const judged: string[] = []
  const problems: string[] = []
  const { sink: provider, pieces: passed, ends } = recordedSink()
  const verdicts: ((passed: 'pass' | 'drop') => void)[] = []
  const bodies = new BodyMemory(memory)
  const keeper: Gatekeeper = {
    judge: (message) => {
      const said = typeof message === 'string' ? `<${message}>` : Buffer.from(message).toString()
      judged.push(said)
      if (typeof message === 'string' || said === 'drop') return undefined
      if (said === 'mask') return Buffer.from('MASKED')
      if (!said.startsWith('wait')) return message
      return new Promise<Passed>((resolve) => {
        verdicts.push((verdict) => resolve(verdict === 'pass' ? message : undefined))
      })
    },
    broken: (why) => problems.push(why),
  }
  const sink = new MessageGate(provider, { claim: new BodyClaim(bodies), maxBytes }, keeper)
  const counted = countedSource()
  sink.source = counted.source
  /** Sends bytes in memory that is overwritten afterwards, like that of connections. */
  const send = (...pieces: readonly Buffer[]) => {
    for (const piece of pieces) {
      const lent = Buffer.concat([Buffer.from('..'), piece, Buffer.from('..')])
      sink.bytes(lent, 2, 2 + piece.length)
      lent.fill(170)
    }
  }
  return {
    sink,
    provider,
    judged,
    problems,
    ends,
    verdicts,
    send,
    bodies,
    get passed() {
      return Buffer.concat(passed)
    },
    get resumed() {
      return counted.resumed
    },
  }
}

/** What a server reads: texts in quotes, control frames are passed over. */
function read(bytes: Buffer): string[] {
  const said: string[] = []
  const reader = new MessageReader(
    { sender: 'client', claim: new BodyClaim(new BodyMemory(4_000_000)), maxBytes: 1_000_000 },
    {
      text: (message) => said.push(`"${Buffer.from(message)}"`),
      missed: (why) => said.push(why),
      closed: (code) => said.push(`closed: ${code}`),
    },
  )
  const problem = reader.read(bytes, 0, bytes.length)
  return problem === undefined ? said : [...said, problem]
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const close = { opcode: CLOSE, payload: Buffer.from([0x0f, 0xa1]) }
const rows: [name: string, sent: Sent[], judged: string[], passed: Sent[]][] = [
  ['a message', [text('hello')], ['hello'], [text('hello')]],
  ['an empty message', [text('')], [''], [text('')]],
  ['a message of two length bytes', [text('x'.repeat(126))], ['x'.repeat(126)], [text('x'.repeat(126))]],
  ['a message of eight length bytes', [text('x'.repeat(65_536))], ['x'.repeat(65_536)], [text('x'.repeat(65_536))]],
  [
    'fragments keep their frames',
    [text('a', false), more('', false), more('b')],
    ['ab'],
    [text('a', false), more('', false), more('b')],
  ],
  [
    'control frames pass before the message that they interrupt',
    [text('a', false), { opcode: PING, payload: 'p' }, more('b', false), { opcode: PONG, payload: '' }, more('')],
    ['ab'],
    [{ opcode: PING, payload: 'p' }, { opcode: PONG, payload: '' }, text('a', false), more('b', false), more('')],
  ],
  ['a dropped message', [text('one'), text('drop'), text('two')], ['one', 'drop', 'two'], [text('one'), text('two')]],
  ['a dropped message in fragments', [text('dr', false), more('op'), text('two')], ['drop', 'two'], [text('two')]],
  [
    'binary messages',
    [{ opcode: BINARY, payload: 'b', fin: false }, more('c'), { opcode: BINARY, payload: 'd' }, text('e')],
    ['<binary>', '<binary>', 'e'],
    [text('e')],
  ],
  ['nothing passes after a close', [text('a'), close, text('b')], ['a'], [text('a'), close]],
  ['a close within a message', [text('a', false), close], [], [close]],
]
test.each(rows)('%s', (_, sent, judged, passed) => {
  const frames = sent.map((one) => frame(one))
  const kept = passed.map((one) => frames[sent.findIndex((other) => isSame(one, other))]!)
  for (const pieces of [[Buffer.concat(frames)], bytewise(Buffer.concat(frames))]) {
    const rig = gate()
    rig.send(...pieces)
    expect(rig.judged).toEqual(judged)
    expect(rig.passed.equals(Buffer.concat(kept))).toBe(true)
    expect([rig.problems, rig.sink.backed]).toEqual([[], false])
  }
})

function isSame(one: Sent, other: Sent): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function bytewise(whole: Buffer): Buffer[] {
  return whole.length > 1000 ? [whole] : [...whole].map((byte) => Buffer.of(byte))
}

test('another text is one frame with a new key', () => {
  const keys = new Set<string>()
  for (let i = 0; i < 4; i++) {
    const rig = gate()
    rig.send(frame(text('ma', false)), frame(more('sk')), frame(text('next')))
    expect(read(rig.passed)).toEqual(['"MASKED"', '"next"'])
    expect([...rig.passed.subarray(0, 2)]).toEqual([0x81, 0x80 | 6])
    keys.add(rig.passed.toString('hex', 2, 6))
  }
  expect(keys.size).toBe(4)
})

test.each<[name: string, bytes: Buffer, problem: string]>([
  ['a frame without a mask', frame(text('a'), false), 'a frame is not masked'],
  [
    'a compressed frame',
    Buffer.of(0xc1, 0x80, 0, 0, 0, 0),
    'a frame has a reserved bit, although no extension was negotiated',
  ],
  ['a continuation of nothing', frame(more('x')), 'a frame is out of sequence'],
])('nothing passes after malformed frames: %s', (_, bytes, problem) => {
  const rig = gate()
  rig.send(Buffer.concat([frame(text('ok')), bytes, frame(text('late'))]), frame(text('later')))
  expect([rig.judged, read(rig.passed), rig.problems]).toEqual([['ok'], ['"ok"'], [problem]])
})

test('a message over the limit, also by its frames, is not held', () => {
  const rig = gate({ maxBytes: 200 })
  rig.send(frame(text('x'.repeat(192))))
  expect(rig.judged).toEqual(['x'.repeat(192)])
  rig.send(frame(text('x'.repeat(193))))
  rig.send(frame(text('x', false)), ...Array.from({ length: 100 }, () => frame(more('', false))), frame(more('')))
  rig.send(frame(text('x'.repeat(10_000))).subarray(0, 5000))
  expect(rig.bodies.heldBytes).toBe(0)
  rig.send(frame(text('x'.repeat(10_000))).subarray(5000), frame(text('ok')))
  expect(rig.judged.slice(1)).toEqual(['<too-large>', '<too-large>', '<too-large>', 'ok'])
  expect(read(rig.passed)).toEqual([`"${'x'.repeat(192)}"`, '"ok"'])
})

test('without memory a message is not held', () => {
  const rig = gate({ memory: 100 })
  rig.send(frame(text('x'.repeat(300))), frame(text('ok')))
  expect([rig.judged, read(rig.passed), rig.bodies.heldBytes]).toEqual([['<no-memory>', 'ok'], ['"ok"'], 0])
})

test('messages keep their order while one is judged, and pings pass', async () => {
  const rig = gate()
  const ping = frame({ opcode: PING, payload: 'p' })
  rig.send(Buffer.concat([frame(text('wait 1')), frame(text('b')), ping, frame(text('wait 2')), frame(close)]))
  rig.sink.end()
  expect([rig.judged, rig.passed.equals(ping), rig.sink.backed, rig.ends]).toEqual([['wait 1'], true, false, []])
  rig.verdicts[0]!('drop')
  await turn()
  expect(read(rig.passed)).toEqual(['"b"'])
  expect([rig.judged, rig.ends]).toEqual([['wait 1', 'b', 'wait 2'], []])
  rig.verdicts[1]!('pass')
  await turn()
  expect(read(rig.passed)).toEqual(['"b"', '"wait 2"', 'closed: 4001'])
  expect([rig.ends, rig.bodies.heldBytes]).toEqual([['end'], 0])
})

test.each<[name: string, count: number, size: number, held: number]>([
  ['many messages', 10_000, 1, 90_000],
  ['large messages', 20, 20_000, 410_000],
])('the client waits while too much waits for a verdict: %s', async (_, count, size, bytes) => {
  const rig = gate()
  const flood = Array.from({ length: count }, (_, i) => frame(text(String(i % 10).repeat(size))))
  rig.send(frame(text('wait')), ...flood)
  expect([rig.sink.backed, rig.judged]).toEqual([true, ['wait']])
  // A connection would have paused; what it sends all the same is only bytes.
  expect(rig.bodies.heldBytes).toBeLessThan(2 * bytes + 100_000)
  rig.provider.source!.resume()
  expect(rig.resumed).toBe(0)
  rig.verdicts[0]!('pass')
  await turn()
  expect([rig.sink.backed, rig.resumed, rig.judged.length, rig.bodies.heldBytes]).toEqual([false, 1, count + 1, 0])
  expect(read(rig.passed).slice(1)).toEqual(flood.map((_, i) => `"${String(i % 10).repeat(size)}"`))
})

test('the provider slows the client down', () => {
  const rig = gate()
  rig.provider.backed = true
  rig.send(frame(text('a')))
  expect(rig.sink.backed).toBe(true)
  rig.provider.backed = false
  rig.provider.source!.resume()
  expect([rig.sink.backed, rig.resumed]).toEqual([false, 1])
})

test('a connection that breaks off drops what waits', async () => {
  const rig = gate()
  rig.send(frame(text('wait')), frame(text('b')))
  rig.sink.abort('reset')
  rig.verdicts[0]!('pass')
  await turn()
  expect([rig.ends, rig.judged, rig.passed.length]).toEqual([['reset'], ['wait'], 0])
})

test('when the server has closed, only the close of the client passes', async () => {
  const rig = gate()
  rig.send(frame(text('wait')), frame(text('b')), frame(close))
  rig.sink.serverClosed()
  expect(read(rig.passed)).toEqual(['closed: 4001'])
  rig.verdicts[0]!('pass')
  await turn()
  rig.sink.end()
  expect([read(rig.passed), rig.judged, rig.ends, rig.bodies.heldBytes]).toEqual([
    ['closed: 4001'],
    ['wait'],
    ['end'],
    0,
  ])
})

test('an incomplete message does not pass at the end', () => {
  const rig = gate()
  rig.send(frame(text('a', false)))
  rig.sink.end()
  expect([rig.ends, rig.passed.length]).toEqual([['end'], 0])
})
