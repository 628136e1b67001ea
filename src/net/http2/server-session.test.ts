import { once } from 'node:events'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import net from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import { BODY_CHUNKED, BODY_LENGTH, type ServerStream } from '../stream.ts'
import { FrameClient, requestBlock } from '../testing/frame-client.ts'
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  type Field,
  type Frame,
  GOAWAY,
  HEADERS,
  headerBlock,
  PING,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  uint32,
} from '../testing/frames.ts'
import { handClock } from '../testing/hand-clock.ts'
import { ask } from '../testing/http2-client.ts'
import { answerWith } from '../testing/recording-handler.ts'
import { type Limits, SessionRig } from '../testing/session-rig.ts'

let rig: SessionRig
afterEach(() => rig.close())

const clock = handClock()
const MINUTE = 60_000
const NEVER = 1e9

/** Advances the clock past limits of `ms` milliseconds; the wheel is up to two steps late. */
function pass(ms: number): void {
  clock.pass(rig.wheel, ms + 200)
}

const count = (client: FrameClient, type: number, flags = 0) =>
  client.frames.filter((frame) => frame.type === type && frame.flags === flags).length

/** Waits until the server has processed everything that `client` sent, and vice versa. */
async function roundTrip(client: FrameClient): Promise<void> {
  const acknowledged = count(client, PING, ACK)
  client.send(PING, 0, 0, Buffer.alloc(8))
  await eventually(() => count(client, PING, ACK) > acknowledged || client.closed)
}

/** Advances the clock until the server has sent `count` frames of `type`, which `client` acknowledges. */
async function passUntilAsked(client: FrameClient, type: number, times: number): Promise<void> {
  for (let minutes = 0; minutes < 10 * times && count(client, type) < times; minutes++) {
    pass(MINUTE)
    await roundTrip(client)
    await roundTrip(client)
  }
  expect(count(client, type)).toBe(times)
}

/** Advances the clock until a condition holds. */
async function passUntil(check: () => boolean): Promise<void> {
  await eventually(() => {
    if (!check()) pass(MINUTE)
    return check()
  })
}

async function start(limits?: Limits, onRequest?: (stream: ServerStream) => void): Promise<SessionRig> {
  rig = await SessionRig.start(limits)
  if (onRequest !== undefined) rig.handler.onRequest = onRequest
  return rig
}

const NO_ERROR = 0
const PROTOCOL_ERROR = 1
const INTERNAL_ERROR = 2
const REFUSED_STREAM = 7
const CANCEL = 8
const ENHANCE_YOUR_CALM = 11

// Announced settings.

test('limits are announced as settings', async () => {
  const http2 = { windowBytes: 70_000, connectionWindowBytes: 300_000, maxFrameBytes: 20_000, maxStreams: 9 }
  await start({ http2 })
  const client = await rig.client()
  if (client.remoteSettings.maxConcurrentStreams !== 9) await once(client, 'remoteSettings')
  expect(client.remoteSettings).toMatchObject({
    initialWindowSize: 70_000,
    maxFrameSize: 20_000,
    maxConcurrentStreams: 9,
    enableConnectProtocol: false,
  })
  await ask(client, {})
  expect(client.state.remoteWindowSize).toBe(300_000)
})

// Normal ends.

test('a drained connection without requests ends', async () => {
  await start()
  const client = await rig.raw()
  await client.until((frame) => frame.type === SETTINGS)
  rig.sessions[0]!.drain()
  await client.untilClosed()
  expect(goaways(client)[0]).toEqual([0, NO_ERROR])
  await eventually(() => rig.open === 0)
})

test('a drained connection finishes requests in flight and accepts no others', async () => {
  let answer = () => {}
  await start({}, (stream) => {
    answer = () => answerWith(stream, 'late')
  })
  const client = await rig.raw()
  client.request(1)
  await eventually(() => rig.handler.events.length === 1)
  rig.sessions[0]!.drain()
  await client.until((frame) => frame.type === GOAWAY)
  expect(goaways(client)).toEqual([[1, NO_ERROR]])
  client.request(3)
  await roundTrip(client)
  answer()
  await client.untilClosed()
  expect(client.frames.some(({ type, stream, flags }) => type === DATA && stream === 1 && flags === END_STREAM)).toBe(
    true,
  )
  expect(rig.handler.events).toEqual(['request GET /', 'finished 4'])
})

test('a connection is drained at its maximum age', async () => {
  let answer = () => {}
  await start({ maxConnectionMs: MINUTE }, (stream) => {
    answer = () => answerWith(stream, 'late')
  })
  const client = await rig.client()
  const asked = ask(client, {})
  await eventually(() => rig.handler.events.length === 1)
  const toldToGo = once(client, 'goaway')
  pass(MINUTE)
  await toldToGo
  answer()
  const answered = await asked
  expect(answered).toMatchObject({ body: 'late', whole: true })
  await eventually(() => rig.open === 0)
})

test('an aborted connection resets its requests', async () => {
  await start({}, (stream) => stream.respond(Head.response(200), BODY_CHUNKED, -1))
  const client = await rig.client()
  const asked = ask(client, {})
  await eventually(() => rig.handler.events.length === 1)
  rig.sessions[0]!.abort()
  expect(await asked).toMatchObject({ whole: false, resetCode: CANCEL })
  expect(rig.handler.events[1]).toBe('aborted reset')
  await eventually(() => rig.open === 0)
})

test('the idle timeout applies only without requests', async () => {
  let answer = () => {}
  await start({ idleTimeoutMs: MINUTE }, (stream) => {
    answer = () => answerWith(stream, 'late')
  })
  const client = await rig.raw()
  client.request(1)
  await eventually(() => rig.handler.events.length === 1)
  pass(3 * MINUTE)
  await roundTrip(client)
  expect(goaways(client)).toEqual([])
  answer()
  await client.until(({ type, flags }) => type === DATA && flags === END_STREAM)
  await roundTrip(client)
  pass(MINUTE)
  await client.until(({ type }) => type === GOAWAY)
  expect(client.goawayCode).toBe(NO_ERROR)
  await passUntil(() => client.closed)
})

test('a client that sends nothing is disconnected', async () => {
  await start({ headTimeoutMs: MINUTE, lingerTimeoutMs: MINUTE })
  const silent = net.connect(rig.port, '127.0.0.1').resume()
  const closed = once(silent, 'close')
  await passUntil(() => rig.sessions.length === 1 && rig.open === 0)
  await closed
})

test('a client that stays connected after its GOAWAY is disconnected', async () => {
  await start({ lingerTimeoutMs: MINUTE })
  const client = await rig.raw()
  client.request(1)
  await client.until(({ type, flags }) => type === DATA && flags === END_STREAM)
  client.send(GOAWAY, 0, 0, Buffer.alloc(8))
  await passUntil(() => rig.open === 0)
})

test('a client that keeps its direction open after a drain is disconnected', async () => {
  let answer = () => {}
  const limits: Limits = { lingerTimeoutMs: MINUTE, idleTimeoutMs: NEVER, http2: { keepaliveTimeoutMs: NEVER } }
  await start(limits, (stream) => {
    answer = () => answerWith(stream, 'late')
  })
  const socket = net.connect({ port: rig.port, host: '127.0.0.1', allowHalfOpen: true })
  const client = new FrameClient(socket)
  socket.write(PREFACE, 'latin1')
  client.send(SETTINGS, 0, 0)
  client.request(1)
  await eventually(() => rig.handler.events.length > 0)
  rig.sessions[0]!.drain()
  answer()
  await passUntil(() => rig.open === 0)
  socket.destroy()
})

test('the connection closes when the client ends its direction', async () => {
  await start({}, () => {})
  const client = await rig.raw()
  client.request(1)
  await eventually(() => rig.handler.events.length === 1)
  client.socket.end()
  await eventually(() => rig.open === 0)
  expect(rig.handler.events[1]).toBe('aborted reset')
})

// Keepalive.

test('a client that answers PINGs stays connected', async () => {
  await start({
    headTimeoutMs: NEVER,
    idleTimeoutMs: NEVER,
    http2: { keepaliveIntervalMs: MINUTE, keepaliveTimeoutMs: 2 * MINUTE },
  })
  const client = await rig.raw()
  await passUntilAsked(client, PING, 3)
  expect(client.closed).toBe(false)
})

test('a client that does not answer PINGs is disconnected', async () => {
  await start({ http2: { keepaliveIntervalMs: MINUTE, keepaliveTimeoutMs: MINUTE } }, () => {})
  const client = await rig.raw()
  client.answersPings = false
  client.request(1)
  await eventually(() => rig.handler.events.length === 1)
  await passUntil(() => client.closed)
  expect(count(client, PING)).toBe(1)
  await eventually(() => rig.handler.events[1] === 'aborted reset')
})

test('a client that violates the protocol after its GOAWAY is disconnected', async () => {
  await start({ lingerTimeoutMs: MINUTE, http2: { keepaliveTimeoutMs: MINUTE } }, () => {})
  const client = await rig.raw()
  client.request(1)
  await eventually(() => rig.handler.events.length === 1)
  client.send(GOAWAY, 0, 0, Buffer.alloc(8))
  client.send(PING, 0, 0, Buffer.alloc(3))
  client.socket.end()
  await passUntil(() => rig.open === 0)
  expect(rig.handler.events[1]).toBe('aborted reset')
})

test('a client that has sent GOAWAY gets its response, however late', async () => {
  let answer = () => {}
  await start({ lingerTimeoutMs: MINUTE, http2: { keepaliveTimeoutMs: 2 * MINUTE } }, (stream) => {
    answer = () => answerWith(stream, 'late')
  })
  const client = await rig.raw()
  client.request(1)
  client.send(GOAWAY, 0, 0, Buffer.alloc(8))
  await eventually(() => rig.handler.events.length === 1)
  // The initial SETTINGS and three keepalives: node:http2 sends no PING on a closing session.
  await passUntilAsked(client, SETTINGS, 4)
  answer()
  await client.until(({ type, flags }) => type === DATA && flags === END_STREAM)
  await passUntil(() => rig.open === 0)
})

// Malicious clients.

test('an idle connection keeps little memory of its requests', async () => {
  const served: ServerStream[][] = []
  await start({}, (stream) => void served.at(-1)!.push(stream))
  const client = await rig.raw()
  const serve = async (first: number, count: number, value = '') => {
    served.push([])
    for (let i = 0; i < count; i++) client.request(first + 2 * i, [['x', value]])
    await eventually(() => served.at(-1)!.length === count)
    for (const stream of served.at(-1)!) answerWith(stream, 'ok')
    const ended = ({ type, flags }: Frame) => type === DATA && flags === END_STREAM
    await eventually(() => client.frames.filter(ended).length === served.flat().length)
    return served.at(-1)!
  }
  const many = await serve(1, 50)
  expect((await serve(101, 50)).filter((stream) => many.includes(stream)).length).toBeLessThan(10)
  const [large] = await serve(201, 1, 'x'.repeat(4000))
  expect(await serve(203, 50)).not.toContain(large)
})

test('requests beyond the stream limit are refused; a client that has acknowledged the limit is disconnected', async () => {
  await start({ http2: { maxStreams: 2 } }, () => {})
  const client = await rig.raw()
  client.answersSettings = false
  for (let stream = 1; stream <= 7; stream += 2) client.request(stream)
  await client.until((frame) => frame.type === RST_STREAM && frame.stream === 7)
  const codes = [1, 3, 5, 7].map((stream) => client.resetCode(stream))
  expect(codes).toEqual([undefined, undefined, REFUSED_STREAM, REFUSED_STREAM])
  client.send(SETTINGS, 1, 0)
  client.request(9)
  await client.untilClosed()
  expect(client.goawayCode).toBe(PROTOCOL_ERROR)
  expect(rig.handler.events.filter((event) => event.startsWith('request')).length).toBe(2)
})

test.each([
  ['in the same breath', false],
  ['when they have begun', true],
])('a flood of requests that are reset %s', async (_what, begun) => {
  await start({ http2: { maxResets: 50, resetsPerSecond: 1 } }, () => {})
  const client = await rig.raw()
  for (let stream = 1; stream < 400 && !client.closed; stream += 2) {
    client.socket.cork()
    client.request(stream)
    if (begun) {
      client.socket.uncork()
      await roundTrip(client)
    }
    client.send(RST_STREAM, 0, stream, uint32(CANCEL))
    if (!begun) client.socket.uncork()
  }
  await client.untilClosed()
  expect(client.goawayCode).toBe(ENHANCE_YOUR_CALM)
  expect(rig.handler.events.length).toBeLessThan(120)
})

test('streams that a client makes the gateway reset count as reset by the client', async () => {
  await start({ http2: { maxResets: 20, resetsPerSecond: 1 } }, () => {})
  const client = await rig.raw()
  for (let stream = 1; stream < 100 && !client.closed; stream += 2) {
    client.request(stream, [['content-length', '5']], END_HEADERS)
    client.send(DATA, END_STREAM, stream, Buffer.from('no'))
    await roundTrip(client)
  }
  await client.untilClosed()
  expect(client.goawayCode).toBe(ENHANCE_YOUR_CALM)
})

test('a client may reset requests at a human rate', async () => {
  await start({ http2: { maxResets: 20, resetsPerSecond: 1000 } }, () => {})
  const client = await rig.raw()
  for (let stream = 1; stream < 100; stream += 2) {
    client.request(stream)
    client.send(RST_STREAM, 0, stream, uint32(CANCEL))
    await roundTrip(client)
    clock.skip(2)
  }
  expect(client.closed).toBe(false)
})

test.each<[what: string, flood: (client: FrameClient) => void, code: number]>([
  [
    'settings',
    (client) => {
      for (let i = 0; i < 200; i++) client.send(SETTINGS, 0, 0)
    },
    ENHANCE_YOUR_CALM,
  ],
  [
    'pings whose answers wait',
    (client) => {
      client.socket.cork()
      for (let i = 0; i < 5000; i++) client.send(PING, 0, 0, Buffer.alloc(8))
      client.socket.uncork()
    },
    INTERNAL_ERROR,
  ],
  [
    'CONTINUATION',
    (client) => {
      client.send(HEADERS, END_STREAM, 1, requestBlock())
      for (let i = 0; i < 100; i++) client.send(CONTINUATION, 0, 1, headerBlock([['x', 'y']]))
    },
    INTERNAL_ERROR,
  ],
  [
    'empty CONTINUATION',
    (client) => {
      client.send(HEADERS, END_STREAM, 1, requestBlock())
      for (let i = 0; i < 100; i++) client.send(CONTINUATION, 0, 1)
    },
    INTERNAL_ERROR,
  ],
  [
    'empty DATA',
    (client) => {
      client.request(1, [], END_HEADERS)
      for (let i = 0; i < 1000; i++) client.send(DATA, 0, 1)
    },
    INTERNAL_ERROR,
  ],
])('a flood of %s ends the connection', async (_what, flood, code) => {
  await start({}, () => {})
  const client = await rig.raw()
  flood(client)
  await client.untilClosed()
  expect(client.goawayCode).toBe(code)
  await eventually(() => rig.open === 0)
  expect(rig.handler.events.filter((event) => event.startsWith('broken'))).toEqual([
    expect.stringMatching(/^broken http2-flood: \S/),
  ])
})

const SHORT_PING = Buffer.alloc(3)

test.each<[what: string, deed: (client: FrameClient) => void, told: string[]]>([
  [
    'a frame of a wrong size',
    (client) => client.send(PING, 0, 0, SHORT_PING),
    ['broken http2-protocol-error: Protocol error'],
  ],
  ['DATA on stream 0', (client) => client.send(DATA, 0, 0), ['broken http2-protocol-error: Protocol error']],
  [
    'fields that cannot be unpacked',
    (client) => client.send(HEADERS, END_STREAM | END_HEADERS, 1, Buffer.alloc(5, 0xff)),
    ['broken http2-protocol-error: Protocol error'],
  ],
  [
    'the end of a client that was not content',
    (client) => client.send(GOAWAY, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, PROTOCOL_ERROR])),
    ['broken http2-client-error: Session closed with error code 1'],
  ],
  ['the end of a client that was', (client) => client.send(GOAWAY, 0, 0, Buffer.alloc(8)), []],
  [
    'a client that is torn away with a request in flight',
    (client) => {
      client.request(1)
      client.socket.resetAndDestroy()
    },
    ['request GET /', 'aborted reset'],
  ],
  ['a client that leaves', (client) => client.socket.end(), []],
  ['a client that is torn away', (client) => client.socket.resetAndDestroy(), []],
])('the fault reported for %s', async (_, deed, told) => {
  await start({ lingerTimeoutMs: MINUTE, idleTimeoutMs: NEVER }, () => {})
  const client = await rig.raw()
  await client.until((frame) => frame.type === SETTINGS && frame.flags === 1)
  deed(client)
  await passUntil(() => rig.open === 0)
  expect(rig.handler.events).toEqual(told)
})

test('decompression of a head stops at its limit', async () => {
  await start()
  const client = await rig.raw()
  await client.until((frame) => frame.type === SETTINGS && frame.flags === 1)
  // An entry of the table with 4,000 bytes, and references to it of one byte each (RFC 7541, 6.1).
  const entry = Buffer.concat([
    Buffer.from([0x40, 1]),
    Buffer.from('x'),
    Buffer.from([127, 0xa1, 0x1e]),
    Buffer.alloc(4000, 'a'),
  ])
  const bomb = Buffer.concat([requestBlock(), entry, Buffer.alloc(10_000, 0x80 | 62)])
  client.send(HEADERS, END_STREAM | END_HEADERS, 1, bomb)
  await client.until((frame) => frame.type === RST_STREAM)
  expect(client.resetCode(1)).toBe(ENHANCE_YOUR_CALM)
  expect(rig.handler.events).toEqual([])
})

test('a client that does not read its response is disconnected', async () => {
  await start({ writeTimeoutMs: MINUTE }, (stream) => {
    stream.respond(Head.response(200), BODY_LENGTH, 200_000)
    stream.response.bytes(Buffer.alloc(100_000), 0, 100_000)
  })
  // No window: SETTINGS_INITIAL_WINDOW_SIZE is 0.
  const client = await rig.raw([[4, 0]])
  client.request(1)
  await eventually(() => rig.handler.events.length === 1)
  await passUntil(() => client.frames.some(({ type }) => type === RST_STREAM))
  expect(client.resetCode(1)).toBe(INTERNAL_ERROR)
  await eventually(() => rig.handler.events[1] === 'aborted timeout')
})

test('a client that does not read the end of its response is disconnected', async () => {
  await start({ writeTimeoutMs: MINUTE })
  const client = await rig.raw([[4, 0]])
  client.request(1)
  await eventually(() => rig.handler.events.length === 2)
  await passUntil(() => client.frames.some(({ type }) => type === RST_STREAM))
  expect(rig.handler.events[1]).toBe('finished 2')
})

function readAll(stream: ServerStream, received: (bytes: number) => void = () => {}): void {
  stream.body.pipe({
    backed: false,
    source: null,
    takesFramed: false,
    bytes: (_, start, end) => received(end - start),
    end() {},
    abort() {},
  })
}

/** A request whose body stalls. */
function stall(client: ClientHttp2Session, fields: Record<string, string>): ClientHttp2Stream {
  const stream = client.request({ ':method': 'POST', ...fields })
  stream.on('error', () => {})
  stream.write('a')
  return stream
}

async function statusOf(stream: ClientHttp2Stream): Promise<number | undefined> {
  const [head] = (await once(stream, 'response')) as [{ ':status'?: number }]
  return head[':status']
}

test.each<[what: string, fields: Record<string, string>, limits: Limits]>([
  ['any', {}, { bodyTimeoutMs: MINUTE, silenceTimeoutMs: NEVER }],
  ['one that takes trailers', { te: 'trailers' }, { bodyTimeoutMs: MINUTE, silenceTimeoutMs: NEVER }],
  [
    'one of gRPC-Web',
    { 'content-type': 'application/grpc-web+proto' },
    { bodyTimeoutMs: MINUTE, silenceTimeoutMs: NEVER },
  ],
])('a stalled request body gets status 408: %s', async (_, fields, limits) => {
  await start(limits, readAll)
  const status = statusOf(stall(await rig.client(), fields))
  await eventually(() => rig.handler.events.length === 1)
  await passUntil(() => rig.handler.events.length === 3)
  expect(await status).toBe(408)
  expect(rig.handler.events.slice(1)).toEqual(['refused request-timeout-reading', 'aborted timeout'])
})

test('a gRPC call may be silent for longer than other requests', async () => {
  await start({ bodyTimeoutMs: MINUTE, silenceTimeoutMs: NEVER }, readAll)
  const client = await rig.client()
  const call = stall(client, { 'content-type': 'application/grpc' })
  const status = statusOf(stall(client, {}))
  await eventually(() => rig.handler.events.length === 2)
  await passUntil(() => rig.handler.events.includes('refused request-timeout-reading'))
  expect(await status).toBe(408)
  expect(call.closed).toBe(false)
})

const POST: readonly Field[] = [
  [':method', 'POST'],
  [':path', '/'],
  [':scheme', 'http'],
  [':authority', 'h'],
]
const GRPC: Field = ['content-type', 'application/grpc']

test('a request is refused once, even if its trailers are too large as well', async () => {
  await start({ bodyTimeoutMs: MINUTE, silenceTimeoutMs: NEVER }, readAll)
  // No window, SETTINGS_INITIAL_WINDOW_SIZE is 0: the refused stream stays open.
  const client = await rig.raw([[4, 0]])
  client.request(1, POST, END_HEADERS)
  await eventually(() => rig.handler.events.length === 1)
  await passUntil(() => rig.handler.events.length === 3)
  const large = [8000, 8000, 300].map((size, at): Field => [`x${at}`, 'a'.repeat(size)])
  client.send(HEADERS, END_STREAM | END_HEADERS, 1, headerBlock(large))
  client.request(3, POST)
  await eventually(() => rig.handler.events.length === 4)
  expect(rig.handler.events.slice(1)).toEqual(['refused request-timeout-reading', 'aborted timeout', 'request POST /'])
})

/** Requests during which both sides may be silent: what the client sends, and the immediate part of the response. */
const SILENT: Readonly<Record<string, { fields: readonly Field[]; flags: number; type: string | undefined }>> = {
  'a call of gRPC before its answer': { fields: [...POST, GRPC], flags: END_HEADERS, type: undefined },
  'a call of gRPC behind the head of its answer': {
    fields: [...POST, GRPC],
    flags: END_HEADERS,
    type: 'application/grpc',
  },
  'a stream of events to a request that goes on': { fields: POST, flags: END_HEADERS, type: 'text/event-stream' },
  'a stream of events to a request that has ended': {
    fields: [],
    flags: END_STREAM | END_HEADERS,
    type: 'text/event-stream',
  },
}

/** Opens a connection with such a request. */
async function beSilent(what: string): Promise<FrameClient> {
  const { fields, flags, type } = SILENT[what]!
  const limits = { bodyTimeoutMs: MINUTE, writeTimeoutMs: MINUTE, silenceTimeoutMs: MINUTE }
  await start({ ...limits, http2: { keepaliveTimeoutMs: 2 * MINUTE } }, (stream) => {
    readAll(stream)
    if (type === undefined) return
    const head = Head.response(200)
    head.set('content-type', type)
    stream.respond(head, BODY_CHUNKED, -1)
  })
  const client = await rig.raw()
  client.request(1, fields, flags)
  await eventually(() => rig.handler.events.length === 1)
  return client
}

test.each(Object.keys(SILENT))('%s may be silent as long as its client answers PINGs', async (what) => {
  const client = await beSilent(what)
  await passUntilAsked(client, PING, 3)
  expect([client.resetCode(1), client.closed, rig.handler.events]).toEqual([
    undefined,
    false,
    rig.handler.events.slice(0, 1),
  ])
})

test.each(Object.keys(SILENT))('%s ends with its connection if the client does not answer PINGs', async (what) => {
  const client = await beSilent(what)
  client.answersPings = false
  await passUntil(() => client.closed)
  expect(count(client, PING)).toBe(1)
  await eventually(() => rig.handler.events.at(-1) === 'aborted reset')
})

test('any other request whose response has begun may be silent only for a limited time', async () => {
  let received = 0
  await start({ writeTimeoutMs: MINUTE, silenceTimeoutMs: 2 * MINUTE }, (stream) => {
    readAll(stream, (bytes) => {
      received += bytes
    })
    stream.respond(Head.response(200), BODY_CHUNKED, -1)
  })
  const client = await rig.client()
  const talking = stall(client, {})
  const silent = stall(client, {})
  await eventually(() => received === 2)
  for (let said = 3; said < 20 && !silent.closed; said++) {
    talking.write('a')
    await eventually(() => received === said)
    pass(MINUTE)
    await new Promise((resolve) => client.ping(resolve))
  }
  // Node crashes if a client is destroyed inside the callback for a reset (docs/decisions/0121-http2.md).
  await setImmediate()
  expect([silent.rstCode, talking.closed]).toEqual([INTERNAL_ERROR, false])
  expect(rig.handler.events.slice(2)).toEqual(['aborted timeout'])
})

function goaways(client: FrameClient): [lastStream: number, code: number][] {
  return client.frames
    .filter(({ type }) => type === GOAWAY)
    .map(({ payload }) => [payload.readUInt32BE(0), payload.readUInt32BE(4)])
}

async function eventually(check: () => boolean): Promise<void> {
  for (let i = 0; i < 5000 && !check(); i++) await sleep(1)
  expect(check()).toBe(true)
}
