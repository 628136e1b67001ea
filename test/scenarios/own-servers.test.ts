import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import type { Upstream } from '#examples/upstreams/listen.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, joinYaml, listenersYaml, routeYaml, serviceYaml } from '#test/support/objects-folder.ts'

/** Objects that name the servers of the gateway itself (decision A-138). */

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let echo: Upstream
let port: number
let tcpPort: number
let adminPort: number
let metricsPort: number

const staticYaml = (name: string, host: string, of: number, more = '') => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec:
  static: { host: "${host}", port: ${of} }
${more}
`

/** By path, a host that leads to the admin server. */
const HOSTS = {
  address: '127.0.0.1',
  mapped: '::ffff:127.0.0.1',
  unspecified: '0.0.0.0',
  name: 'localhost',
}

const policyYaml = (name: string, traffic: string) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: ${name} }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: ${name} }]
  traffic: ${traffic}
`

function objects(): string {
  const hosts = Object.entries(HOSTS).flatMap(([name, host]) => [
    staticYaml(name, host, adminPort),
    routeYaml(name, `/${name}`, name),
  ])
  return joinYaml(
    listenersYaml('main', [
      `{ name: http, protocol: HTTP, port: ${port} }`,
      `{ name: tcp, protocol: TCP, port: ${tcpPort} }`,
    ]),
    ...hosts,
    staticYaml('echo', '127.0.0.1', echo.port),
    staticYaml('metrics', '127.0.0.1', metricsPort),
    routeYaml('metrics', '/metrics', 'metrics'),
    staticYaml('tier', '127.0.0.1', port),
    `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: tier }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { value: /tier } }]
      filters: [{ type: URLRewrite, urlRewrite: { path: { type: ReplacePrefixMatch, replacePrefixMatch: /echo } } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: tier }]
`,
    routeYaml('echo', '/echo', 'echo'),
    staticYaml(
      'tunnelled',
      'localhost',
      adminPort,
      `  policies: { tunnel: { backendRef: { group: gatewright.dev, kind: ProxyBackend, name: echo } } }`,
    ),
    routeYaml('tunnelled', '/tunnelled', 'tunnelled'),
    staticYaml(
      'through',
      'example.test',
      80,
      `  policies: { tunnel: { backendRef: { group: gatewright.dev, kind: ProxyBackend, name: name } } }`,
    ),
    routeYaml('through', '/through', 'through'),
    routeYaml('authorized', '/authorized', 'echo'),
    policyYaml(
      'authorized',
      '{ extAuth: { backendRef: { group: gatewright.dev, kind: ProxyBackend, name: address }, http: { path: "\'/quitquitquit\'" } } }',
    ),
    `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: mirrored }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { value: /mirrored } }]
      filters: [{ type: RequestMirror, requestMirror: { backendRef: { group: gatewright.dev, kind: ProxyBackend, name: address } } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: echo }]
`,
    serviceYaml('slice', [adminPort]),
    `
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: TCPRoute
metadata: { name: tcp }
spec:
  parentRefs: [{ name: main, sectionName: tcp }]
  rules: [{ backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: address }] }]
`,
  )
}

beforeAll(async () => {
  echo = stops.adopt(await startEcho({ port: 0 }), (echo) => echo.close())
  port = await freePort()
  tcpPort = await freePort()
  adminPort = await freePort()
  metricsPort = await freePort()
  const folder = stops.adopt(await createObjectsFolder({ 'objects.yaml': objects() }), (folder) => folder.remove())
  gateway = stops.use(
    await startGateway({
      files: [folder.path],
      environment: {
        GATEWRIGHT_ADMIN_ADDR: `127.0.0.1:${adminPort}`,
        GATEWRIGHT_STATS_ADDR: `127.0.0.1:${metricsPort}`,
      },
    }),
  )
})
afterAll(() => stops.disposeAsync())

test.each([...Object.keys(HOSTS), 'slice', 'tunnelled', 'through'])(
  'a request that a backend leads to the admin server is refused: %s',
  async (path) => {
    const response = await fetch(`http://localhost:${port}/${path}`, { method: 'POST' })
    expect(await response.text()).toContain('destination not allowed')
    expect(response.status).toBe(403)
  },
)

test('callouts do not reach it, and copies are not sent', async () => {
  expect((await fetch(`http://127.0.0.1:${port}/authorized`)).status).toBe(403)
  expect((await fetch(`http://127.0.0.1:${port}/mirrored`)).status).toBe(200)
  const calls = await eventually('a copy has ended', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return metrics.split('\n').find((line) => line.includes('_count{purpose="mirror"'))
  })
  expect(calls).toContain('outcome="address-not-allowed"')
})

test('relayed connections are closed', async () => {
  const socket = connect(tcpPort, '127.0.0.1', () => socket.write('GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n'))
  expect(await text(socket).catch(() => '')).toBe('')
})

test('metrics and listeners are reached, and metrics are reported', async () => {
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(await metrics.text()).toContain('gatewright_')
  expect((await fetch(`http://127.0.0.1:${port}/tier`)).status).toBe(200)
  const reported = gateway.output.stderr.matchAll(
    /\t(error|warn)\t.*code=backend-is-gateway problem="\w+ default\/(\w+):/g,
  )
  // Those of the start; requests through a proxy server add one.
  const atStart = [...reported].map(([, level, name]) => `${level} ${name}`).slice(0, Object.keys(HOSTS).length + 3)
  expect(atStart).toEqual([
    ...Object.keys(HOSTS).map((name) => `error ${name}`),
    'warn metrics',
    'error tunnelled',
    'error slice',
  ])
})
