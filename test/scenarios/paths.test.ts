import { once } from 'node:events'
import { createServer } from 'node:http'
import http2, { type ClientHttp2Session } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '#net/testing/http2-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// A server that decodes paths once, takes `\` for `/`, merges slashes and resolves dot segments, behind rules on `/admin`: a route
// with authorization (port of `main`), and an expression for all routes (port of `expressions`).

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let byRoute: number
let byExpression: number
let http2ByRoute: ClientHttp2Session
let http2ByExpression: ClientHttp2Session

const denyAll = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: admins }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: admin }]
  traffic:
    authorization:
      policy: { matchExpressions: ['false'] }
`

const denyByPath = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: expressions }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: expressions }]
  traffic:
    phase: PreRouting
    authorization:
      action: Deny
      policy: { matchExpressions: ['request.path == "/admin" || request.path.startsWith("/admin/")'] }
`

/** Clients of HTTP/2 without TLS keep their version otherwise; the server has HTTP/1.1 only. */
const backendVersion = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: backend-version }
spec:
  targetRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: server }]
  backend: { http: { version: HTTP1 } }
`

/** The server: responds with the path that it has resolved, and with the received one. */
function startServer(): Promise<number> {
  const server = createServer((request, response) => {
    const sent = request.url!
    const decoded = decodeURIComponent(sent.split('?', 1)[0]!).replaceAll('\\', '/').replace(/\/+/g, '/')
    response.end(JSON.stringify({ served: new URL(decoded, 'http://server').pathname, sent }))
  })
  stops.defer(() => void server.close())
  server.listen(0, '127.0.0.1')
  return once(server, 'listening').then(() => (server.address() as AddressInfo).port)
}

beforeAll(async () => {
  const backend = await startServer()
  byRoute = await freePort()
  byExpression = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(byRoute),
      gatewayYaml(byExpression).replace('name: main', 'name: expressions'),
      backendYaml('server', backend),
      routeYaml('open', '/', 'server'),
      routeYaml('admin', '/admin', 'server'),
      routeYaml('all', '/', 'server').replace('name: main', 'name: expressions'),
      denyAll,
      denyByPath,
      backendVersion,
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  http2ByRoute = await connectHttp2(byRoute)
  http2ByExpression = await connectHttp2(byExpression)
})

afterAll(() => stops.disposeAsync())

async function connectHttp2(port: number): Promise<ClientHttp2Session> {
  const client = http2.connect(`http://127.0.0.1:${port}`)
  stops.defer(() => client.destroy())
  await once(client, 'connect')
  return client
}

/** The answer to a request line that no library has touched. */
async function askHttp1(port: number, target: string): Promise<{ status: number; body: string }> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`)
  const answer = await text(socket)
  return { status: Number(answer.slice(9, 12)), body: answer.slice(answer.indexOf('\r\n\r\n') + 4) }
}

const spellings: [target: string, byRoute: number, byExpression: number][] = [
  ['/admin/x', 403, 403],
  ['/%61dmin/x', 403, 403],
  ['//admin/x', 403, 403],
  ['/admin%2fx', 400, 400],
  ['/admin%5cx', 400, 400],
  ['/admin\\x', 400, 400],
  ['/pub/..%2fadmin/x', 400, 400],
  ['/pub/%2e%2e%2fadmin/x', 400, 400],
  ['/pub/../admin/x', 400, 400],
  ['/.%2fadmin/x', 400, 400],
  ['/;x/admin/x', 400, 400],
  ['/..;/admin/x', 400, 400],
  ['/admin/x%00', 400, 400],
  ['/%c0%afadmin/x', 400, 400],
  ['/%2', 400, 400],
  // Encoded separators in data are ambiguous only if a rule reads the path.
  ['/packages/@scope%2fname', 200, 400],
  ['/packages/%40scope', 200, 200],
  ['/a%20b//c?x=%2F..%zz', 200, 200],
]

test.each(spellings)('%s over HTTP/1 and HTTP/2', async (target, route, expression) => {
  expect((await askHttp1(byRoute, target)).status).toBe(route)
  expect((await askHttp1(byExpression, target)).status).toBe(expression)
  expect((await ask(http2ByRoute, [':path', target, ':authority', '127.0.0.1'])).status).toBe(route)
  expect((await ask(http2ByExpression, [':path', target, ':authority', '127.0.0.1'])).status).toBe(expression)
})

test('the server is sent the normal form, slashes kept; the log has the path as it was received', async () => {
  const { body } = await askHttp1(byRoute, '/%70ub//x%2fy?q=%61')
  expect(JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))).toEqual({
    served: '/pub/x/y',
    sent: '/pub//x%2Fy?q=%61',
  })
  await eventually('its line', () => gateway.output.stdout.includes('/%70ub//x%2fy?q=%61'))
})

test('an absolute target is read alike', async () => {
  expect((await askHttp1(byRoute, 'http://127.0.0.1/%61dmin/x')).status).toBe(403)
  expect((await askHttp1(byRoute, 'http://127.0.0.1/x/..%2fadmin')).status).toBe(400)
})

test('the record has the reason for refusing a path', async () => {
  await askHttp1(byRoute, '/admin%2frecorded')
  const response = await fetch(`${gateway.url(15_000)}/decisions`)
  expect(await response.text()).toContain(
    'a server may read /admin%2Frecorded as /admin/recorded, which HTTPRoute/default/admin/0 matches instead of HTTPRoute/default/open/0',
  )
})
