import { expect, test, vi } from 'vitest'
import type { Destination } from '../destination.ts'
import { Head } from '../http/head.ts'
import { BODY_NONE } from '../stream.ts'
import { ask } from '../testing/ask.ts'
import { type FramePeer, FrameServer } from '../testing/frame-server.ts'
import { HEADERS } from '../testing/frames.ts'
import { poolRig } from '../testing/pool-rig.ts'
import { TextSink } from '../testing/recording-handler.ts'

const MAX_CONCURRENT_STREAMS = 3
const REFUSED_STREAM = 7

const { cleanup, newPool } = poolRig()

async function frames(serve: (peer: FramePeer, index: number) => void, bounds?: Destination['bounds']) {
  const server = await new FrameServer(serve).start()
  const pools = newPool()
  cleanup.push(() => server.close())
  return { server, ...pools, destination: { ...server.destination, ...(bounds && { bounds }) } }
}

/** The requests that a connection has received. */
const requestsOf = ({ frames: all }: FramePeer) => all.filter(({ type }) => type === HEADERS).length

/** Sends settings and waits until the client has acknowledged them. */
async function settle(peer: FramePeer, limit: number): Promise<void> {
  const seen = peer.frames.length
  peer.settings([MAX_CONCURRENT_STREAMS, limit])
  await vi.waitFor(() => {
    expect(peer.frames.slice(seen).some(({ type, flags }) => type === 4 && flags === 1)).toBe(true)
  })
}

/** The first connection sets its stream limit to 0 after its response; the others respond. */
async function shutAfterOne(bounds?: Destination['bounds']) {
  const rigged = await frames((peer, index) => {
    peer.settings()
    peer.onRequest = (stream) => peer.answer(stream, `from ${index}`)
  }, bounds)
  expect(await ask(rigged.pool, rigged.destination)).toMatchObject({ body: 'from 0' })
  const first = rigged.server.peers[0]!
  await settle(first, 0)
  return { ...rigged, first }
}

test('requests go to another connection if a session allows no streams', async () => {
  const { pool, destination, first } = await shutAfterOne()
  for (let i = 0; i < 3; i++) {
    expect(await ask(pool, destination, { method: 'POST', body: 'x' })).toMatchObject({ body: 'from 1' })
  }
  expect(requestsOf(first)).toBe(1)
})

test('if no other connection is permitted, requests fail after their time limit', async () => {
  const { pool, destination, first, pass } = await shutAfterOne({ maxConnections: 1, maxWaiting: 1 })
  const waiting = ask(pool, destination)
  expect(await ask(pool, destination)).toMatchObject({ failure: 'too-many-waiting', sent: false })
  pass(5300)
  expect(await waiting).toMatchObject({ failure: 'no-streams-allowed', sent: false })
  expect(requestsOf(first)).toBe(1)
})

test('waiting requests continue when the server allows streams again', async () => {
  const { pool, destination, first } = await shutAfterOne({ maxConnections: 1, maxWaiting: 9 })
  const waiting = ['one', 'two'].map((body) => ask(pool, destination, { method: 'POST', body }))
  await settle(first, 1)
  for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ body: 'from 0' })
})

test('a request may use another connection as soon as the limits of its destination are raised', async () => {
  const { pool, destination, server } = await frames((peer, index) => {
    peer.settings([MAX_CONCURRENT_STREAMS, 1])
    peer.onRequest = (stream) => index > 0 && peer.answer(stream, 'from another')
  })
  const within = (maxConnections: number) => ({ ...destination, bounds: { maxConnections, maxWaiting: 9 } })
  void ask(pool, within(1))
  await vi.waitFor(() => expect(requestsOf(server.peers[0]!)).toBe(1))
  expect(await ask(pool, within(2))).toMatchObject({ body: 'from another' })
})

test('a lowered limit applies to new requests; those in flight continue', async () => {
  const held: number[] = []
  const { pool, destination, server } = await frames(
    (peer) => {
      peer.settings([MAX_CONCURRENT_STREAMS, 3])
      peer.onRequest = (stream) => held.push(stream)
    },
    { maxConnections: 1, maxWaiting: 9 },
  )
  const asked = [1, 2, 3].map(() => ask(pool, destination))
  await vi.waitFor(() => expect(held).toHaveLength(3))
  const peer = server.peers[0]!
  await settle(peer, 1)
  asked.push(ask(pool, destination))
  for (const left of [2, 1]) {
    peer.answer(held.shift()!, 'ok')
    await vi.waitFor(() => expect(held).toHaveLength(left))
    expect(requestsOf(peer), 'one more than the limit is in progress').toBe(3)
  }
  peer.answer(held.shift()!, 'ok')
  await vi.waitFor(() => expect(held).toHaveLength(1))
  peer.answer(held.shift()!, 'ok')
  for (const result of await Promise.all(asked)) expect(result).toMatchObject({ body: 'ok' })
  expect(server.peers).toHaveLength(1)
})

test('a request that is unsent when the limit is lowered goes to another connection', async () => {
  const { pool, destination, server } = await frames((peer, index) => {
    peer.settings()
    peer.onRequest = (stream) => {
      peer.socket.cork()
      peer.answer(stream, `from ${index}`)
      if (index === 0) peer.settings([MAX_CONCURRENT_STREAMS, 0])
      peer.socket.uncork()
    }
  })
  const sink = new TextSink()
  await new Promise<void>((resolve) => {
    sink.onEnd = () => resolve()
    const nothing = () => {}
    const none = { informed: nothing, upgraded: nothing, replayed: nothing, failed: nothing }
    const send = (handler: Parameters<typeof pool.send>[4]) => {
      const head = Head.request('GET', '/')
      head.authority = 'x'
      pool.send(destination, head, { kind: BODY_NONE, length: -1 }, 0, handler, undefined)
    }
    // The runtime has the new limit, but the session has not been notified: the runtime would hold the request back.
    send({ ...none, response: () => send({ ...none, response: (stream) => stream.body.pipe(sink) }) })
  })
  expect(sink.text).toBe('from 1')
  expect(requestsOf(server.peers[0]!)).toBe(1)
})

test('if every connection allows no streams, only a few are opened to reach another server', async () => {
  const { pool, destination, server, pass } = await frames((peer) => {
    peer.settings([MAX_CONCURRENT_STREAMS, 0])
    peer.onRequest = (stream) => peer.reset(stream, REFUSED_STREAM)
  })
  // Each was sent before the settings arrived.
  for (let i = 0; i < 3; i++) {
    void ask(pool, destination)
    await vi.waitFor(() => expect(server.peers.length).toBeGreaterThan(i))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const late = ask(pool, destination)
  pass(5300)
  expect(await late).toMatchObject({ failure: 'no-streams-allowed', sent: false })
  expect(server.peers.length).toBeLessThanOrEqual(3)
})

/** A server that allows one stream on each connection, and refuses the others. */
function oneAtATime(peer: FramePeer): void {
  let busy = false
  peer.settings([MAX_CONCURRENT_STREAMS, 1])
  peer.onRequest = (stream) => {
    if (busy) return peer.reset(stream, REFUSED_STREAM)
    busy = true
    setTimeout(() => {
      busy = false
      peer.answer(stream, 'ok')
    }, 20)
  }
}

test('waiting requests do not use up their replays on further connections of a server that allows few streams', async () => {
  const { pool, destination, server } = await frames(oneAtATime, { maxConnections: 8, maxWaiting: 99 })
  const results = await Promise.all(Array.from({ length: 16 }, () => ask(pool, destination, { method: 'POST' })))
  for (const result of results) expect(result).toMatchObject({ body: 'ok' })
  const replays = results.map((result) => result.replays.length)
  // Only the first connection had to learn it.
  expect(Math.max(...replays)).toBe(1)
  expect(server.peers.length).toBeGreaterThan(1)
})
