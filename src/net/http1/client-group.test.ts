import { once } from 'node:events'
import { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { flushAll } from '#base/turn.ts'
import { eventually } from '#test/support/eventually.ts'
import type { Connector } from '../connect/connector.ts'
import type { Dial, DialContext, DialOptions } from '../connect/dial.ts'
import type { PoolSettings } from '../connect/pool-settings.ts'
import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import { Head } from '../http/head.ts'
import { BODY_LENGTH, BODY_NONE, type ClientStream, type Framing } from '../stream.ts'
import { ExchangeRig } from '../testing/exchange-rig.ts'
import { MemoryTransport } from '../testing/memory-transport.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { ReadRelay } from '../transport/read-relay.ts'
import type { TransportOwner } from '../transport/transport.ts'
import { Http1Pool } from './client-pool.ts'

let now = 0

beforeEach(() => {
  now = 0
  vi.spyOn(clock, 'monotonic').mockImplementation(() => now)
})

const DESTINATION: Destination = { key: 'a', host: '192.0.2.1', port: 80, connectTimeoutMs: 500 }
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const REFUSED: ConnectFailure = { code: 'connection-refused', detail: 'no' }

/** A connection that the pool opens. */
interface Opened {
  readonly destination: Destination
  readonly context: DialContext
  readonly transport: MemoryTransport
  cancelled: boolean
  succeed(): void
  fail(): void
}

/** Settings of a request; members of the framing that are missing have their default. */
interface Sent extends Partial<Framing> {
  readonly timeoutMs?: number
  readonly destination?: Destination
}

/** A pool that opens connections without sockets. */
function setup(settings: Partial<PoolSettings> = {}) {
  const wheel = new TimerWheel()
  const opened: Opened[] = []
  const seekers: { roomToConnect(): void }[] = []
  const room = { connections: 9 }
  const chosenIdle = new Map<unknown, () => void>()
  const transports = new Map<Socket, MemoryTransport>()
  const connector = {
    chosenIdle: {
      add: (connection: unknown, close: () => void) => chosenIdle.set(connection, close),
      remove: (connection: unknown) => chosenIdle.delete(connection),
    },
    reserve: (_: Destination, seeker: { roomToConnect(): void }) => {
      if (opened.length < room.connections) return true
      seekers.push(seeker)
      return false
    },
    dial: (destination: Destination, context: DialContext, { done }: DialOptions): Pick<Dial, 'cancel'> => {
      const transport = new MemoryTransport()
      const one: Opened = {
        ...{ destination, context, transport, cancelled: false },
        succeed: () => {
          const socket = new Socket()
          transports.set(socket, transport)
          done(socket, null, undefined)
        },
        fail: () => done(null, REFUSED, undefined),
      }
      opened.push(one)
      return {
        cancel: () => {
          one.cancelled = true
        },
      }
    },
    transports: {
      newRelay: () => new ReadRelay(),
      open: (socket: Socket, _relay: unknown, owner: TransportOwner) =>
        Object.assign(transports.get(socket)!, { owner }),
    },
  }
  const pool = new Http1Pool(
    { wheel, idleTimeoutMs: 1000, maxIdle: 2, ...settings } as PoolSettings,
    connector as unknown as Connector,
  )
  const send = (path: string, { timeoutMs = 0, destination = DESTINATION, ...framing }: Sent = {}) => {
    const rig = new ExchangeRig()
    const whole: Framing = { kind: BODY_NONE, length: -1, ...framing }
    const stream = pool.send(destination, Head.request('GET', path), whole, timeoutMs, rig.handler, 'context')
    return Object.assign(rig, { stream })
  }
  /** Opens connections and lets them become idle. */
  const idle = (count: number) => {
    const from = opened.length
    for (let i = 0; i < count; i++) send(`/first-${i}`)
    for (const one of opened.slice(from)) one.succeed()
    for (const { transport } of opened.slice(from)) transport.receive(OK)
  }
  const pass = (ms: number) => {
    now += ms
    wheel.advance()
  }
  return { pool, opened, room, seekers, chosenIdle, send, idle, pass }
}

const requests = (opened: readonly Opened[]) =>
  opened.map(({ transport }) => transport.text.match(/[A-Z]+ \/\S*/g)?.join() ?? '')

test.each<[framing: Partial<Framing>, text: string]>([
  [{}, 'GET / HTTP/1.1\r\n\r\n'],
  [{ upgrade: '' }, 'GET / HTTP/1.1\r\n\r\n'],
  [{ upgrade: 'x' }, 'GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  [{ kind: BODY_LENGTH, length: 5 }, 'GET / HTTP/1.1\r\ncontent-length: 5\r\n\r\n'],
])('a request with the framing %j is sent as %j', (framing, text) => {
  const { opened, send } = setup()
  const { stream } = send('/', framing)
  opened[0]!.succeed()
  expect([opened[0]!.transport.text, stream.context]).toEqual([text, 'context'])
  stream.request.bytes(Buffer.from('hello'), 0, 5)
  expect(opened[0]!.transport.text).toBe(framing.kind === BODY_LENGTH ? `${text}hello` : text)
})

test.each<[mode: 'connect' | 'forward' | undefined, text: string, event: string]>([
  [undefined, 'GET / HTTP/1.1\r\n\r\n', 'response 407'],
  ['connect', 'GET / HTTP/1.1\r\n\r\n', 'response 407'],
  [
    'forward',
    'GET http://192.0.2.1/ HTTP/1.1\r\nhost: 192.0.2.1\r\n\r\n',
    'failed tunnel-refused: the proxy server answered 407, unsent',
  ],
])('through a proxy server with mode %s, %j is sent, and 407 is: %s', async (mode, text, event) => {
  const { pool, send } = setup()
  const tunnel = mode === undefined ? undefined : { mode, proxies: [], authorization: undefined }
  const destination: Destination = { ...DESTINATION, ...(tunnel && { tunnel }) }
  const [socket, server] = duplexPair()
  const context: DialContext = { secureContext: undefined, session: undefined }
  pool.adopt(destination, { socket: socket as Socket, context, use: undefined })
  const { events } = send('/', { destination })
  flushAll()
  const [bytes] = await once(server, 'data')
  expect(String(bytes)).toBe(text)
  server.write('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n')
  expect(await eventually('the answer', () => events[0])).toBe(event)
  expect(events).toEqual([event])
})

test.each([
  [0, false, []],
  [1000, false, ['failed timeout: undefined, maybe processed']],
  [1000, true, []],
])('a response limit of %i ms, patient: %s, while the body makes progress', (timeoutMs, patient, events) => {
  const { opened, send, pass } = setup()
  const rig = send('/', { timeoutMs, kind: BODY_LENGTH, length: 5, patient })
  opened[0]!.succeed()
  rig.stream.request.bytes(Buffer.from('h'), 0, 1)
  pass(1200)
  expect(rig.events).toEqual(events)
})

test('the response limit ends with the head of the response', () => {
  const { opened, send, pass } = setup()
  const { sink } = send('/', { timeoutMs: 1000 })
  opened[0]!.succeed()
  opened[0]!.transport.receive(OK.slice(0, -1))
  pass(1200)
  opened[0]!.transport.receive('k')
  expect([sink.text, sink.ended, sink.aborted]).toEqual(['ok', true, undefined])
})

test('the connection that was used last is used next', () => {
  const { opened, send, idle } = setup()
  idle(2)
  expect(opened[0]!.context).toBe(opened[1]!.context)
  send('/second')
  expect(requests(opened)).toEqual(['GET /first-0', 'GET /first-1,GET /second'])
})

test('a pool keeps its maximum of idle connections', () => {
  const { opened, idle } = setup()
  idle(3)
  expect(opened.map(({ transport }) => transport.destroyed)).toEqual([false, false, true])
})

test('a connection is closed when it has been idle, not while it is used', () => {
  const { pool, opened, send, idle, pass } = setup()
  idle(2)
  pass(900)
  send('/second')
  pass(300)
  expect(opened.map(({ transport }) => transport.destroyed)).toEqual([true, false])
  opened[1]!.transport.receive(OK)
  pass(900)
  expect(pool.isOpen('a')).toBe(true)
  pass(300)
  expect([opened[1]!.transport.destroyed, pool.isOpen('a')]).toEqual([true, false])
})

test.each([
  ['timeout=1', true],
  ['timeout=2', false],
])('a connection whose server announces %s is closed at once: %s', (hint, closed) => {
  const { opened, send, pass } = setup({ idleTimeoutMs: 5000 })
  send('/')
  opened[0]!.succeed()
  opened[0]!.transport.receive(OK.replace('\r\n\r\n', `\r\nKeep-Alive: ${hint}\r\n\r\n`))
  expect(opened[0]!.transport.destroyed).toBe(closed)
  pass(1300)
  expect(opened[0]!.transport.destroyed).toBe(true)
})

test('a connection that can no longer be used is closed, not used', () => {
  const { opened, send, idle } = setup()
  idle(2)
  opened[1]!.transport.usable = false
  const { sink } = send('/second')
  expect(opened[1]!.transport.destroyed).toBe(true)
  opened[0]!.transport.usable = false
  opened[0]!.transport.receive(OK)
  expect([sink.text, opened[0]!.transport.destroyed]).toEqual(['ok', true])
  send('/third')
  expect(opened).toHaveLength(3)
})

test('a closed pool closes idle connections, and others when they become idle', () => {
  const { pool, opened, send, idle } = setup()
  idle(2)
  send('/second')
  pool.close()
  expect(opened.map(({ transport }) => transport.destroyed)).toEqual([true, false])
  opened[1]!.transport.receive(OK)
  expect([opened[1]!.transport.destroyed, pool.isOpen('a')]).toEqual([true, false])
})

test('a request that is cancelled stops the opening of its connection', () => {
  const { pool, opened, send } = setup()
  const { stream, events } = send('/')
  expect(pool.isOpen('a')).toBe(true)
  stream.cancel()
  expect([opened[0]!.cancelled, pool.isOpen('a'), events]).toEqual([true, false, []])
})

test('a connection that is open is not cancelled any more', () => {
  const { opened, send, idle } = setup()
  idle(1)
  send('/second').stream.cancel()
  expect([opened[0]!.cancelled, opened[0]!.transport.destroyed]).toEqual([false, true])
  const { events } = send('/third')
  opened[1]!.fail()
  expect([events, opened[1]!.cancelled]).toEqual([['failed connection-refused: no, unsent'], false])
})

test('an idle connection that its server closes is not used', () => {
  const { pool, opened, send, idle } = setup()
  idle(2)
  opened[0]!.transport.receiveEnd()
  expect(pool.isOpen('a')).toBe(true)
  send('/second')
  send('/third')
  expect(requests(opened.slice(0, 2))).toEqual(['GET /first-0', 'GET /first-1,GET /second'])
  expect(opened).toHaveLength(3)
})

test('a destination without connections starts from its initial state', () => {
  const { opened, send } = setup()
  send('/first')
  opened[0]!.fail()
  send('/second')
  expect(opened[1]!.context).not.toBe(opened[0]!.context)
})

test('connections are opened as the last request describes their destination', () => {
  const { opened, send } = setup()
  send('/first')
  const changed = { ...DESTINATION, connectTimeoutMs: 7000 }
  send('/second', { destination: changed })
  expect(opened.map(({ destination }) => destination)).toEqual([DESTINATION, changed])
})

test('requests wait in order for a connection that becomes idle', () => {
  const { opened, room, send } = setup()
  room.connections = 1
  send('/first')
  const [second, third] = [send('/second'), send('/third')]
  expect([second.stream.awaitsRoom, opened.length]).toEqual([true, 1])
  opened[0]!.succeed()
  opened[0]!.transport.receive(OK)
  expect([second.stream.awaitsRoom, third.stream.awaitsRoom]).toEqual([false, true])
  opened[0]!.transport.receive(OK)
  expect(requests(opened)).toEqual(['GET /first,GET /second,GET /third'])
})

test('waiting requests get new connections as far as there is room', () => {
  const { opened, room, seekers, send } = setup()
  room.connections = 0
  const rigs = [send('/first'), send('/second'), send('/third')]
  room.connections = 2
  seekers[0]!.roomToConnect()
  expect([opened.length, rigs.map(({ stream }) => stream.awaitsRoom)]).toEqual([2, [false, false, true]])
  for (const one of opened) one.succeed()
  expect(requests(opened)).toEqual(['GET /first', 'GET /second'])
})

test('no more requests wait than permitted, and none longer than a connection may take', async () => {
  const { room, pass, send } = setup()
  room.connections = 0
  const destination = { ...DESTINATION, bounds: { maxConnections: 9, maxWaiting: 1 } }
  const [first, second] = [send('/first', { destination }), send('/second', { destination })]
  await new Promise<void>((resolve) => process.nextTick(resolve))
  const failure =
    'failed too-many-waiting: all connections are busy, and the limit of queued requests (1) is reached, unsent'
  expect([first.events, second.events]).toEqual([[], [failure]])
  pass(700)
  expect(first.events).toEqual(['failed wait-timeout: no connection was free within 500 ms, unsent'])
})

test('a destination for which no request waits any more is forgotten', () => {
  const { pool, opened, room, seekers, send } = setup()
  room.connections = 1
  send('/first')
  const { stream } = send('/second')
  opened[0]!.fail()
  expect(pool.isOpen('a')).toBe(false)
  stream.cancel()
  room.connections = 9
  seekers[0]!.roomToConnect()
  expect(opened).toHaveLength(1)
  send('/third')
  expect(opened[1]!.context).not.toBe(opened[0]!.context)
})

test('a connection that was opened elsewhere is used like others, and so is what it knows', async () => {
  const { pool, opened, send } = setup()
  const [socket, server] = duplexPair()
  const context: DialContext = { secureContext: undefined, session: undefined }
  pool.adopt(DESTINATION, { socket: socket as Socket, context, use: undefined })
  expect(pool.isOpen('a')).toBe(true)
  const { sink } = send('/first')
  flushAll()
  const [bytes] = await once(server, 'data')
  expect(String(bytes)).toBe('GET /first HTTP/1.1\r\n\r\n')
  const ended = new Promise<void>((resolve) => {
    sink.onEnd = resolve
  })
  server.write(OK)
  await ended
  send('/second')
  expect(opened).toHaveLength(0)
  send('/third')
  expect(opened[0]!.context).toBe(context)
  const other = { ...context }
  pool.adopt(DESTINATION, { socket: duplexPair()[0] as Socket, context: other, use: undefined })
  send('/fourth')
  send('/fifth')
  expect(opened[1]!.context).toBe(context)
})

test('connections that are closed leave no timer', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { opened, send, idle } = setup()
  idle(1)
  send('/second')
  opened[0]!.transport.receive(OK)
  expect(vi.getTimerCount()).toBe(1)
  opened[0]!.transport.receiveEnd()
  expect(vi.getTimerCount()).toBe(0)
})

test('of the connections to destinations that clients choose, exactly the idle ones may be closed for another one', () => {
  const destination: Destination = { ...DESTINATION, chosenByClient: true }
  const { opened, send, chosenIdle } = setup()
  send('/first', { destination })
  expect(chosenIdle.size).toBe(0)
  opened[0]!.succeed()
  opened[0]!.transport.receive(OK)
  expect(chosenIdle.size).toBe(1)
  send('/second', { destination })
  expect(chosenIdle.size).toBe(0)
  opened[0]!.transport.receive(OK)
  const [close] = chosenIdle.values()
  close!()
  expect([chosenIdle.size, opened[0]!.transport.destroyed]).toEqual([0, true])
})

test('idle connections to other destinations are not closed for those that clients choose', () => {
  const { idle, chosenIdle } = setup()
  idle(1)
  expect(chosenIdle.size).toBe(0)
})

/** A request on an idle connection that its server closes before it answers. */
function stale(connections: number) {
  const rig = setup()
  rig.idle(1)
  const { events, sink } = rig.send('/second')
  rig.room.connections = connections
  rig.opened[0]!.transport.receiveEnd()
  return { ...rig, events, sink }
}

test('a request is sent again on a new connection, if the server has closed the old one', () => {
  const { pool, opened, events, sink } = stale(9)
  expect([events, opened.length, pool.isOpen('a')]).toEqual([['replayed stale-connection'], 2, true])
  opened[1]!.succeed()
  opened[1]!.transport.receive(OK)
  expect([requests(opened)[1], sink.text]).toEqual(['GET /second', 'ok'])
})

test('a request that is sent again waits for a connection like others', () => {
  const { opened, room, seekers, sink } = stale(1)
  expect(opened).toHaveLength(1)
  room.connections = 2
  seekers.at(-1)!.roomToConnect()
  opened[1]!.succeed()
  opened[1]!.transport.receive(OK)
  expect([requests(opened)[1], sink.text]).toEqual(['GET /second', 'ok'])
})

test('a released exchange is used again', () => {
  const { opened, send, idle } = setup()
  idle(1)
  const used = (path: string): ClientStream => {
    const { stream } = send(path)
    opened[0]!.transport.receive(OK)
    return stream
  }
  const [first, second] = [used('/1'), used('/2')]
  expect(first).not.toBe(second)
  first.release()
  expect(used('/3')).toBe(first)
})
