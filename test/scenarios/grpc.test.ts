import { once } from 'node:events'
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml } from '#test/support/objects-folder.ts'

const stops = new AsyncDisposableStack()
/** Calls that the server is at work on, by path. */
const calls = new Map<string, ServerHttp2Stream>()
let client: ClientHttp2Session

const route = `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: calls }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ method: { service: test.Talk } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: talk }]
`

/** What a server of gRPC does: an answer for every message, and the status in trailers. */
function serve(stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void {
  calls.set(String(headers[':path']), stream)
  stream.on('error', () => {})
  const trailers = { 'grpc-status': '0', 'grpc-message': 'done', 'x-te': String(headers.te) }
  if (headers[':path'] === '/test.Talk/Refuse') {
    return stream.respond({ 'content-type': 'application/grpc', 'grpc-status': '5' }, { endStream: true })
  }
  stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  if (headers[':path'] === '/test.Talk/Break')
    return void stream.write('half', () => stream.destroy(new Error('broken')))
  stream.on('data', (bytes) => stream.write(`heard ${bytes}`))
  stream.on('end', () => stream.end())
}

beforeAll(async () => {
  const server = http2.createServer()
  const sessions = new Set<http2.ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session))
  server.on('sessionError', () => {})
  server.on('stream', serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.defer(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const port = await freePort()
  const backend = backendYaml('talk', (server.address() as AddressInfo).port)
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(gatewayYaml(port), backend, route) })
  stops.defer(folder.remove)
  const gateway = await startGateway({ files: [folder.path], workers: 1 })
  stops.defer(async () => {
    await gateway.close()
  })
  client = http2.connect(`http://127.0.0.1:${port}`)
  await once(client, 'connect')
  stops.defer(() => client.destroy())
})

afterAll(() => stops.disposeAsync())

function call(method: string): ClientHttp2Stream {
  const fields = {
    ':method': 'POST',
    ':path': `/test.Talk/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  }
  const stream = client.request(fields, { endStream: false })
  stream.on('error', () => {})
  return stream
}

test('both sides of a call speak in turns, and its status comes behind', async () => {
  const stream = call('Chat')
  const trailed = once(stream, 'trailers')
  for (const word of ['one', 'two', 'three']) {
    stream.write(word)
    const [answer] = (await once(stream, 'data')) as [Buffer]
    expect(String(answer)).toBe(`heard ${word}`)
  }
  stream.end()
  const [trailers] = (await trailed) as [Record<string, string>]
  expect(trailers).toMatchObject({ 'grpc-status': '0', 'grpc-message': 'done', 'x-te': 'trailers' })
  await once(stream, 'close')
  expect(stream.rstCode).toBe(0)
})

test('many calls at once keep apart', async () => {
  const words = Array.from({ length: 50 }, (_, i) => `word ${i}`)
  const heard = words.map(async (word) => {
    const stream = call('Chat')
    stream.end(word)
    let text = ''
    for await (const bytes of stream) text += bytes
    return text
  })
  expect(await Promise.all(heard)).toEqual(words.map((word) => `heard ${word}`))
})

test('a call that is answered by its status alone', async () => {
  const stream = call('Refuse')
  const [head] = (await once(stream, 'response')) as [Record<string, string>]
  expect(head['grpc-status']).toBe('5')
  await once(stream, 'close')
  expect(stream.rstCode).toBe(0)
})

test('a call whose server breaks off does not look whole', async () => {
  const stream = call('Break')
  let trailed = false
  stream.on('trailers', () => {
    trailed = true
  })
  stream.resume()
  await new Promise((resolve) => stream.on('close', resolve))
  expect(stream.rstCode).not.toBe(0)
  expect(trailed).toBe(false)
})

test('a call that its client gives up is given up at the server', async () => {
  const stream = call('Leave')
  stream.write('hello')
  await once(stream, 'data')
  // Node would end what it closes in order before it resets it.
  stream.destroy(new Error('given up'))
  await eventually('the end of the call at the server', () => calls.get('/test.Talk/Leave')?.destroyed)
  expect(calls.get('/test.Talk/Leave')?.rstCode).toBe(http2.constants.NGHTTP2_CANCEL)
})

test('a method that has no route', async () => {
  const stream = client.request({ ':method': 'POST', ':path': '/other/Call', 'content-type': 'application/grpc' })
  stream.end('x')
  const [head] = (await once(stream, 'response')) as [Record<string, string>]
  expect(head).toMatchObject({ ':status': 200, 'grpc-status': '12' })
})
