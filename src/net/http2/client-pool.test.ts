import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { BodyMemory } from '../body/body-memory.ts'
import type { PoolSettings } from '../connect/pool-settings.ts'
import type { Destination } from '../destination.ts'
import type { Failure } from '../failure.ts'
import { Head } from '../http/head.ts'
import {
  BODY_CHUNKED,
  BODY_LENGTH,
  BODY_NONE,
  type ClientHandler,
  type ClientPool,
  type ClientStream,
  type Framing,
} from '../stream.ts'
import { type Asked, ask } from '../testing/ask.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { type FramePeer, FrameServer } from '../testing/frame-server.ts'
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  type Field,
  GOAWAY,
  HEADERS,
  headerBlock,
  PING,
  RST_STREAM,
  SETTINGS,
  uint32,
  WINDOW_UPDATE,
} from '../testing/frames.ts'
import { poolRig } from '../testing/pool-rig.ts'
import { type Accepted, destinationOf, RawServer } from '../testing/raw-peers.ts'
import { TextSink } from '../testing/recording-handler.ts'

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants

/** Setting of RFC 9113, 6.5.2. */
const INITIAL_WINDOW_SIZE = 4

const { cleanup, newPool, skip } = poolRig()

async function frames(serve: (peer: FramePeer, index: number) => void, settings: Partial<PoolSettings> = {}) {
  const server = await new FrameServer(serve).start()
  cleanup.push(() => server.close())
  return { server, destination: server.destination, ...newPool(settings) }
}

/** A server that handles every request with `serve`. */
function answeringFrames(serve: (peer: FramePeer, stream: number, index: number) => void) {
  return (peer: FramePeer, index: number) => {
    peer.settings([INITIAL_WINDOW_SIZE, 1_000_000])
    peer.send(WINDOW_UPDATE, 0, 0, uint32(1_000_000))
    peer.onRequest = (stream) => serve(peer, stream, index)
  }
}

type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, fields: string[]) => void

async function nodeServer(serve: Serve, options: http2.ServerOptions = {}) {
  const server = http2.createServer(options)
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    cleanup.push(() => socket.destroy())
  })
  server.on('stream', (stream, headers, _, fields) => {
    stream.on('error', () => {})
    serve(stream as ServerHttp2Stream, headers, fields as string[])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.push(() => server.close())
  const destination: Destination = { ...destinationOf((server.address() as AddressInfo).port), http: 'http2' }
  return { destination, connections: () => connections, ...newPool() }
}

function answer(stream: ServerHttp2Stream, text: string): void {
  stream.respond({ ':status': 200 })
  stream.end(text)
}

async function readAll(stream: ServerHttp2Stream): Promise<string> {
  let text = ''
  for await (const bytes of stream) text += bytes
  return text
}

const sent: [asked: Asked, fields: string[]][] = [
  [{}, []],
  [{ method: 'POST' }, ['content-length', '0']],
  [{ method: 'POST', body: 'hello' }, ['content-length', '5']],
  [{ method: 'POST', body: 'hello', chunked: true }, []],
  [{ takesTrailers: true }, ['te', 'trailers']],
  [
    { headers: { 'x-a': '1', authorization: 'secret', connection: 'close', upgrade: 'h2c' } },
    ['x-a', '1', 'authorization', 'secret'],
  ],
]
test.each(sent)('a request %j is sent with the fields %j', async (asked, fields) => {
  let seen: string[] = []
  const { pool, destination } = await nodeServer(async (stream, _, received) => {
    seen = received
    answer(stream, await readAll(stream))
  })
  const result = await ask(pool, destination, asked)
  expect(result).toMatchObject({ status: 200, body: asked.body ?? '' })
  expect(seen).toEqual([
    ':method',
    asked.method ?? 'GET',
    ':authority',
    'x',
    ':scheme',
    'http',
    ':path',
    '/',
    ...fields,
  ])
})

test('all requests share a connection until the server allows no more', async () => {
  const held: ServerHttp2Stream[] = []
  const { pool, destination, connections } = await nodeServer(
    (stream) => {
      held.push(stream)
      if (held.length === 5) for (const one of held) answer(one, 'ok')
    },
    { settings: { maxConcurrentStreams: 2 } },
  )
  await ask5(pool, destination)
  expect(connections()).toBe(3)

  async function ask5(...to: [ClientPool, Destination]): Promise<void> {
    const results = await Promise.all([1, 2, 3, 4, 5].map(() => ask(...to)))
    for (const result of results) expect(result).toMatchObject({ status: 200, body: 'ok' })
  }
})

test('bodies flow both ways at once, with trailers in both directions', async () => {
  let trailers: IncomingHttpHeaders = {}
  const told: string[] = []
  const { pool, destination } = await nodeServer((stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-two': ['a', 'b'] }))
    stream.on('trailers', (received) => {
      trailers = received
    })
    stream.pipe(stream)
  })
  const sink = new TextSink()
  const result = await new Promise<Head | undefined>((resolve) => {
    Object.assign(sink, { end: resolve })
    const handler: ClientHandler = {
      ...NO_HANDLER,
      response: (stream) => stream.body.pipe(sink),
      trailed: (_, fields) => fields.each((name) => told.push(name)),
    }
    const stream = pool.send(destination, request('POST'), TRAILING, 0, handler, undefined)
    const pieces = ['one ', 'two ', 'three']
    sink.bytes = (buffer, start, end) => {
      sink.text += buffer.latin1Slice(start, end)
      const next = pieces.shift()
      if (next !== undefined) stream.request.bytes(Buffer.from(next), 0, next.length)
      else {
        const last = new Head()
        last.append('x-sum', '3')
        last.append('x-no', '4')
        stream.request.end(last)
      }
    }
    stream.request.bytes(Buffer.from('zero '), 0, 5)
  })
  expect(sink.text).toBe('zero one two three')
  expect([result?.get('grpc-status'), result?.getAll('x-two')]).toEqual(['0', ['a', 'b']])
  expect([trailers['x-sum'], trailers['x-no'], told]).toEqual(['3', undefined, ['grpc-status', 'x-two', 'x-two']])
})

test('backpressure works in both directions', async () => {
  const size = 4_000_000
  const { pool, destination } = await nodeServer((stream) => {
    stream.respond({ ':status': 200 })
    setTimeout(() => stream.pipe(stream), 50)
  })
  const sink = new TextSink()
  let taken = 0
  let given = 0
  let most = 0
  await new Promise<void>((resolve) => {
    sink.end = () => resolve()
    sink.bytes = (_, start, end) => {
      taken += end - start
      sink.backed = true
      setImmediate(() => {
        sink.backed = false
        sink.source?.resume()
      })
    }
    const handler: ClientHandler = { ...NO_HANDLER, response: (stream) => stream.body.pipe(sink) }
    const stream = pool.send(destination, request('POST'), { kind: BODY_LENGTH, length: size }, 0, handler, undefined)
    const piece = Buffer.alloc(40_000)
    const give = () => {
      while (given < size && !stream.request.backed) {
        stream.request.bytes(piece, 0, piece.length)
        given += piece.length
        most = Math.max(most, given - taken)
      }
      if (given === size) stream.request.end()
    }
    stream.request.source = { kind: BODY_LENGTH, length: size, pipe: () => {}, pause: () => {}, resume: give }
    give()
  })
  expect(taken).toBe(size)
  expect(most).toBeLessThan(2_000_000)
})

test('interim responses are forwarded', async () => {
  const { pool, destination } = await nodeServer((stream) => {
    stream.additionalHeaders({ ':status': 103, link: '</a>' })
    answer(stream, 'ok')
  })
  expect(await ask(pool, destination)).toMatchObject({ status: 200, informed: [103] })
})

test.each([
  [100, { status: 200, failure: undefined }],
  [101, { status: 0, failure: 'protocol-error' }],
])('a server with %d interim responses', async (count, expected) => {
  const { pool, destination } = await frames(
    answeringFrames((peer, stream) => {
      for (let i = 0; i < count; i++) peer.head(stream, [[':status', '103']])
      peer.answer(stream, 'ok')
    }),
  )
  const result = await ask(pool, destination)
  expect(result).toMatchObject(expected)
  expect(result.informed).toHaveLength(100)
})

const cut: [what: string, serve: (peer: FramePeer, stream: number) => void, expected: object][] = [
  [
    'reset without an error in the middle of a body',
    (peer, stream) => {
      peer.head(stream, [[':status', '200']])
      peer.data(stream, 'half')
      peer.reset(stream, NGHTTP2_NO_ERROR)
    },
    { status: 200, body: 'half', aborted: 'reset' },
  ],
  [
    'reset with CANCEL in the middle of a body',
    (peer, stream) => {
      peer.head(stream, [[':status', '200']])
      peer.data(stream, 'half')
      peer.reset(stream, NGHTTP2_CANCEL)
    },
    { status: 200, aborted: 'reset' },
  ],
  [
    'a connection that ends in the middle of a body',
    (peer, stream) => {
      peer.head(stream, [[':status', '200']])
      peer.data(stream, 'half')
      peer.socket.end()
    },
    { status: 200, aborted: 'reset' },
  ],
  [
    'less than was announced',
    (peer, stream) => {
      peer.head(stream, [
        [':status', '200'],
        ['content-length', '5'],
      ])
      peer.data(stream, 'half', END_STREAM)
    },
    { status: 200, aborted: 'protocol-error' },
  ],
  [
    'more than was announced',
    (peer, stream) => {
      peer.head(stream, [
        [':status', '200'],
        ['content-length', '3'],
      ])
      peer.data(stream, 'half', END_STREAM)
    },
    { status: 200, aborted: 'protocol-error' },
  ],
  [
    'reset before a response',
    (peer, stream) => peer.reset(stream, NGHTTP2_INTERNAL_ERROR),
    { failure: 'reset', sent: true },
  ],
  [
    'a field of the connection',
    (peer, stream) => answerWith(peer, stream, 'connection', 'close'),
    { failure: 'protocol-error' },
  ],
  ['a status of 101', (peer, stream) => peer.head(stream, [[':status', '101']]), { failure: 'protocol-error' }],
  [
    'a status of two digits',
    (peer, stream) => peer.head(stream, [[':status', '20']], END_STREAM),
    { failure: 'protocol-error' },
  ],
  [
    'an interim response with a field of the connection',
    (peer, stream) =>
      peer.head(stream, [
        [':status', '103'],
        ['connection', 'close'],
      ]),
    { failure: 'protocol-error' },
  ],
  [
    'an interim response as the last',
    (peer, stream) => peer.head(stream, [[':status', '103']], END_STREAM),
    { failure: 'protocol-error' },
  ],
  [
    'two lengths',
    (peer, stream) =>
      peer.head(stream, [
        [':status', '200'],
        ['content-length', '1'],
        ['content-length', '2'],
      ]),
    { failure: 'protocol-error' },
  ],
  ['upper case', (peer, stream) => answerWith(peer, stream, 'X-A', '1'), { failure: 'protocol-error' }],
  [
    'a length with a sign',
    (peer, stream) => answerWith(peer, stream, 'content-length', '+1'),
    { failure: 'protocol-error' },
  ],
  [
    'a large head',
    (peer, stream) =>
      largeHead(
        peer,
        stream,
        [...'abc'].map((name) => [name, 'x'.repeat(50_000)]),
      ),
    { failure: 'protocol-error' },
  ],
  [
    'a head of many fields',
    (peer, stream) =>
      largeHead(
        peer,
        stream,
        Array.from({ length: 1001 }, (_, i) => [`x-${i}`, '']),
      ),
    { failure: 'reset' },
  ],
  ['no HTTP/2 any more', (peer) => peer.socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), { failure: 'protocol-error' }],
]
const foreign: [what: string, serve: (peer: Accepted) => void, failure: string][] = [
  ['answers in HTTP/1.1 and closes', (peer) => peer.socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), 'not-http2'],
  ['answers in HTTP/1.1 and waits', (peer) => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), 'not-http2'],
  ['says nothing and closes', (peer) => peer.socket.end(), 'reset'],
]
test.each(foreign)('a server that is sent the preface and %s', async (_, serve, failure) => {
  const server = await new RawServer((peer) => peer.socket.once('data', () => serve(peer))).start()
  cleanup.push(() => server.close())
  const { pool } = newPool()
  const result = await ask(pool, { ...server.destination, http: 'http2' }, { method: 'POST', body: 'x' })
  expect(result.failure).toBe(failure)
})

test.each(cut)('never whole: %s', async (_, serve, expected) => {
  const { pool, destination } = await frames(answeringFrames(serve))
  expect(await ask(pool, destination, { method: 'POST' })).toMatchObject(expected)
})

test.each([
  ['x a', '1'],
  ['x-a', 'a\r\nb: c'],
  ['x-a', 'a\u0001'],
  ['x-a', ' 1'],
])('an invalid field is omitted: %j %j', async (name, value) => {
  const { pool, destination } = await frames(
    answeringFrames((peer, stream) =>
      peer.head(
        stream,
        [
          [':status', '200'],
          [name, value],
          ['x-b', '2'],
        ],
        END_STREAM,
      ),
    ),
  )
  const { stream } = await ask(pool, destination)
  const fields: string[] = []
  stream.head.each((lowerName) => fields.push(lowerName))
  expect(fields).toEqual(['x-b'])
})

test.each([
  ['HEAD', [['content-length', '7']], { status: 200, body: '' }],
  ['GET', [], { status: 200, body: '' }],
] as const)('a response to %s without body', async (method, fields, expected) => {
  const { pool, destination } = await frames(
    answeringFrames((peer, stream) => peer.head(stream, [[':status', '200'], ...fields], END_STREAM)),
  )
  const result = await ask(pool, destination, { method })
  expect(result).toMatchObject(expected)
  expect(result.stream.body.kind).toBe(BODY_NONE)
})

const replayed: [what: string, asked: Asked, first: (peer: FramePeer, stream: number) => void, expected: object][] = [
  ['refused', {}, (peer, stream) => peer.reset(stream, NGHTTP2_REFUSED_STREAM), { status: 200, body: 'ok' }],
  [
    'refused with its body in hand',
    { method: 'POST', body: 'hello' },
    (peer, stream) => peer.reset(stream, NGHTTP2_REFUSED_STREAM),
    { status: 200, body: 'ok' },
  ],
  [
    'refused with a body too long to keep',
    { method: 'POST', body: 'x'.repeat(70_000) },
    (peer, stream) => setTimeout(() => peer.reset(stream, NGHTTP2_REFUSED_STREAM), 50),
    { failure: 'reset', sent: false },
  ],
  [
    'behind the last stream of a GOAWAY',
    { method: 'POST' },
    (peer) => peer.goaway(0, NGHTTP2_NO_ERROR),
    { status: 200, body: 'ok' },
  ],
  [
    'behind the last stream of a GOAWAY with an error',
    { method: 'POST' },
    (peer) => peer.goaway(0, NGHTTP2_INTERNAL_ERROR),
    { status: 200, body: 'ok' },
  ],
  [
    'among the last streams of a GOAWAY with an error',
    {},
    (peer, stream) => peer.goaway(stream, NGHTTP2_INTERNAL_ERROR),
    { failure: 'reset', sent: true },
  ],
]
test.each(replayed)('a request that was %s', async (_, asked, first, expected) => {
  let requests = 0
  const { pool, destination } = await frames(
    answeringFrames((peer, stream) => {
      if (++requests === 1) first(peer, stream)
      else setTimeout(() => peer.answer(stream, 'ok'), 20)
    }),
  )
  expect(await ask(pool, destination, asked)).toMatchObject(expected)
})

test.each([
  ['enough', 10, { status: 200, body: 'ok' }],
  ['too little', 4, { failure: 'reset', sent: false }],
])('bodies kept for a replay take body memory: there is %s', async (_, bytes, expected) => {
  const bodyMemory = new BodyMemory(bytes)
  const held: number[] = []
  let posts = 0
  const { pool, destination } = await frames(
    answeringFrames((peer, stream) => {
      if (stream === 1) return peer.answer(stream, 'ok')
      held.push(bodyMemory.heldBytes)
      if (++posts > 1) peer.answer(stream, 'ok')
      else setTimeout(() => peer.reset(stream, NGHTTP2_REFUSED_STREAM), 50)
    }),
    { bodyMemory },
  )
  await ask(pool, destination)
  expect(await ask(pool, destination, { method: 'POST', body: 'hello' })).toMatchObject(expected)
  expect(held).toEqual(bytes === 10 ? [5, 5] : [0])
  expect(bodyMemory.heldBytes).toBe(0)
})

test('the number of replays is limited', async () => {
  const { pool, destination, server } = await frames(
    answeringFrames((peer, stream) => peer.reset(stream, NGHTTP2_REFUSED_STREAM)),
  )
  const replays = ['not-processed', 'not-processed', 'not-processed']
  expect(await ask(pool, destination)).toMatchObject({ failure: 'reset', sent: false, replays })
  expect(server.peers[0]!.frames.filter(({ type }) => type === HEADERS)).toHaveLength(4)
})

test('after a GOAWAY, requests in flight finish and new ones use another connection', async () => {
  const { pool, destination, server } = await frames(
    answeringFrames((peer, stream, index) => {
      if (index > 0) return peer.answer(stream, 'second')
      peer.goaway(stream, NGHTTP2_NO_ERROR)
      setTimeout(() => peer.answer(stream, 'first'), 100)
    }),
  )
  const first = ask(pool, destination)
  await vi.waitFor(() => expect(server.peers[0]?.frames.some(({ type }) => type === HEADERS)).toBe(true))
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(await ask(pool, destination)).toMatchObject({ body: 'second' })
  expect(await first).toMatchObject({ body: 'first' })
})

test.each([
  ['GET', { status: 200, body: 'ok', replays: ['stale-connection'] }],
  ['POST', { failure: 'reset', sent: true, replays: [] }],
] as const)('an idle connection that closes under a %s', async (method, expected) => {
  let requests = 0
  const { pool, destination } = await frames(
    answeringFrames((peer, stream) => {
      if (++requests === 2) peer.socket.destroy()
      else peer.answer(stream, 'ok')
    }),
  )
  await ask(pool, destination)
  expect(await ask(pool, destination, { method })).toMatchObject(expected)
})

test.each([true, false])('cancel resets the stream, which never looks whole (trails: %s)', async (trails) => {
  const { pool, destination, server } = await frames(
    answeringFrames((peer, stream) => {
      if (stream > 1) peer.answer(stream, 'ok')
    }),
  )
  const framing: Framing = trails ? TRAILING : { kind: BODY_CHUNKED, length: -1 }
  const stream = pool.send(destination, request('POST'), framing, 0, NO_HANDLER, undefined)
  stream.request.bytes(Buffer.from('half'), 0, 4)
  await vi.waitFor(() => expect(server.peers[0]?.of(DATA, 1)).toHaveLength(1))
  stream.cancel()
  expect(await ask(pool, destination)).toMatchObject({ body: 'ok' })
  const [peer] = server.peers
  expect(peer!.of(DATA, 1).every(({ flags }) => (flags & END_STREAM) === 0)).toBe(true)
  expect(peer!.of(RST_STREAM, 1).map(({ payload }) => payload.readUInt32BE(0))).toEqual([NGHTTP2_CANCEL])
  expect(server.peers).toHaveLength(1)
})

test('other requests of a session can be cancelled while a reset by the server is reported', async () => {
  for (let round = 0; round < 20; round++) {
    const talking: ClientStream[] = []
    const { pool, destination, server } = await frames(
      answeringFrames((peer, stream) => {
        peer.head(stream, [[':status', '200']])
        // Later, when both have more to send.
        if (stream === 3) setTimeout(() => peer.reset(1, NGHTTP2_INTERNAL_ERROR), 20)
      }),
    )
    const piece = Buffer.from('piece')
    const talk = setInterval(() => {
      for (const { request } of talking.slice(1)) request.bytes(piece, 0, piece.length)
    }, 1)
    await new Promise<void>((resolve) => {
      const sink = new TextSink()
      sink.abort = () => {
        // As code that awaits the first one does.
        void Promise.resolve().then(() => {
          for (const stream of talking) stream.cancel()
          resolve()
        })
      }
      const handler: ClientHandler = { ...NO_HANDLER, response: (stream) => stream.body.pipe(sink) }
      for (let i = 0; i < 4; i++) {
        talking.push(pool.send(destination, request('POST'), { kind: BODY_CHUNKED, length: -1 }, 0, handler, undefined))
      }
    })
    clearInterval(talk)
    // Node crashed when these resets were sent inside the callback that reports the received one.
    await vi.waitFor(() => expect(server.peers[0]!.frames.filter(({ type }) => type === RST_STREAM)).toHaveLength(3), {
      interval: 2,
    })
    pool.close()
  }
})

test('a request can be cancelled while its response is reported', async () => {
  const server = http2.createServer()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.resume()
    stream.respond({ ':status': 503 })
    stream.end('no')
  })
  cleanup.push(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { pool } = newPool()
  const { port } = server.address() as AddressInfo
  const destination: Destination = { ...destinationOf(port), http: 'http2' }
  const sendAndGiveUp = () =>
    new Promise<void>((resolve) => {
      const handler: ClientHandler = {
        ...NO_HANDLER,
        response: (given) => {
          given.cancel()
          resolve()
        },
      }
      const stream = pool.send(destination, request('POST'), TRAILING, 0, handler, undefined)
      stream.request.bytes(Buffer.from('some'), 0, 4)
      setTimeout(() => stream.request.end(), 1)
    })
  // Node crashed when trailers arrived for a stream that had just been reset.
  for (let round = 0; round < 100; round++) await Promise.all(Array.from({ length: 16 }, sendAndGiveUp))
  expect(await ask(pool, destination)).toMatchObject({ status: 503, body: 'no' })
})

test('a body whose length differs from the announced one resets the stream', async () => {
  for (const given of ['too much', 'few']) {
    const { pool, destination, server } = await frames(answeringFrames(() => {}))
    const why = await new Promise((resolve) => {
      const handler: ClientHandler = { ...NO_HANDLER, failed: (_, failure) => resolve(failure) }
      const stream = pool.send(destination, request('POST'), { kind: BODY_LENGTH, length: 5 }, 0, handler, undefined)
      const wait = setInterval(() => {
        if (server.peers[0]?.of(HEADERS, 1).length !== 1) return
        clearInterval(wait)
        stream.request.bytes(Buffer.from(given), 0, given.length)
        stream.request.end()
      }, 5)
    })
    expect(why).toMatchObject({ code: 'request-incomplete' })
    await vi.waitFor(() => expect(server.peers[0]!.of(RST_STREAM, 1)).toHaveLength(1))
    expect(server.peers[0]!.of(DATA, 1).every(({ flags }) => (flags & END_STREAM) === 0)).toBe(true)
  }
})

test('a response that completes before its request resets the rest of the request', async () => {
  const { pool, destination, server } = await frames(answeringFrames((peer, stream) => peer.answer(stream, 'early')))
  const sink = new TextSink()
  await new Promise<void>((resolve) => {
    sink.onEnd = resolve
    const handler: ClientHandler = { ...NO_HANDLER, response: (stream) => stream.body.pipe(sink) }
    pool.send(destination, request('POST'), { kind: BODY_CHUNKED, length: -1 }, 0, handler, undefined)
  })
  expect(sink.text).toBe('early')
  await vi.waitFor(() => expect(server.peers[0]!.of(RST_STREAM, 1)).toHaveLength(1))
})

test('a response body waits for its receiver', async () => {
  const { pool, destination } = await frames(answeringFrames((peer, stream) => peer.answer(stream, 'kept')))
  const sink = new TextSink()
  await new Promise<void>((resolve) => {
    sink.onEnd = resolve
    const handler: ClientHandler = {
      ...NO_HANDLER,
      response: (stream) => void setTimeout(() => stream.body.pipe(sink), 20),
    }
    pool.send(destination, request('GET'), { kind: BODY_NONE, length: -1 }, 0, handler, undefined)
  })
  expect(sink.text).toBe('kept')
})

test('a response without a body that precedes the end of its request resets the rest of the request', async () => {
  const { pool, destination, server } = await frames(
    answeringFrames((peer, stream) => peer.head(stream, [[':status', '204']], END_STREAM)),
  )
  pool.send(destination, request('POST'), { kind: BODY_CHUNKED, length: -1 }, 0, NO_HANDLER, undefined)
  await vi.waitFor(() => expect(server.peers[0]?.of(RST_STREAM, 1)).toHaveLength(1))
})

test('a response time limit covers the head only', async () => {
  const { pool, destination, pass } = await frames(
    answeringFrames((peer, stream) => {
      if (stream === 1) return setTimeout(() => pass(1300), 20)
      peer.head(stream, [[':status', '200']])
      setTimeout(() => {
        pass(60_000)
        peer.data(stream, 'late', END_STREAM)
      }, 50)
    }),
  )
  expect(await ask(pool, destination, { timeoutMs: 1000 })).toMatchObject({ failure: 'timeout', sent: true })
  expect(await ask(pool, destination, { timeoutMs: 1000 })).toMatchObject({ status: 200, body: 'late' })
})

test('over TLS the scheme is https, and a further connection resumes the session of the first', async () => {
  const server = http2.createSecureServer({ ...CERTIFICATES.server, settings: { maxConcurrentStreams: 1 } })
  const resumed: boolean[] = []
  server.on('secureConnection', (socket) => {
    resumed.push(socket.isSessionReused())
    cleanup.push(() => socket.destroy())
  })
  const held: ServerHttp2Stream[] = []
  server.on('stream', (stream: ServerHttp2Stream, { ':scheme': scheme, ':path': path }: IncomingHttpHeaders) => {
    if (path === '/') return answer(stream, scheme!)
    if (held.push(stream) === 2) for (const one of held) answer(one, '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.push(() => server.close())
  const { pool } = newPool()
  const tls = { serverName: undefined, ca: CERTIFICATES.ca, cert: undefined, key: undefined, verify: 'full' } as const
  const { port } = server.address() as AddressInfo
  const destination: Destination = { ...destinationOf(port), http: 'http2', tls: { ...tls, alpn: ['h2'] } }
  expect(await ask(pool, destination)).toMatchObject({ body: 'https' })
  const path = '/held'
  await Promise.all([ask(pool, destination, { path }), ask(pool, destination, { path })])
  expect(resumed).toEqual([false, true])
})

test('an idle connection is kept for the idle timeout of the pool', async () => {
  const { pool, destination, pass, server } = await frames(answeringFrames((peer, stream) => peer.answer(stream, 'ok')))
  await ask(pool, destination)
  pass(89_000)
  await ask(pool, destination)
  expect(server.peers).toHaveLength(1)
  pass(91_000)
  await ask(pool, destination)
  expect(server.peers).toHaveLength(2)
})

test('a silent connection gets a PING and is closed if there is no reply', async () => {
  const { pool, destination, pass, server } = await frames(
    answeringFrames((peer, stream, index) => {
      if (index === 0 && stream > 1) return
      peer.answer(stream, `${index}`)
    }),
  )
  await ask(pool, destination)
  server.peers[0]!.answersPings = false
  pass(20_000)
  const second = ask(pool, destination)
  await vi.waitFor(() => expect(server.peers[0]!.frames.some(({ type }) => type === PING)).toBe(true))
  pass(11_000)
  expect(await second).toMatchObject({ body: '1' })
})

test('a server that violates the protocol after its GOAWAY is disconnected', async () => {
  const { pool, destination, pass, server } = await frames(
    answeringFrames((peer, stream) => {
      peer.goaway(stream, NGHTTP2_NO_ERROR)
      setTimeout(() => peer.send(PING, 0, 0, Buffer.alloc(3)), 20)
    }),
  )
  const result = ask(pool, destination)
  await vi.waitFor(() => expect(server.peers[0]?.frames.some(({ type }) => type === GOAWAY)).toBe(true))
  pass(16_000)
  pass(11_000)
  expect(await result).toMatchObject({ failure: 'reset', sent: true })
})

test('a server that has sent GOAWAY has no additional time limit', async () => {
  const { pool, destination, pass, server } = await frames(
    answeringFrames((peer, stream) => {
      peer.goaway(stream, NGHTTP2_NO_ERROR)
      setTimeout(() => peer.answer(stream, 'late'), 300)
    }),
  )
  const result = ask(pool, destination)
  await vi.waitFor(() => expect(server.peers[0]?.frames.some(({ type }) => type === GOAWAY)).toBe(true))
  pass(16_000)
  // The initial SETTINGS, the acknowledgement of the server's, and the keepalive.
  await vi.waitFor(() => expect(server.peers[0]!.of(SETTINGS, 0)).toHaveLength(3))
  await new Promise((resolve) => setTimeout(resolve, 50))
  pass(11_000)
  expect(await result).toMatchObject({ body: 'late' })
})

test('a request in flight is given up when one of the PINGs of its destination gets no reply', async () => {
  const { pool, pass, server, ...plain } = await frames(
    answeringFrames((peer, stream) => stream > 1 && peer.answer(stream, 'ok')),
  )
  const destination = { ...plain.destination, pingMs: 60_000 }
  const waiting = ask(pool, destination, { method: 'POST', body: 'x' })
  const pings = () => server.peers[0]?.frames.filter(({ type }) => type === PING).length
  await vi.waitFor(() => expect(server.peers[0]?.frames.some(({ type }) => type === HEADERS)).toBe(true))
  pass(61_000)
  await vi.waitFor(() => expect(pings()).toBe(1))
  // Its response arrives after the reply to the PING.
  await ask(pool, destination)
  server.peers[0]!.answersPings = false
  pass(61_000)
  await vi.waitFor(() => expect(pings()).toBe(2))
  pass(11_000)
  expect(await waiting).toMatchObject({ failure: 'reset' })
})

test('a busy connection gets no PING', async () => {
  const { pool, destination, server } = await frames(answeringFrames((peer, stream) => peer.answer(stream, 'ok')))
  for (let i = 0; i < 3; i++) {
    await ask(pool, destination)
    skip(10_000)
  }
  expect(server.peers[0]!.frames.some(({ type }) => type === PING)).toBe(false)
})

test('a refused connection and unusable key material fail unsent', async () => {
  const { pool } = newPool()
  const nowhere: Destination = { ...destinationOf(1), http: 'http2' }
  expect(await ask(pool, nowhere)).toMatchObject({ failure: 'connection-refused', sent: false })
  const tls = { serverName: undefined, ca: 'nothing', cert: 'x', key: 'y', verify: 'full', alpn: ['h2'] } as const
  expect(await ask(pool, { ...nowhere, key: 'tls', tls })).toMatchObject({
    failure: 'tls-settings-unusable',
    sent: false,
  })
})

test('the time limit also applies before there is a connection', async () => {
  const { pool, pass } = newPool()
  const silent = await new RawServer(() => {}).start()
  cleanup.push(() => silent.close())
  const tls = { serverName: undefined, ca: CERTIFICATES.ca, cert: undefined, key: undefined, verify: 'full' } as const
  for (const [http, alpn] of [
    ['http2', ['h2']],
    ['negotiated', ['h2', 'http/1.1']],
  ] as const) {
    const destination: Destination = { ...silent.destination, key: http, http, tls: { ...tls, alpn } }
    const result = ask(pool, destination, { timeoutMs: 1000 })
    await vi.waitFor(() => expect(silent.connections).toBeGreaterThan(0))
    pass(1300)
    expect(await result).toMatchObject({ failure: 'timeout', sent: false })
  }
})

test('a closed pool closes its side, and does not wait for the side of a server that never speaks', async () => {
  const { pool, pass } = newPool()
  const peers: Accepted[] = []
  const silent = await new RawServer((peer) => void peers.push(peer)).start()
  cleanup.push(() => silent.close())
  const asked = ask(pool, { ...silent.destination, http: 'http2' }, { timeoutMs: 1000 })
  await vi.waitFor(() => expect(peers[0]?.text).toContain('PRI * HTTP/2.0'))
  pass(1300)
  expect(await asked).toMatchObject({ failure: 'timeout' })
  pool.close()
  pass(1300)
  await vi.waitFor(() => expect(peers[0]!.ended).toBe(true))
  // Only a write shows that the other side does not read any more.
  await vi.waitFor(() => {
    peers[0]!.send('late')
    expect(peers[0]!.closed).toBe(true)
  })
})

test('a closed pool keeps no connections', async () => {
  const { pool, destination, server } = await frames(answeringFrames((peer, stream) => peer.answer(stream, 'ok')))
  await ask(pool, destination)
  pool.close()
  await ask(pool, destination)
  await ask(pool, destination)
  expect(server.peers).toHaveLength(3)
})

test('many requests at once, with bodies, on few connections', async () => {
  const { pool, destination, connections } = await nodeServer(async (stream) => answer(stream, await readAll(stream)))
  const bodies = Array.from({ length: 300 }, (_, i) => `${i} `.repeat(i))
  const results = await Promise.all(bodies.map((body) => ask(pool, destination, { method: 'POST', body })))
  expect(results.map(({ body }) => body)).toEqual(bodies)
  expect(connections()).toBeLessThanOrEqual(3)
})

const TRAILING: Framing = { kind: BODY_CHUNKED, length: -1, trailers: { admits: (name) => name !== 'x-no' } }

const NO_HANDLER: ClientHandler = {
  response: () => {},
  informed: () => {},
  upgraded: () => {},
  replayed: () => {},
  failed: () => {},
}

function request(method: string): Head {
  const head = Head.request(method, '/')
  head.authority = 'x'
  return head
}

function answerWith(peer: FramePeer, stream: number, name: string, value: string): void {
  peer.head(stream, [
    [':status', '200'],
    [name, value],
  ])
}

/** A head in as many frames as necessary. */
function largeHead(peer: FramePeer, stream: number, fields: readonly Field[]): void {
  const block = headerBlock([[':status', '200'], ...fields])
  for (let at = 0; at < block.length; at += 16_000) {
    const end = at + 16_000 >= block.length ? END_HEADERS : 0
    peer.send(at === 0 ? HEADERS : CONTINUATION, end, stream, block.subarray(at, at + 16_000))
  }
}

// Heads that are too large for HTTP/2.

const MAX_HEADER_LIST_SIZE = 6
/** The maximum length of the value of one field `x` beside the pseudo-header fields of these requests. */
const PSEUDO_BYTES = 7 + 3 + 10 + 1 + 7 + 4 + 5 + 1 + 4 * 32

test.each([
  [undefined, 65_536 - PSEUDO_BYTES - 33, true],
  [undefined, 65_536 - PSEUDO_BYTES - 32, false],
  [4096, 4096 - PSEUDO_BYTES - 33, true],
  [4096, 4096 - PSEUDO_BYTES - 32, false],
  [1_000_000, 70_000, false],
])(
  'a server that takes heads of %s bytes: one with a value of %d bytes is sent: %s',
  async (announced, valueBytes, taken) => {
    let connections = 0
    const { pool, destination } = await frames((peer) => {
      connections++
      peer.settings(...(announced === undefined ? [] : [[MAX_HEADER_LIST_SIZE, announced] as const]))
      peer.onRequest = (stream) => peer.answer(stream, 'ok')
    })
    expect(await ask(pool, destination)).toMatchObject({ status: 200 })
    const result = await ask(pool, destination, { headers: { x: 'v'.repeat(valueBytes) } })
    if (taken) expect(result).toMatchObject({ status: 200, body: 'ok' })
    else expect(result).toMatchObject({ failure: 'request-headers-too-large', sent: false, replays: [] })
    // The connection stays open.
    expect(await ask(pool, destination)).toMatchObject({ status: 200 })
    expect(connections).toBe(1)
  },
)

test('request trailers that are too large abort only that request', async () => {
  const { pool, destination, connections } = await nodeServer((stream) => {
    readAll(stream).then(
      (text) => answer(stream, text),
      () => {},
    )
  })
  const beside = pool.send(destination, request('POST'), TRAILING, 0, NO_HANDLER, undefined)
  const failure = await new Promise<Failure>((resolve) => {
    const handler: ClientHandler = { ...NO_HANDLER, failed: (_, why) => resolve(why) }
    const stream = pool.send(destination, request('POST'), TRAILING, 0, handler, undefined)
    const trailers = new Head()
    trailers.append('x-sum', 'v'.repeat(70_000))
    stream.request.end(trailers)
  })
  expect(failure.code).toBe('request-incomplete')
  expect(await ask(pool, destination)).toMatchObject({ status: 200 })
  expect(connections()).toBe(1)
  beside.cancel()
})
