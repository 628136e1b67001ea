import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello hello hello' }] })

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const stops = new AsyncDisposableStack()
const received: Received[] = []
/** Statuses of the next responses; 200 afterwards. */
const statuses: number[] = []
let port = 0

beforeAll(async () => {
  const provider = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ path: request.url!, headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(statuses.shift() ?? 200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void provider.close())
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec:
  ai: { provider: { providerOne: {}, host: 127.0.0.1, port: ${(provider.address() as AddressInfo).port} } }
  policies: { ai: { routes: { /chat/completions: Completions, /messages: Messages, /detect: Detect, '*': Passthrough } } }
`,
      routeYaml('llm', '/', 'llm'),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: again }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: llm }]
  traffic: { retry: { attempts: 1, codes: [503] } }
`,
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

beforeEach(() => {
  received.length = 0
})

afterAll(() => stops.disposeAsync())

function post(path: string, body: Uint8Array<ArrayBuffer> | string, coding?: string): Promise<Response> {
  const headers = coding === undefined ? {} : { 'content-encoding': coding }
  return fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
}

async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { message: string; code?: string } }
  return [response.status, error.code, error.message]
}

test.each([
  ['gzip', gzipSync(CHAT)],
  ['deflate', deflateSync(CHAT)],
  ['br', brotliCompressSync(CHAT)],
  ['zstd', zstdCompressSync(CHAT)],
  ['identity', Buffer.from(CHAT)],
])('a chat in %s reaches the provider as plain text, in every attempt', async (coding, body) => {
  statuses.push(503)
  expect((await post('/v1/chat/completions', body, coding)).status).toBe(200)
  expect(received.map(({ body: text }) => text.toString())).toEqual([CHAT, CHAT])
  for (const { headers } of received) {
    expect(headers).not.toHaveProperty('content-encoding')
    expect(headers['content-length']).toBe(String(CHAT.length))
  }
})

test('a body that cannot be decoded is refused in the format of the client', async () => {
  const unknown = await post('/v1/chat/completions', gzipSync(CHAT), 'compress')
  expect(unknown.headers.get('accept-encoding')).toBe('gzip, deflate, br, zstd')
  expect(await errorOf(unknown)).toEqual([415, 'content-coding-unsupported', 'unsupported content encoding'])
  const broken = await post('/v1/chat/completions', CHAT, 'gzip')
  expect(await errorOf(broken)).toEqual([400, 'content-coding-invalid', 'invalid content encoding'])
  // 20 MB in 20 KB.
  const large = await post('/v1/chat/completions', gzipSync(Buffer.alloc(20_000_000, ' ')), 'gzip')
  expect((await errorOf(large)).slice(0, 2)).toEqual([413, 'body-too-large'])
  const message = await post('/v1/messages', CHAT, 'lzma')
  expect(message.status).toBe(415)
  expect(await message.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
  expect(received).toEqual([])
})

test.each([undefined, 'gzip'])('an empty body (coding %s) is no JSON object', async (coding) => {
  expect(await errorOf(await post('/v1/chat/completions', '', coding))).toEqual([
    400,
    'llm-body-invalid',
    'invalid request body: a JSON object is required',
  ])
})

test.each(['/detect', '/files'])('%s: the compressed bytes are forwarded', async (path) => {
  const body = gzipSync(CHAT)
  expect((await post(path, body, 'gzip')).status).toBe(200)
  expect(received).toMatchObject([{ path, headers: { 'content-encoding': 'gzip' }, body }])
})
