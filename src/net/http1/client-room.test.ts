import { expect, test, vi } from 'vitest'
import { DEFAULT_BOUNDS, type Destination } from '../destination.ts'
import { Head } from '../http/head.ts'
import { BODY_NONE } from '../stream.ts'
import { ask } from '../testing/ask.ts'
import { poolRig } from '../testing/pool-rig.ts'
import { type Accepted, answering, RawServer } from '../testing/raw-peers.ts'

const { cleanup, newPool } = poolRig()

async function rig(serve: (peer: Accepted, index: number) => void, bounds: Destination['bounds']) {
  const server = await new RawServer(serve).start()
  const pools = newPool()
  cleanup.push(() => server.close())
  return { server, ...pools, destination: { ...server.destination, ...(bounds && { bounds }) } }
}

const ok = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`

/** Responds on demand, to the oldest request. */
function patient() {
  const waiting: { readonly peer: Accepted; readonly body: string }[] = []
  const serve = answering((_, body, peer) => {
    waiting.push({ peer, body })
    return ''
  })
  const answerNext = async (close = false) => {
    await vi.waitFor(() => expect(waiting.length).toBeGreaterThan(0))
    const { peer, body } = waiting.shift()!
    peer.send(close ? ok(body).replace('\r\n', '\r\nConnection: close\r\n') : ok(body))
    if (close) peer.socket.end()
  }
  return { serve, waiting, answerNext }
}

test('requests beyond the connection limit wait in order; those beyond the queue limit fail unsent', async () => {
  const { serve, waiting, answerNext } = patient()
  const { pool, server, destination } = await rig(serve, { maxConnections: 2, maxWaiting: 1 })
  const [one, two, three] = ['one', 'two', 'three'].map((body) => ask(pool, destination, { method: 'POST', body }))
  const detail = 'all connections are busy, and the limit of queued requests (1) is reached'
  expect(await ask(pool, destination)).toMatchObject({ failure: 'too-many-waiting', sent: false, detail })
  await vi.waitFor(() => expect(waiting).toHaveLength(2))
  for (let i = 0; i < 3; i++) await answerNext()
  expect([await one, await two, await three]).toMatchObject([{ body: 'one' }, { body: 'two' }, { body: 'three' }])
  expect(server.connections).toBe(2)
})

test('a waiting request gets a new connection when one has closed', async () => {
  const { serve, answerNext } = patient()
  const { pool, server, destination } = await rig(serve, { maxConnections: 1, maxWaiting: 9 })
  const all = ['one', 'two', 'three'].map((body) => ask(pool, destination, { method: 'POST', body, chunked: true }))
  for (let i = 0; i < 3; i++) await answerNext(true)
  for (const { status } of await Promise.all(all)) expect(status).toBe(200)
  expect(server.connections).toBe(3)
})

test('a request waits no longer than the connect timeout', async () => {
  const { serve, waiting, answerNext } = patient()
  const { pool, destination, pass } = await rig(serve, { maxConnections: 1, maxWaiting: 9 })
  const first = ask(pool, destination, { method: 'POST', body: 'first' })
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  const late = ask(pool, destination)
  pass(5300)
  const detail = 'no connection was free within 5000 ms'
  expect(await late).toMatchObject({ failure: 'wait-timeout', sent: false, detail })
  const next = ask(pool, destination, { method: 'POST', body: 'next' })
  await answerNext()
  await answerNext()
  expect([await first, await next]).toMatchObject([{ body: 'first' }, { body: 'next' }])
})

test('the time limit of a request includes its wait', async () => {
  const { serve } = patient()
  const { pool, destination, pass } = await rig(serve, { maxConnections: 1, maxWaiting: 9 })
  void ask(pool, destination)
  const hurried = ask(pool, destination, { timeoutMs: 1000 })
  pass(1300)
  expect(await hurried).toMatchObject({ failure: 'wait-timeout', sent: false })
})

test('a cancelled request frees its place in the queue', async () => {
  const { serve, waiting, answerNext } = patient()
  const { pool, destination } = await rig(serve, { maxConnections: 1, maxWaiting: 1 })
  void ask(pool, destination, { method: 'POST', body: 'first' })
  const head = Head.request('GET', '/given-up')
  head.authority = 'x'
  const nothing = () => {}
  const handler = { response: nothing, informed: nothing, upgraded: nothing, replayed: nothing, failed: nothing }
  pool.send(destination, head, { kind: BODY_NONE, length: -1 }, 0, handler, undefined).cancel()
  const last = ask(pool, destination, { method: 'POST', body: 'last' })
  await answerNext()
  await answerNext()
  expect(await last).toMatchObject({ body: 'last' })
  expect(waiting).toEqual([])
})

test('a connection that failed to open is no longer counted', async () => {
  const { serve, answerNext } = patient()
  const { pool, server, destination } = await rig(serve, { maxConnections: 1, maxWaiting: 0 })
  const dead = { ...destination, connectTimeoutMs: 5000 }
  server.close()
  for (let i = 0; i < 3; i++) expect(await ask(pool, dead)).toMatchObject({ failure: 'connection-refused' })
  const revived = await rig(serve, { maxConnections: 1, maxWaiting: 0 })
  for (let i = 0; i < 3; i++) {
    const asked = ask(revived.pool, revived.destination, { method: 'POST', body: 'ok' })
    await answerNext()
    expect(await asked).toMatchObject({ body: 'ok' })
  }
})

test('with the default limits, ten thousand requests get a connection each', () => {
  expect(DEFAULT_BOUNDS.maxConnections).toBeGreaterThan(10_000)
  expect(DEFAULT_BOUNDS.maxWaiting).toBeGreaterThan(10_000)
})
