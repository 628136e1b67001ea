import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import http2, { type ClientHttp2Stream, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import v8 from 'node:v8'
import vm from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import type { Destination } from '../destination.ts'
import { type Asked, ask } from '../testing/ask.ts'
import { poolRig } from '../testing/pool-rig.ts'
import { destinationOf } from '../testing/raw-peers.ts'

const { cleanup, newPool } = poolRig()

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc') as () => void

async function answeringServer(answer: 'whole' | 'reset'): Promise<Destination> {
  const server = http2.createServer()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.resume()
    if (answer === 'reset') return stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-end': '1' }))
    stream.end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.push(() => server.close())
  return { ...destinationOf((server.address() as AddressInfo).port), http: 'http2' }
}

/** The streams of node:http2 that requests open from now on. */
function openedStreams(): ClientHttp2Stream[] {
  const opened: ClientHttp2Stream[] = []
  const note = (message: unknown) => {
    opened.push((message as { readonly stream: ClientHttp2Stream }).stream)
  }
  subscribe('http2.client.stream.created', note)
  onTestFinished(() => {
    unsubscribe('http2.client.stream.created', note)
  })
  return opened
}

const ways: [string, 'whole' | 'reset', Asked][] = [
  ['a response', 'whole', {}],
  ['a response to a body', 'whole', { method: 'POST', body: 'hello', takesTrailers: true }],
  ['a reset', 'reset', { method: 'POST', body: 'hello' }],
]
test.each(ways)('a stream that Node keeps does not keep its exchange after %s', async (_, answer, asked) => {
  const opened = openedStreams()
  const destination = await answeringServer(answer)
  const { pool } = newPool()
  const exchange = await ask(pool, destination, asked).then(({ stream }) => new WeakRef(stream))
  // On a busy machine the stream ends some turns later, and to collect all garbage takes long.
  await eventually('the stream is over', () => opened.every(({ destroyed }) => destroyed))
  await eventually('the exchange is garbage', () => {
    collectGarbage()
    return exchange.deref() === undefined
  })
  expect(opened).toHaveLength(1)
})
