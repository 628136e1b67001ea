import { afterEach, expect, test } from 'vitest'
import { createClientPool } from './http1/client-pool.ts'
import { type Listener, type ListenOptions, listen } from './listen.ts'
import type { ClientPool, Destination } from './stream.ts'
import { type Accepted, answering, RawClient, RawServer } from './testing/raw-peers.ts'
import { RelayHandler } from './testing/relay-handler.ts'

const cleanup: (() => unknown)[] = []

afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

interface Rig {
  upstream: RawServer
  relay: RelayHandler
  pool: ClientPool
  listener: Listener
  connect(): Promise<RawClient>
}

async function rig(
  serve: (peer: Accepted, index: number) => void,
  options: { listen?: Partial<ListenOptions>; destination?: Partial<Destination> } = {},
): Promise<Rig> {
  const upstream = await new RawServer(serve).start()
  const pool = createClientPool()
  const relay = new RelayHandler(pool, { ...upstream.destination, ...options.destination })
  const listener = await listen({ host: '127.0.0.1', port: 0, handler: relay, ...options.listen })
  cleanup.push(
    () => upstream.close(),
    () => pool.close(),
    () => listener.close(),
  )
  const connect = async () => {
    const client = await RawClient.connect(listener.port)
    cleanup.push(() => client.close())
    return client
  }
  return { upstream, relay, pool, listener, connect }
}

/** Says which request it got and how long its body was. */
const echo = answering((head, body) => {
  const text = `got ${head.split(' ')[1]} ${body.length}`
  return `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\nX-A: 1\r\n\r\n${text}`
})

test('a request and its response, with a connection kept on both sides', async () => {
  const { connect, upstream, relay } = await rig(echo)
  const client = await connect()
  client.send('GET /a HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.endsWith('got /a 0'))
  client.send('GET /b HTTP/1.1\r\nHost: x\r\n\r\n')
  const text = await client.until((text) => text.endsWith('got /b 0'))
  expect(text).toBe(
    ['/a', '/b'].map((path) => `HTTP/1.1 200 OK\r\ncontent-length: 8\r\nX-A: 1\r\n\r\ngot ${path} 0`).join(''),
  )
  expect(upstream.connections).toBe(1)
  expect(relay.events).toEqual(['finished /a 8', 'finished /b 8'])
})

test('pipelined requests are answered in order', async () => {
  const { connect } = await rig(echo)
  const client = await connect()
  client.send(
    'GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc' +
      'POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nGET /4 HTTP/1.1\r\nHost: x\r\n\r\n',
  )
  const text = await client.until((text) => text.endsWith('got /4 0'))
  expect(text.match(/got \/\d \d+/g)).toEqual(['got /1 0', 'got /2 3', 'got /3 12', 'got /4 0'])
})
