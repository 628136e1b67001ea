import net from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLookup } from '../connect/system-lookup.ts'
import type { Destination } from '../destination.ts'
import type { ClientPool } from '../stream.ts'
import { ask } from '../testing/ask.ts'
import { type NamedRecords, NameServer } from '../testing/name-server.ts'
import { poolRig } from '../testing/pool-rig.ts'

/** Backends whose DNS server changes its answers, fails and recovers. */

const names = new NameServer()
beforeAll(() => names.start())
afterAll(() => names.close())

const { cleanup, newPool } = poolRig()
const FIRST = '127.0.0.2'
const SECOND = '127.0.0.3'

/** Requests that the servers received. */
let served = 0

/** Servers at both addresses that respond with their address and close the connection. */
async function servers(): Promise<Destination> {
  let port = 0
  served = 0
  for (const address of [FIRST, SECOND]) {
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        served++
        socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${address.length}\r\n\r\n${address}`)
      })
    })
    await new Promise<void>((resolve) => server.listen(port, address, resolve))
    cleanup.push(() => server.close())
    port = (server.address() as net.AddressInfo).port
  }
  return { key: 'web.test', host: 'web.test', port, connectTimeoutMs: 3000 }
}

function pool() {
  const resolver = names.resolver()
  const lookup = createLookup({
    hosts: () => undefined,
    search: () => ({ domains: [], ndots: 1 }),
    resolve4: (name, options, done) => resolver.resolve4(name, options, done),
    resolve6: (name, options, done) => resolver.resolve6(name, options, done),
    system: (_, done) => done(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []),
  })
  return newPool({ lookup })
}

/** Opens a connection to the name and keeps it open. */
function hold(upstreams: ClientPool, destination: Destination): Promise<void> {
  return new Promise((resolve) => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      resolve()
    })
    server.listen(0, FIRST)
    cleanup.push(() => server.close())
    server.once('listening', () => {
      const { port } = server.address() as net.AddressInfo
      void ask(upstreams, { ...destination, key: 'held', port })
    })
  })
}

test('an answer is used until its TTL ends, then the next one', async () => {
  const destination = await servers()
  const { pool: upstreams, pass } = pool()
  names.names.set('web.test', { a: [FIRST], ttl: 10 })
  expect((await ask(upstreams, destination)).body).toBe(FIRST)
  names.names.set('web.test', { a: [SECOND], ttl: 10 })
  names.asked.length = 0
  pass(9000)
  expect((await ask(upstreams, destination)).body).toBe(FIRST)
  expect(names.asked).toEqual([])
  pass(1300)
  // The old addresses are used until the answer has arrived.
  await expect.poll(async () => (await ask(upstreams, destination)).body).toBe(SECOND)
})

test('a server that fails is asked again, not for every request, and its recovery is noticed', async () => {
  const destination = await servers()
  const { pool: upstreams, pass } = pool()
  names.names.set('web.test', { status: 2 })
  names.asked.length = 0
  const failures = await Promise.all([1, 2, 3].map(() => ask(upstreams, destination)))
  failures.push(await ask(upstreams, destination))
  expect(failures.map(({ failure }) => failure)).toEqual(Array(4).fill('name-lookup-failed'))
  expect(names.asked.length).toBeLessThanOrEqual(4)
  names.names.set('web.test', { a: [FIRST] })
  pass(200)
  expect((await ask(upstreams, destination)).body).toBe(FIRST)
})

test('while a connection is open, failing lookups change nothing', async () => {
  const destination = await servers()
  const { pool: upstreams, pass } = pool()
  names.names.set('web.test', { a: [FIRST], ttl: 1 })
  await hold(upstreams, destination)
  names.names.set('web.test', { status: 2 })
  names.asked.length = 0
  for (let i = 0; i < 3; i++) {
    pass(1300)
    await expect.poll(() => names.asked.length).toBeGreaterThanOrEqual(2 * (i + 1))
    expect((await ask(upstreams, destination)).body).toBe(FIRST)
  }
})

test('while answers flap between addresses and failures, every request is answered, and sent once', async () => {
  const destination = await servers()
  const { pool: upstreams, pass } = pool()
  names.names.set('web.test', { a: [FIRST], ttl: 1 })
  await hold(upstreams, destination)
  const flaps: readonly NamedRecords[] = [
    { a: [SECOND] },
    { status: 2 },
    { a: [FIRST] },
    { a: [] },
    { a: [SECOND, FIRST] },
  ]
  const answers = new Set<string>()
  let asked = 0
  for (let i = 0; i < 15; i++) {
    names.names.set('web.test', { ttl: 1, ...flaps[i % flaps.length] })
    const before = names.asked.length
    pass(1300)
    const during = [1, 2, 3].map(() => ask(upstreams, destination))
    await expect.poll(() => names.asked.length).toBeGreaterThanOrEqual(before + 2)
    for (const { status, body } of await Promise.all(during)) {
      expect(status).toBe(200)
      answers.add(body)
      asked++
    }
  }
  expect([...answers].sort()).toEqual([FIRST, SECOND])
  expect(served).toBe(asked)
})
