import { expect, test } from 'vitest'
import { countedSource, recordedSink } from '../testing/recorded-sink.ts'
import { InsertingSink } from './inserting-sink.ts'
import { writeServerClose, writeTextFrame } from './write-frame.ts'

const text = (payload: string) => writeTextFrame('server', Buffer.from(payload))
const INSERTED = text('!')

/** A frame with its parts: opcode and payload. */
const part = (first: number, payload: string) => Buffer.concat([Buffer.of(first, payload.length), Buffer.from(payload)])

function sink() {
  const { sink: client, pieces, ends } = recordedSink()
  let closed = 0
  const inserting = new InsertingSink(client, () => {
    closed++
  })
  const counted = countedSource()
  inserting.source = counted.source
  const done: boolean[] = []
  return {
    client,
    inserting,
    ends,
    done,
    insert: () => inserting.insert(INSERTED, (isSent) => done.push(isSent)),
    send: (bytes: Buffer) => inserting.bytes(bytes, 0, bytes.length),
    get got() {
      return Buffer.concat(pieces).toString('hex')
    },
    get closed() {
      return closed
    },
    get resumed() {
      return counted.resumed
    },
  }
}

const A = text('a')
const LONG = text('x'.repeat(300))
const FRAGMENTED = [part(0x01, 'a'), part(0x89, 'ping'), part(0x00, ''), part(0x80, 'b')]
const hex = (...parts: readonly Buffer[]) => Buffer.concat(parts).toString('hex')

// At each position of what the server sends, the frame goes to the next place between messages.
test.each<[name: string, units: Buffer[]]>([
  ['messages', [A, LONG, part(0x82, 'binary'), text('')]],
  ['a message in fragments', [A, Buffer.concat(FRAGMENTED), A]],
  ['a ping between messages', [part(0x89, ''), A]],
])('a frame is inserted between messages: %s', (_, units) => {
  const whole = Buffer.concat(units)
  for (let at = 0; at <= whole.length; at++) {
    let end = 0
    let next = 0
    while (end < at) end += units[next++]!.length
    const rig = sink()
    rig.send(whole.subarray(0, at))
    rig.insert()
    expect(rig.done).toEqual(end === at ? [true] : [])
    rig.send(whole.subarray(at))
    expect(rig.got).toBe(hex(...units.slice(0, next), INSERTED, ...units.slice(next)))
    expect(rig.done).toEqual([true])
  }
})

test('a receiver without room gets the frame when it has some', () => {
  const rig = sink()
  rig.client.backed = true
  rig.insert()
  rig.send(A)
  expect([rig.got, rig.done]).toEqual([hex(A), []])
  rig.client.backed = false
  rig.client.source!.resume()
  expect([rig.got, rig.done, rig.resumed]).toEqual([hex(A, INSERTED), [true], 1])
})

test('nothing follows a close, an end or an abort', () => {
  const close = writeServerClose(1000)
  const closed = sink()
  closed.send(close)
  closed.insert()
  closed.send(A)
  expect([closed.got, closed.done, closed.closed]).toEqual([hex(close, A), [true], 1])

  const late = sink()
  late.send(LONG.subarray(0, 9))
  late.insert()
  late.send(Buffer.concat([LONG.subarray(9, 20)]))
  late.inserting.abort('reset')
  expect([late.got, late.done, late.ends]).toEqual([hex(LONG.subarray(0, 20)), [true], ['reset']])

  const ended = sink()
  ended.inserting.end()
  ended.insert()
  expect([ended.got, ended.done, ended.ends]).toEqual(['', [true], ['end']])
})

test('frames that cannot be read leave no place', () => {
  const rig = sink()
  rig.send(LONG.subarray(0, 9))
  rig.insert()
  rig.send(Buffer.concat([LONG.subarray(9), Buffer.of(0xc1, 0)]))
  expect(rig.done).toEqual([true])
  rig.insert()
  expect([rig.done, rig.got]).toEqual([[true, false], hex(LONG, INSERTED, Buffer.of(0xc1, 0))])
})

test('an end with a close frame, if no message is incomplete', () => {
  const close = writeServerClose(1002)
  expect(close.toString('hex')).toBe('880203ea')
  for (const [sent, added] of [
    [A, close],
    [LONG.subarray(0, 9), Buffer.alloc(0)],
    [FRAGMENTED[0]!, Buffer.alloc(0)],
  ] as const) {
    const rig = sink()
    rig.send(sent)
    rig.inserting.endWith(close)
    rig.send(A)
    expect([rig.got, rig.ends]).toEqual([hex(sent, added), ['end']])
  }
})
