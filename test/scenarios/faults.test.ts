import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number

/** A TCP server that does one thing with every connection. */
async function serve(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  stops.defer(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

const limits = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: small }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }]
  frontend: { http: { maxBufferSize: 1Ki } }
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: reads }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: reads }]
  traffic:
    authorization: { action: Deny, policy: { matchExpressions: ['string(request.body).contains("attack")'] } }
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: slow }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: silent }]
  traffic: { timeouts: { request: 300ms } }
`

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  // When a request waits for it, its limit is over.
  const silent = await serve((socket) => socket.once('data', () => setTimeout(() => time.skip(500), 20)))
  const resetting = await serve((socket) => socket.once('data', () => socket.resetAndDestroy()))
  const nonsense = await serve((socket) => socket.once('data', () => socket.end('SSH-2.0-nothing\r\n')))
  const cut = await serve((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this')),
  )
  const dead = await freePort()
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      ...Object.entries({ echo: echo.port, silent, resetting, nonsense, cut, dead }).map(([name, at]) =>
        joinYaml(backendYaml(name, at), routeYaml(name, `/${name}`, name)),
      ),
      routeYaml('reads', '/reads', 'echo'),
      routeYaml('missing', '/missing', 'nobody'),
      limits,
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

interface Answer {
  readonly status: number
  readonly text: string
  readonly decision: string | null
}

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  return {
    status: response.status,
    text: await response.text(),
    decision: response.headers.get('gatewright-decision'),
  }
}

/** Sends bytes as they are and reads until the connection ends, or until `enough` has come. */
function raw(bytes: string, enough = /\r\n\r\n/): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(bytes, 'latin1'))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (enough.test(text)) socket.destroy()
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

test.each([
  ['/dead', 503, 'upstream call failed'],
  ['/resetting', 503, 'upstream call failed'],
  ['/nonsense', 502, 'upstream answer invalid'],
  ['/silent', 504, 'request timeout'],
  ['/missing', 500, 'backend does not exist'],
  ['/nowhere', 404, 'route not found'],
])('%s answers %i %s, with a decision id and without internals', async (path, status, text) => {
  const answer = await ask(path)
  expect(answer.status).toBe(status)
  expect(answer.text).toBe(text)
  expect(answer.decision).toMatch(/^[0-9a-f]{16}$/)
})

test.each([
  ['/dead', 'upstream-failed', /^connection-refused at 127\.0\.0\.1:\d+$/],
  [
    '/silent',
    'request-timeout',
    /^the limit is \d+ ms \(traffic\.timeouts\.request, or timeouts\.request of the route rule\)$/,
  ],
])('the record of a refusal of %s has more details than the response', async (path, code, detail) => {
  const { decision } = await ask(path)
  const records = (await (await fetch(`${gateway.url(15000)}/decisions?limit=50`)).json()) as {
    id: string
    code: string
    detail: string
  }[]
  const record = records.find(({ id }) => id === decision)
  expect(record?.code).toBe(code)
  expect(record?.detail).toMatch(detail)
})

test('a response that is cut off does not look complete', async () => {
  await expect(ask('/cut')).rejects.toThrow()
  expect((await ask('/echo')).status).toBe(200)
})

const malformed: [name: string, request: string, status: number][] = [
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
  ['a host with a space', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
  ['HTTP/1.0 without host', 'GET / HTTP/1.0\r\n\r\n', 400],
  ['length and chunks', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd', 400],
  ['a length that is no number', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc', 400],
  ['an unknown coding', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', 400],
  ['a space before the colon', 'GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n', 400],
  ['a folded line', 'GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n', 400],
  ['a bare line feed', 'GET / HTTP/1.1\nHost: a\n\n', 400],
  ['a NUL in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n', 400],
  ['a control byte in the path', 'GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['dots in the path', 'GET /echo/../reads HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['encoded dots in the path', 'GET /echo/%2e%2E/reads HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a backslash in the path', 'GET /echo\\reads HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['another authority in the target', 'GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['Connection names host', 'GET /echo HTTP/1.1\r\nHost: a\r\nConnection: host\r\n\r\n', 400],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 405],
  ['another protocol', 'GET / HTTP/3.0\r\nHost: a\r\n\r\n', 505],
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n', 400],
  ['too many fields', `GET / HTTP/1.1\r\nHost: a\r\n${'X: 1\r\n'.repeat(200)}\r\n`, 431],
  ['fields that are too large', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
  ['a target that is too long', `GET /${'x'.repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
]

test.each(malformed)('%s is refused and the connection closed', async (_, bytes, status) => {
  const text = await raw(bytes, /\r\n\r\n.+/s)
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  const id = decisionIn(text)
  expect(await record(id)).toMatchObject({ id, status, reason: status === 405 ? 'Internal' : 'InvalidRequest' })
  await lineOf(id)
  expect((await ask('/echo')).status, 'other requests are not affected').toBe(200)
})

test.each([
  ['host-invalid', 'invalid host', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  [
    'malformed-request',
    'malformed request',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
  ],
])('a refusal by the wire (%s) has a line and a record that name its sender', async (code, text, bytes) => {
  const id = decisionIn(await raw(bytes, /\r\n\r\n.+/s))
  expect(await record(id)).toMatchObject({
    code,
    gateway: 'default/main',
    client: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
  })
  expect(await lineOf(id)).toMatch(
    new RegExp(
      `gateway=default/main listener=http src.addr=127.0.0.1:\\d+ dst.addr=127.0.0.1:${port} http.status=400 error="${text}" reason=InvalidRequest code=${code} decision=${id}$`,
    ),
  )
})

test('a request whose body breaks the framing has one line and one record, with the refusal', async () => {
  const id = decisionIn(
    await raw('POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', /\r\n\r\n.+/s),
  )
  expect(await record(id)).toMatchObject({
    code: 'malformed-request',
    status: 400,
    target: '/echo',
    route: 'default/echo',
  })
  expect(await lineOf(id)).toContain('http.path=/echo http.version=HTTP/1.1 http.status=400')
})

function decisionIn(response: string): string {
  return /\r\ngatewright-decision: ([0-9a-f]{16})\r\n/i.exec(response)?.[1] ?? 'none'
}

async function record(id: string): Promise<unknown> {
  const records = (await (await fetch(`${gateway.url(15000)}/decisions?limit=50`)).json()) as { id: string }[]
  const found = records.filter((each) => each.id === id)
  expect(found, 'one record').toHaveLength(1)
  return found[0]
}

/** The only line of the access log about a decision. */
async function lineOf(id: string): Promise<string> {
  const lines = () => gateway.output.stdout.split('\n').filter((line) => line.includes(`decision=${id}`))
  await eventually('a line', () => lines().length > 0)
  expect(lines()).toHaveLength(1)
  return lines()[0]!
}

test('a request that ends in the middle of its head is dropped without an answer from a backend', async () => {
  const text = await new Promise<string>((resolve) => {
    let got = ''
    const socket = connect({ host: '127.0.0.1', port }, () => socket.end('GET /echo HTTP/1.1\r\nHost: a'))
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.on('close', () => resolve(got))
  })
  expect(text).not.toContain('200 OK')
})

verifies(
  'frontend.http/maxBufferSize',
  'a body larger than the buffer is refused where a rule reads it, and streamed elsewhere',
  async () => {
    const body = 'x'.repeat(2000)
    expect((await ask('/reads', { method: 'POST', body })).status).toBe(413)
    expect((await ask('/reads', { method: 'POST', body: 'harmless' })).status).toBe(200)
    expect((await ask('/reads', { method: 'POST', body: 'an attack' })).status).toBe(403)
    expect((await ask('/echo', { method: 'POST', body })).status).toBe(200)
  },
)

test('no client got a stack trace', () => {
  expect(gateway.output.stderr).not.toMatch(/\n\s+at /)
})
