import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Peer } from '../peer.ts'
import type { Abort, RelayedConnection, RelayHandler } from '../stream.ts'
import { FakeUpstream } from '../testing/fake-upstream.ts'
import { MemoryTransport } from '../testing/memory-transport.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { RelayedSocket } from './relayed-socket.ts'

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(clock, 'monotonic').mockImplementation(() => performance.now())
})

afterEach(() => {
  vi.useRealTimers()
})

const MINUTE = 60_000

/** One connection, as a list of the events of its handler. */
class Rig implements RelayHandler {
  readonly transport = new MemoryTransport()
  readonly upstream = new FakeUpstream()
  readonly events: string[] = []
  readonly connection: RelayedSocket

  constructor() {
    this.connection = new RelayedSocket({} as Peer, {
      handler: this,
      wheel: new TimerWheel(),
      writeTimeoutMs: 5 * MINUTE,
      onClosed: () => this.events.push('socket closed'),
    })
    this.transport.owner = this.connection
    this.connection.attach(this.transport)
  }

  accepted(connection: RelayedConnection): void {
    this.events.push(connection === this.connection || this.connection === undefined ? 'accepted' : 'another')
  }

  closed(_connection: RelayedConnection, received: number, sent: number, why: Abort | undefined): void {
    this.events.push(`closed ${received} ${sent} ${why ?? 'in order'}`)
  }

  connect(): this {
    this.connection.tunnel(this.upstream)
    return this
  }
}

const settled = () => vi.advanceTimersByTimeAsync(0)

test('nothing is read before there is an upstream', async () => {
  const rig = new Rig()
  expect(rig.transport.paused).toBe(true)
  rig.transport.receive('early')
  rig.connect()
  await settled()
  expect(rig.upstream.request.text).toBe('early')
})

test('bytes that arrive anyway are kept', () => {
  const rig = new Rig()
  const bytes = Buffer.from('early')
  rig.connection.bytes(bytes, 0, 3)
  rig.connection.bytes(bytes, 3, 5)
  bytes.fill(0)
  rig.connect()
  expect(rig.upstream.request.text).toBe('early')
  rig.transport.receive(' late')
  expect(rig.upstream.request.text).toBe('early late')
})

test('each direction ends separately: first the client', async () => {
  const rig = new Rig().connect()
  rig.transport.resume()
  rig.transport.receive('question')
  rig.transport.receiveEnd()
  expect(rig.upstream.request).toMatchObject({ text: 'question', ended: true })
  expect(rig.transport.endedByUs).toBe(false)
  rig.upstream.send('answer')
  rig.upstream.end()
  expect(rig.transport).toMatchObject({ text: 'answer', endedByUs: true, wasReset: false })
  expect(rig.events).toEqual(['accepted', 'closed 8 6 in order'])
  rig.connection.closed()
  expect(rig.events.slice(2)).toEqual(['socket closed'])
})

test('each direction ends separately: first the upstream', () => {
  const rig = new Rig().connect()
  rig.upstream.send('banner')
  rig.upstream.end()
  expect(rig.transport).toMatchObject({ text: 'banner', endedByUs: true })
  rig.transport.receive('more')
  expect(rig.upstream.request).toMatchObject({ text: 'more', ended: false })
  rig.transport.receiveEnd()
  expect(rig.upstream.request.ended).toBe(true)
  expect(rig.events).toEqual(['accepted', 'closed 4 6 in order'])
})

test('a client that ended before there was an upstream', () => {
  const rig = new Rig()
  rig.connection.bytes(Buffer.from('x'), 0, 1)
  rig.transport.receiveEnd()
  rig.connect()
  expect(rig.upstream.request).toMatchObject({ text: 'x', ended: true })
})

test('a backed-up upstream pauses the client', () => {
  const rig = new Rig().connect()
  rig.upstream.request.backed = true
  rig.transport.receive('a')
  expect(rig.transport.paused).toBe(true)
  rig.upstream.request.backed = false
  rig.upstream.request.source?.resume()
  expect(rig.transport.paused).toBe(false)
})

test('bytes before an orderly end are still sent after the socket has closed', () => {
  const rig = new Rig().connect()
  rig.upstream.request.backed = true
  rig.connection.bytes(Buffer.from('a'), 0, 1)
  rig.connection.bytes(Buffer.from('b'), 0, 1)
  rig.connection.ended()
  rig.upstream.end()
  rig.connection.closed()
  expect(rig.upstream.request).toMatchObject({ text: 'a', ended: false })
  expect(rig.events).toEqual(['accepted'])
  rig.upstream.request.backed = false
  rig.upstream.request.source?.resume()
  expect(rig.upstream.request).toMatchObject({ text: 'ab', ended: true })
  expect(rig.events).toEqual(['accepted', 'closed 2 0 in order', 'socket closed'])
})

test('a backed-up client pauses the upstream', () => {
  const rig = new Rig().connect()
  rig.transport.backed = true
  rig.upstream.send('a')
  expect(rig.upstream.paused).toBe(true)
  rig.transport.drain()
  expect(rig.upstream.paused).toBe(false)
})

test('an aborted upstream does not look like an orderly end', () => {
  const rig = new Rig().connect()
  rig.upstream.send('half')
  rig.upstream.break('reset')
  expect(rig.transport).toMatchObject({ wasReset: true, endedByUs: false })
  expect(rig.events).toEqual(['accepted', 'closed 0 4 reset'])
  expect(rig.upstream.request.aborted).toBe('reset')
})

test('an aborted client cancels the upstream', () => {
  const rig = new Rig().connect()
  rig.transport.receive('half')
  rig.connection.closed()
  expect(rig.upstream).toMatchObject({ cancelled: true, request: { aborted: 'reset' } })
  expect(rig.events).toEqual(['accepted', 'closed 4 0 reset', 'socket closed'])
})

test('aborted before there is an upstream', async () => {
  const rig = new Rig()
  rig.connection.abort()
  await settled()
  expect(rig.transport.wasReset).toBe(true)
  expect(rig.events).toEqual(['accepted', 'closed 0 0 cancelled', 'socket closed'])
  rig.connect()
  expect(rig.upstream.cancelled).toBe(true)
})

test('draining does not affect a relayed connection', () => {
  const rig = new Rig().connect()
  rig.connection.drain()
  rig.upstream.send('still')
  expect(rig.transport.text).toBe('still')
})

test('a silent connection is closed after an hour, and every byte restarts the hour', async () => {
  const rig = new Rig().connect()
  await vi.advanceTimersByTimeAsync(50 * MINUTE)
  rig.upstream.send('x')
  await vi.advanceTimersByTimeAsync(50 * MINUTE)
  expect(rig.events).toEqual(['accepted'])
  await vi.advanceTimersByTimeAsync(30 * MINUTE)
  expect(rig.events).toEqual(['accepted', 'closed 0 1 timeout', 'socket closed'])
})

test('a client that does not read has less time', async () => {
  const rig = new Rig().connect()
  rig.upstream.send('x')
  rig.transport.unsentBytes = 1
  await vi.advanceTimersByTimeAsync(12 * MINUTE)
  expect(rig.events).toEqual(['accepted', 'closed 0 1 timeout', 'socket closed'])
})
