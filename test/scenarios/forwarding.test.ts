import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number
/** What the raw backend answers next, and the heads that it got. */
let rawAnswer = ''
const rawHeads: string[] = []
/** Ends the response of `/web/stream`. */
let endStream = () => {}
/** Requests of `/web/wait` that are open at the backend. */
let waiting = 0

function serve(server: Server, where: number | string): Promise<void> {
  stops.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const place = typeof where === 'number' ? { port: where, host: '127.0.0.1' } : { path: where }
  return new Promise((resolve) => server.listen(place, resolve))
}

function answer(incoming: IncomingMessage, response: ServerResponse): void {
  switch (new URL(incoming.url!, 'http://x').pathname) {
    case '/web/hash':
      return void answerWithHash(incoming, response)
    case '/web/large':
      response.setHeader('content-length', LARGE.length)
      return void response.end(LARGE)
    case '/web/empty':
      return void response.writeHead(204, { 'x-kind': 'empty' }).end()
    case '/web/unchanged':
      return void response.writeHead(304, { etag: '"a"' }).end()
    case '/web/stream':
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      endStream = () => response.end('data: last\n\n')
      return void response.write('data: first\n\n')
    case '/web/wait':
      waiting++
      return void response.on('close', () => waiting--)
    case '/shape/json':
      return void response.setHeader('content-type', 'application/json').end('{"answer":42}')
    case '/shape/large':
      return void response.end('x'.repeat(5000))
    default:
      response.end(`${incoming.method} ${incoming.url}`)
  }
}

function judge(incoming: IncomingMessage, response: ServerResponse): void {
  if (incoming.url === '/web/refused') return void response.writeHead(401).end('no')
  response.writeContinue()
  answer(incoming, response)
}

const LARGE = Buffer.alloc(3_000_000, 'large ')

async function answerWithHash(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const hash = createHash('sha256')
  for await (const piece of incoming) hash.update(piece as Buffer)
  response.end(hash.digest('hex'))
}

/** `echo`: echoes bytes. `other`: switches to another protocol than requested. `no`: an ordinary response. */
function upgrade(incoming: IncomingMessage, socket: Socket): void {
  socket.on('error', () => {})
  const name = incoming.url!.split('/').at(-1)
  if (name === 'no')
    return void socket.end(
      'HTTP/1.1 426 Upgrade Required\r\nconnection: upgrade\r\nupgrade: y/1\r\ncontent-length: 2\r\n\r\nno',
    )
  const protocol = name === 'other' ? 'something' : incoming.headers.upgrade
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\nx-up: yes\r\n\r\nhello `,
  )
  socket.pipe(socket)
}

const shape = {
  traffic: {
    transformation: {
      response: {
        set: [{ name: 'x-answer', value: 'string(json(response.body).answer)' }],
        body: '"<" + string(response.body) + ">"',
      },
    },
  },
}

/** Expressions that only responses of the backend satisfy. */
const refused = {
  traffic: {
    transformation: {
      response: {
        set: [
          { name: ':status', value: '200' },
          { name: 'x-kind', value: '"refused"' },
        ],
        body: 'json(response.body).answer',
      },
    },
  },
}

beforeAll(async () => {
  const web = createServer(answer).on('upgrade', upgrade).on('checkContinue', judge)
  await serve(web, 0)
  const folder = await createObjectsFolder({})
  stops.defer(folder.remove)
  const socketPath = join(folder.path, 'backend.sock')
  await serve(
    createServer((_, response) => void response.end('over a socket')),
    socketPath,
  )
  const raw = await new RawServer(
    answering((head, _body, peer) => {
      rawHeads.push(head)
      if (head.startsWith('GET /raw/cut/')) setImmediate(() => peer.socket.end())
      return rawAnswer
    }),
  ).start()
  stops.defer(() => raw.close())
  port = await freePort()
  await folder.write(
    'all.yaml',
    joinYaml(
      gatewayYaml(port),
      backendYaml('web', (web.address() as AddressInfo).port),
      backendYaml('raw', raw.port),
      backendYaml('socket', 1).replace(/static: .*/, `static: { unixPath: ${socketPath} }`),
      routeYaml('web', '/web', 'web'),
      routeYaml('raw', '/raw', 'raw'),
      routeYaml('socket', '/socket', 'socket'),
      routeYaml('shape', '/shape', 'web'),
      policyYaml('shape', 'HTTPRoute', 'shape', shape),
      backendYaml('dead', 1),
      routeYaml('refused', '/shape/refused', 'dead'),
      policyYaml('refused', 'HTTPRoute', 'refused', refused),
      policyYaml('small', 'Gateway', 'main', { frontend: { http: { maxBufferSize: '4Ki' } } }),
    ),
  )
  gateway = stops.use(
    await startGateway({
      files: [folder.path],
      workers: 1,
      environment: { GATEWRIGHT_LOG_FORMAT: 'json' },
    }),
  )
})

afterAll(() => stops.disposeAsync())

const url = (path: string) => `http://127.0.0.1:${port}${path}`

/** Sends a request as text to the raw backend, which answers with `response`. @returns what backend and client saw */
async function through(
  head: readonly string[],
  response: readonly string[],
  body = '',
): Promise<{ up: string; down: string }> {
  rawAnswer = `${response.join('\r\n')}\r\n\r\n`
  await using client = await connect()
  client.peer.send(`${head.join('\r\n')}\r\n\r\n${body}`)
  const down = await client.peer.until((text) => text.includes('\r\n\r\n') && !/^HTTP\/1.1 1/.test(text))
  return { up: rawHeads.at(-1)!, down }
}

async function connect(): Promise<{ readonly peer: RawClient } & AsyncDisposable> {
  const peer = await RawClient.connect(port)
  return {
    peer,
    async [Symbol.asyncDispose]() {
      peer.close()
    },
  }
}

const OK = ['HTTP/1.1 200 OK', 'content-length: 0']

verifies(['service/forwards-http', 'backend.static/tcp'], 'a request and its answer pass as they are', async () => {
  const { up, down } = await through(
    ['PATCH /raw/a%2Fb//c?x=%20&y HTTP/1.1', 'Host: client.test:99', 'X-Mixed: one', 'x-mixed: two', 'Cookie: a=1'],
    [
      'HTTP/1.1 299 Quite Fine',
      'X-Back: one',
      'x-back: two',
      'Set-Cookie: b=2',
      'Set-Cookie: c=3',
      'Content-Length: 0',
    ],
  )
  expect(up).toBe(
    'PATCH /raw/a%2Fb//c?x=%20&y HTTP/1.1\r\nHost: client.test:99\r\nX-Mixed: one\r\nx-mixed: two\r\nCookie: a=1\r\ncontent-length: 0\r\n\r\n',
  )
  expect(down).toBe(
    'HTTP/1.1 299 Quite Fine\r\nX-Back: one\r\nx-back: two\r\nSet-Cookie: b=2\r\nSet-Cookie: c=3\r\nContent-Length: 0\r\n\r\n',
  )
})

test('fields of one connection stay on it', async () => {
  const { up, down } = await through(
    [
      'GET /raw HTTP/1.1',
      'Host: h',
      'Connection: X-Hop, keep-alive',
      'X-Hop: 1',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: keep-alive',
      'TE: trailers, gzip',
      'X-Kept: 1',
    ],
    ['HTTP/1.1 200 OK', 'Connection: X-Mine', 'X-Mine: 1', 'Keep-Alive: timeout=9', 'X-Kept: 2', 'Content-Length: 0'],
  )
  const names = (text: string) => [...text.matchAll(/^([\w-]+):/gm)].map(([, name]) => name!.toLowerCase())
  expect(names(up)).not.toEqual(expect.arrayContaining(['x-hop']))
  for (const gone of ['x-hop', 'keep-alive', 'proxy-connection']) expect(names(up)).not.toContain(gone)
  for (const gone of ['x-mine', 'keep-alive']) expect(names(down)).not.toContain(gone)
  expect(up).not.toContain('gzip')
  expect([names(up), names(down)].every((list) => list.includes('x-kept'))).toBe(true)
})

test('HTTP/1.0 clients are answered and disconnected', async () => {
  rawAnswer = `${OK.join('\r\n')}\r\n\r\n`
  await using client = await connect()
  client.peer.send('GET /raw HTTP/1.0\r\nHost: h\r\n\r\n')
  expect(await client.peer.untilEnd()).toMatch(/^HTTP\/1\.[01] 200 OK\r\n/)
  expect(rawHeads.at(-1)).toMatch(/^GET \/raw HTTP\/1\.1\r\n/)
})

test('an interim response passes before the final one', async () => {
  rawAnswer = `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${OK.join('\r\n')}\r\n\r\n`
  await using client = await connect()
  client.peer.send('GET /raw HTTP/1.1\r\nHost: h\r\n\r\n')
  const text = await client.peer.until((got) => /200 OK\r\n[\s\S]*\r\n\r\n/.test(got))
  expect(text).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
})

function head(path: string, method = 'HEAD'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url(path), { method, agent: false }, (response) => resolve(response.resume()))
      .on('error', reject)
      .end()
  })
}

test('HEAD, 204 and 304 have no body, and keep the fields of their head', async () => {
  const large = await head('/web/large')
  expect([large.statusCode, large.headers['content-length']]).toEqual([200, '3000000'])
  const empty = await fetch(url('/web/empty'))
  expect([empty.status, empty.headers.get('x-kind'), await empty.text()]).toEqual([204, 'empty', ''])
  const unchanged = await fetch(url('/web/unchanged'))
  expect([unchanged.status, unchanged.headers.get('etag'), await unchanged.text()]).toEqual([304, '"a"', ''])
})

test('after a response without a body the connection serves on', async () => {
  await using client = await connect()
  for (const [method, path] of [
    ['HEAD', '/web/large'],
    ['GET', '/web/empty'],
    ['GET', '/web/unchanged'],
    ['GET', '/web/last'],
  ] as const) {
    const before = client.peer.text.length
    client.peer.send(`${method} ${path} HTTP/1.1\r\nHost: h\r\n\r\n`)
    await client.peer.until((text) => text.slice(before).includes('\r\n\r\n'))
  }
  expect(await client.peer.until((text) => text.endsWith('GET /web/last'))).toMatch(
    /^HTTP\/1\.1 200[\s\S]*204[\s\S]*304[\s\S]*200/,
  )
})

test.each([0, 1, 65_536, 3_000_000])('a body of %i bytes arrives whole, announced or chunked', async (length) => {
  const body = Buffer.alloc(length, 'abcdefg')
  const expected = createHash('sha256').update(body).digest('hex')
  expect(await (await fetch(url('/web/hash'), { method: 'POST', body })).text()).toBe(expected)
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < length; at += 10_000) controller.enqueue(body.subarray(at, at + 10_000))
      controller.close()
    },
  })
  const chunked = await fetch(url('/web/hash'), { method: 'POST', body: pieces, duplex: 'half' } as RequestInit)
  expect(await chunked.text()).toBe(expected)
})

test('a large response arrives whole', async () => {
  const got = Buffer.from(await (await fetch(url('/web/large'))).arrayBuffer())
  expect(got.equals(LARGE)).toBe(true)
})

test('a response streams: its first piece is here while the backend still holds the rest', async () => {
  const response = await fetch(url('/web/stream'))
  const pieces: string[] = []
  for await (const piece of response.body!) {
    pieces.push(Buffer.from(piece).toString())
    endStream()
  }
  expect(pieces).toEqual(['data: first\n\n', 'data: last\n\n'])
})

test.each([
  ['breaks the connection', (socket: Socket) => socket.resetAndDestroy()],
  ['closes it', (socket: Socket) => socket.destroy()],
])('when a client %s, its request to the backend is given up', async (_, leave) => {
  await using client = await connect()
  client.peer.send('GET /web/wait HTTP/1.1\r\nHost: h\r\n\r\n')
  await eventually('the request is at the backend', () => waiting === 1 || undefined)
  leave(client.peer.socket)
  await time.sooner('the backend is told', () => waiting === 0 || undefined)
  expect(await logged('/web/wait')).toMatchObject({ error: 'client connection ended: reset' })
})

test.each([
  ['in the middle of a piece', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab', 'reset'],
  ['before its length', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab', 'reset'],
  ['with a broken piece', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\nx\r\n', 'protocol-error'],
])('a response that the backend breaks off %s is not blamed on the client', async (what, text, why) => {
  rawAnswer = text
  await using client = await connect()
  client.peer.send(`GET /raw/cut/${what.length} HTTP/1.1\r\nHost: h\r\n\r\n`)
  await client.peer.untilEnd()
  expect(await logged(`/raw/cut/${what.length}`)).toMatchObject({
    'http.status': 200,
    error: `response of the backend ended: ${why}`,
  })
})

test('a client that expects 100 gets that of the backend', async () => {
  await using client = await connect()
  client.peer.send('POST /web/hash HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n')
  expect(await client.peer.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 100 /)
  client.peer.send('hello')
  const hash = createHash('sha256').update('hello').digest('hex')
  expect(await client.peer.until((text) => text.includes(hash))).toMatch(/\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
})

test('a backend that refuses a body by its head gets no body, and the client no 100', async () => {
  await using client = await connect()
  client.peer.send('POST /web/refused HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n')
  const heard = await client.peer.untilEnd()
  expect([heard.slice(0, 13), heard.includes('\r\nconnection: close\r\n')]).toEqual(['HTTP/1.1 401 ', true])
})

test('a backend that knows no expectations: the client gets 100 after a second', async () => {
  rawAnswer = `${OK.join('\r\n')}\r\n\r\n`
  rawHeads.length = 0
  await using client = await connect()
  client.peer.send('POST /raw/slow HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n')
  await eventually('the request waits', () => client.peer.text !== '' || time.skipTimers(1000) || undefined)
  await client.peer.until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n')
  client.peer.send('hello')
  await client.peer.until((text) => text.includes('HTTP/1.1 200 '))
  expect(rawHeads[0]!.toLowerCase()).toContain('\r\nexpect: 100-continue\r\n')
})

test('a client that expects 100 and is refused does not get it', async () => {
  await using client = await connect()
  client.peer.send('POST /nowhere HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n')
  expect(await client.peer.until((text) => text.includes('route not found'))).toMatch(/^HTTP\/1\.1 404 /)
})

const UPGRADE = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: k\r\n\r\n`

test('an upgrade: bytes pass both ways until one side ends', async () => {
  await using client = await connect()
  client.peer.send(UPGRADE('/web/echo'))
  const opened = await client.peer.until((text) => text.endsWith('hello '))
  expect(opened).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
  expect(opened.toLowerCase()).toContain('upgrade: websocket\r\n')
  expect(opened).toContain('x-up: yes\r\n')
  client.peer.send('one \x00\xff')
  await client.peer.until((text) => text.endsWith('hello one \x00\xff'))
  client.peer.send('x'.repeat(100_000))
  await client.peer.until((text) => text.endsWith(`\xff${'x'.repeat(100_000)}`))
  client.peer.socket.end()
  await client.peer.untilEnd()
})

test('bytes directly after the upgrade request are not lost', async () => {
  await using client = await connect()
  client.peer.send(`${UPGRADE('/web/echo')}early`)
  await client.peer.until((text) => text.endsWith('hello early'))
})

test('a backend that switches to another protocol is refused', async () => {
  await using client = await connect()
  client.peer.send(UPGRADE('/web/other'))
  const text = await client.peer.until((got) => got.includes('request upgrade failed'))
  expect(text).toMatch(/^HTTP\/1\.1 502 /)
  expect(text).not.toContain('something')
})

test('a backend that declines the upgrade answers as to any request', async () => {
  await using client = await connect()
  client.peer.send(UPGRADE('/web/no'))
  expect(await client.peer.until((text) => text.endsWith('no'))).toMatch(
    /^HTTP\/1\.1 426 .*\r\nconnection: .*upgrade\r\nupgrade: y\/1\r\n/s,
  )
})

verifies('backend.static/unix-path-connects', 'a backend on a Unix domain socket', async () => {
  expect(await (await fetch(url('/socket'))).text()).toBe('over a socket')
})

test('expressions over the response body see it whole, and may replace it', async () => {
  const response = await fetch(url('/shape/json'))
  expect(response.headers.get('x-answer')).toBe('42')
  expect(await response.text()).toBe('<{"answer":42}>')
})

test('a response that is too large for such an expression is refused', async () => {
  const response = await fetch(url('/shape/large'))
  expect([response.status, await response.text()]).toEqual([
    502,
    'response body too large: the limit is 4096 bytes (frontend.http.maxBufferSize)',
  ])
})

test('a refusal keeps its status and body; response policies may change its headers', async () => {
  const response = await fetch(url('/shape/refused'))
  expect([response.status, response.headers.get('x-kind'), await response.text()]).toEqual([
    503,
    'refused',
    'upstream call failed',
  ])
})

test('a gRPC call over HTTP/1.1 is refused in the form of HTTP', async () => {
  const init = { method: 'POST', headers: { 'content-type': 'application/grpc' }, body: 'x' }
  const response = await fetch(url('/echo'), init)
  expect([response.status, response.headers.get('grpc-status')]).toEqual([505, null])
  expect(await response.text()).toBe('gRPC requires HTTP/2')
})

test('requests of one client connection share one connection to the backend', async () => {
  await using client = await connect()
  rawAnswer = `${OK.join('\r\n')}\r\n\r\n`
  const before = rawHeads.length
  for (let i = 1; i <= 5; i++) {
    client.peer.send('GET /raw HTTP/1.1\r\nHost: h\r\n\r\n')
    await client.peer.until((text) => text.split('200 OK').length - 1 === i)
  }
  expect(rawHeads.length - before).toBe(5)
})

test('pipelined requests are answered in order', async () => {
  await using client = await connect()
  const paths = ['/web/1', '/nowhere', '/web/2', '/web/3']
  client.peer.send(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''))
  const text = await client.peer.until((got) => got.endsWith('GET /web/3'))
  expect([...text.matchAll(/GET \/web\/\d|route not found/g)].map(([found]) => found)).toEqual([
    'GET /web/1',
    'route not found',
    'GET /web/2',
    'GET /web/3',
  ])
})

interface LogLine {
  readonly 'http.path': string
  readonly [field: string]: unknown
}

/** The access-log line of a path, once it has been written. */
function logged(path: string): Promise<LogLine> {
  return eventually(`a line of ${path} in the access log`, () =>
    gateway.output.stdout
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine)
      .find((line) => line['http.path'] === path),
  )
}

test('every request has its line in the access log', async () => {
  await fetch(url('/web/logged?a=b'))
  expect(await logged('/web/logged?a=b')).toMatchObject({
    gateway: 'default/main',
    route: 'default/web',
    'http.method': 'GET',
    'http.host': '127.0.0.1',
    'http.status': 200,
    endpoint: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    'src.addr': expect.stringMatching(/^127\.0\.0\.1:\d+$/),
  })
  const refused = await fetch(url('/nowhere/logged'))
  expect(await logged('/nowhere/logged')).toMatchObject({
    'http.status': 404,
    reason: 'NotFound',
    code: 'route-not-found',
    decision: refused.headers.get('gatewright-decision'),
  })
})

test('a request target in absolute form is that of its authority', async () => {
  const { up } = await through(['GET http://h.test/raw/x?y HTTP/1.1', 'Host: h.test'], OK)
  expect(up).toMatch(/^GET \/raw\/x\?y HTTP\/1\.1\r\nHost: h\.test\r\n/i)
})

test('metrics count forwarded requests', async () => {
  await fetch(url('/web/counted'))
  const text = await readText((await fetch(`${gateway.url(15_020)}/metrics`)).body!)
  expect(text).toMatch(/gatewright_requests_total\{backend="default\/web",protocol="http",method="GET",status="200",/)
})
