import { createServer } from 'node:http'
import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { json, text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const stops = new AsyncDisposableStack()
let port: number

/** What a backend saw of a request. */
interface Seen {
  readonly body: string
  readonly sum: string | undefined
  readonly attempt: string | undefined
}

/** Reports the received request; fails a retried request at first. */
async function answer(stream: ServerHttp2Stream, head: IncomingHttpHeaders): Promise<void> {
  let trailers: IncomingHttpHeaders = {}
  stream.on('trailers', (fields) => {
    trailers = fields
  })
  const body = await text(stream)
  const attempt = head['x-retry-attempt'] as string | undefined
  const isFirst = head[':path'] === '/again' && attempt === undefined
  stream.respond({ ':status': isFirst ? 503 : 200 })
  stream.end(JSON.stringify({ body, sum: trailers['x-sum'], attempt }))
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void server.close())
  return (server.address() as AddressInfo).port
}

const transformed = (request: object) => ({ traffic: { transformation: { request } } })
const sizeOf = (what: string) => transformed({ set: [{ name: 'x-size', value: `string(size(${what}))` }] })

beforeAll(async () => {
  const newer = http2.createServer()
  newer.on('stream', (stream: ServerHttp2Stream, head) => void answer(stream, head))
  const older = createServer(async (request, response) => {
    const body = await text(request)
    response.end(JSON.stringify({ body, sum: request.trailers['x-sum'] }))
  })
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('newer', await listen(newer)),
      policyYaml('newer', 'ProxyBackend', 'newer', { backend: { http: { version: 'HTTP2' } } }),
      backendYaml('older', await listen(older)),
      policyYaml('older', 'ProxyBackend', 'older', { backend: { http: { version: 'HTTP1' } } }),
      ...['streamed', 'read', 'started', 'changed', 'again'].map((name) => routeYaml(name, `/${name}`, 'newer')),
      routeYaml('older', '/older', 'older'),
      policyYaml('read', 'HTTPRoute', 'read', sizeOf('request.body')),
      policyYaml('started', 'HTTPRoute', 'started', sizeOf('request.bodyPrefix')),
      policyYaml('changed', 'HTTPRoute', 'changed', transformed({ body: 'string(request.body) + "!"' })),
      policyYaml('again', 'HTTPRoute', 'again', { traffic: { retry: { codes: [503], attempts: 1 } } }),
      policyYaml('older', 'HTTPRoute', 'older', sizeOf('request.body')),
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

/** Sends a request with a field behind its body, as gRPC alone may (test/scenarios/removed-fields.test.ts). */
async function send(path: string, body: string): Promise<Seen> {
  const client = http2.connect(`http://127.0.0.1:${port}`)
  using _ = { [Symbol.dispose]: () => client.destroy() }
  const stream = client.request(
    { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' },
    { waitForTrailers: true },
  )
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '3' }))
  stream.end(body)
  return (await json(stream)) as Seen
}

test.each<[what: string, path: string, body: string, seen: Partial<Seen>]>([
  ['streams', '/streamed', 'abc', { body: 'abc', sum: '3' }],
  ['a policy reads', '/read', 'abc', { body: 'abc', sum: '3' }],
  ['a policy reads, though it is empty', '/read', '', { body: '', sum: '3' }],
  ['a policy reads the beginning of', '/started', 'abc', { body: 'abc', sum: '3' }],
  ['is sent again', '/again', 'abc', { body: 'abc', sum: '3', attempt: '1' }],
])('trailers of a request body that %s are forwarded', async (_, path, body, seen) => {
  expect(await send(path, body)).toEqual(seen)
})

test('trailers of a replaced body are not', async () => {
  expect(await send('/changed', 'abc')).toEqual({ body: 'abc!' })
})

test('nor do any to HTTP/1.1', async () => {
  expect(await send('/older', 'abc')).toEqual({ body: 'abc' })
})
