import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Fields that a policy removes or replaces, on every way that a peer may try. Both versions of HTTP, with backends that echo. */

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number

const EARLY = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\nx-removed: early\r\nX_Set: early\r\n\r\n'

/** Repeats the head of the request, behind an interim response; takes upgrades. */
function echo(head: string): string {
  const fields = 'x-removed: late\r\nX_Removed: late\r\nx-kept: late\r\nX_Set: late\r\n'
  if (head.includes('/upgrade')) {
    return `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n${fields}\r\n`
  }
  const body = head.toLowerCase()
  return `${EARLY}HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${fields}\r\n${body}`
}

/** Repeats head and trailers of the request in fields of its own; has interim responses and trailers. */
async function echoNewer(stream: ServerHttp2Stream, head: IncomingHttpHeaders): Promise<void> {
  let trailers: IncomingHttpHeaders = {}
  stream.on('trailers', (fields) => {
    trailers = fields
  })
  await text(stream)
  stream.additionalHeaders({ ':status': 103, link: '</a.css>', 'x-removed': 'early', x_set: 'early' })
  stream.respond({ ':status': 200, 'x-removed': 'late', 'x-kept': 'late' }, { waitForTrailers: true })
  stream.on('wantTrailers', () =>
    stream.sendTrailers({
      'grpc-status': '0',
      'x-removed': 'behind',
      x_set: 'behind',
      'x-kept': 'behind',
      'set-cookie': 'a=1',
    }),
  )
  stream.end(JSON.stringify({ head, trailers }))
}

beforeAll(async () => {
  const older = await new RawServer(answering(echo)).start()
  stops.defer(() => older.close())
  const newer = http2.createServer()
  newer.on('stream', (stream: ServerHttp2Stream, head) => void echoNewer(stream, head))
  await new Promise<void>((resolve) => newer.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void newer.close())
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('older', older.port),
      backendYaml('newer', (newer.address() as AddressInfo).port),
      policyYaml('newer', 'ProxyBackend', 'newer', { backend: { http: { version: 'HTTP2' } } }),
      routeYaml('older', '/older', 'older'),
      routeYaml('newer', '/newer', 'newer'),
      policyYaml('fields', 'Gateway', 'main', {
        traffic: {
          headerModifiers: {
            request: { remove: ['X-Internal-User'], set: [{ name: 'x-team', value: 'a' }] },
            response: { remove: ['X-Removed', 'grpc-status'], set: [{ name: 'x-set', value: 'by-the-gateway' }] },
          },
          authorization: {
            action: 'Deny',
            policy: { matchExpressions: ['default(request.headers["x-role"], "") == "guest"'] },
          },
        },
      }),
      policyYaml('newer-fields', 'HTTPRoute', 'newer', {
        traffic: { transformation: { request: { set: [{ name: 'x-computed', value: '"c"' }] } } },
      }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

async function sendOlder(target: string, ...lines: string[]): Promise<string> {
  const client = await RawClient.connect(port)
  using _ = { [Symbol.dispose]: () => client.close() }
  client.send(`GET ${target} HTTP/1.1\r\nHost: a\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)
  return await client.until((answer) => /HTTP\/1\.1 (?:101|[2-5]\d\d)[\s\S]*\r\n\r\n/.test(answer))
}

interface NewerAnswer {
  readonly head: IncomingHttpHeaders
  readonly informed: readonly IncomingHttpHeaders[]
  readonly trailers: IncomingHttpHeaders | undefined
  /** What the backend got. */
  readonly seen: { readonly head: IncomingHttpHeaders; readonly trailers: IncomingHttpHeaders }
}

async function sendNewer(fields: IncomingHttpHeaders): Promise<NewerAnswer> {
  const client = http2.connect(`http://127.0.0.1:${port}`)
  using _ = { [Symbol.dispose]: () => client.destroy() }
  const stream = client.request({ ':method': 'POST', ':path': '/newer', ...fields }, { waitForTrailers: true })
  const informed: IncomingHttpHeaders[] = []
  let head: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders | undefined
  stream.on('wantTrailers', () =>
    stream.sendTrailers({
      'x-sum': '3',
      authorization: 'Bearer forged',
      cookie: 'a=1',
      x_internal_user: 'root',
      'x-team': 'root',
      'x-computed': 'root',
      'content-type': 'text/html',
      'x-forwarded-for': '10.0.0.1',
    }),
  )
  stream.on('headers', (interim) => informed.push(interim))
  stream.on('response', (response) => {
    head = response
  })
  stream.on('trailers', (behind) => {
    trailers = behind
  })
  stream.end('abc')
  const seen = JSON.parse(await text(stream)) as NewerAnswer['seen']
  return { head, informed, trailers, seen }
}

const GRPC = { 'content-type': 'application/grpc', te: 'trailers' }
const known = (fields: IncomingHttpHeaders | undefined) => Object.fromEntries(Object.entries(fields ?? {}))

test('over HTTP/1 a removed field is not in an interim response, nor under its name with _', async () => {
  const answer = (
    await sendOlder('/older', 'x_internal_user: root', 'X-Internal-User: root', 'X_Team: root')
  ).toLowerCase()
  const [early = '', late = '', seen = ''] = answer.split('\r\n\r\n')
  expect(early).toBe('http/1.1 103 early hints\r\nlink: </a.css>')
  expect(late).toContain('x-kept: late')
  expect(late).toContain('x-set: by-the-gateway')
  expect(late).not.toMatch(/removed|x_set/)
  expect(seen).toContain('x-team: a')
  expect(seen).not.toContain('root')
})

test('nor with the response to an upgrade', async () => {
  const answer = (await sendOlder('/older/upgrade', 'Connection: upgrade', 'Upgrade: echo')).toLowerCase()
  expect(answer).toContain('101 switching protocols')
  expect(answer).toContain('x-kept: late')
  expect(answer).not.toMatch(/removed|x_set/)
})

test('over HTTP/2 neither', async () => {
  const { informed, head, seen } = await sendNewer({ ...GRPC, x_internal_user: 'root' })
  expect(informed.map(known)).toEqual([{ ':status': 103, link: '</a.css>' }])
  expect(head['x-kept']).toBe('late')
  expect(head['x-removed']).toBeUndefined()
  expect(JSON.stringify(seen.head)).not.toContain('root')
})

test('trailers of a gRPC request are forwarded unless they belong in a head or a policy writes them', async () => {
  const { seen } = await sendNewer(GRPC)
  expect(known(seen.trailers)).toEqual({ 'x-sum': '3' })
})

test('trailers of other requests are not forwarded', async () => {
  const { seen } = await sendNewer({ 'content-type': 'text/plain', te: 'trailers' })
  expect(known(seen.trailers)).toEqual({})
})

test.each([
  ['a gRPC call', { 'content-type': 'application/grpc' }],
  ['a request with te: trailers', { te: 'trailers' }],
])('trailers of a response are sent to the client: %s', async (_, fields) => {
  const { trailers } = await sendNewer(fields)
  expect(known(trailers)).toEqual({ 'grpc-status': '0', 'x-kept': 'behind' })
})

test('and to no others', async () => {
  const { trailers } = await sendNewer({ 'content-type': 'text/plain' })
  expect(trailers).toBeUndefined()
})

test.each([
  'cookie',
  'close, Cookie',
  'host',
  'Authorization',
  'content-length',
  'proxy-authorization',
  'X-Forwarded-For',
  'x_forwarded_for',
  // What a policy reads, sets, removes.
  'x-role',
  'X_Role',
  'x-team',
  'x-internal-user',
])('a Connection that names %s is refused', async (connection) => {
  const answer = await sendOlder('/older', `Connection: ${connection}`)
  expect(answer).toContain('HTTP/1.1 400 ')
  expect(answer).toContain('invalid connection field')
})

test.each(['keep-alive', 'x-own', 'te, x-own', 'http2-settings', 'x-computed'])(
  'one that names %s is not',
  async (connection) => {
    const answer = await sendOlder('/older', `Connection: ${connection}`, 'X-Own: 1', 'X-Computed: 1')
    expect(answer).toContain('HTTP/1.1 200 ')
    if (connection.includes('x-own')) expect(answer).not.toContain('x-own: 1')
  },
)

test('the record has the reason', async () => {
  await sendOlder('/older', 'Connection: x-role')
  await sendOlder('/newer', 'Connection: x-computed')
  await sendOlder('/older', 'Connection: cookie')
  const records = (await (
    await fetch(`${gateway.url(15_000)}/decisions?code=connection-invalid&limit=100`)
  ).json()) as { detail: string }[]
  const details = records.map(({ detail }) => detail.replace(/ \(.*\)/, ''))
  const rule = 'spec.traffic.authorization.policy.matchExpressions[0] of ProxyPolicy default/fields'
  expect(details).toContain(`Connection names x-role, which ${rule} reads or writes`)
  const transformation = 'spec.traffic.transformation of ProxyPolicy default/newer-fields'
  expect(details).toContain(`Connection names x-computed, which ${transformation} reads or writes`)
  expect(details).toContain('Connection names cookie, an end-to-end field')
})
