import { connect } from 'node:net'
import { afterAll, beforeAll, expect } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { askOverTls } from '#test/support/tls-client.ts'
import { tlsSecretYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

const V1 = 'PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n'
const V2 = `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\x00\x02\x07\xc6\x33\x64\x01\x12\x67\x01\xbb`
const LOCAL = `\r\n\r\n\0\r\nQUIT\n\x20\x00\0\0`

const stops = new AsyncDisposableStack()
let gateway: TestGateway
const ports: Record<string, number> = {}

/** A Gateway with one listener and these settings for PROXY headers. */
async function door(name: string, settings: string, listener = 'protocol: HTTP'): Promise<string> {
  const port = await freePort()
  ports[name] = port
  return joinYaml(
    gatewayYaml(port).replace('name: main', `name: ${name}`).replace('protocol: HTTP', listener),
    `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: ${name} }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: ${name} }]
  frontend:
    proxyProtocol: ${settings}
    accessLog:
      attributes:
        add: [{ name: raw, expression: source.rawAddress }, { name: announced, expression: source.address }]
`,
  )
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const doors = [
    await door('strict', '{}'),
    await door('v1', '{ version: V1 }'),
    await door('optional', '{ version: All, mode: Optional }'),
    await door('secured', '{ version: All }', 'protocol: HTTPS, tls: { certificateRefs: [{ name: door }] }'),
  ]
  const parents = Object.keys(ports).map((name) => `{ name: ${name} }`)
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      ...doors,
      tlsSecretYaml('door', CERTIFICATES.server),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo').replace('{ name: main }', parents.join(', ')),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

/** Sends bytes in pieces and reads until the end. */
function talk(name: string, ...pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: '127.0.0.1', port: ports[name]!, noDelay: true })
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve(text) : reject(error)))
    let at = 0
    const next = () => {
      if (at === pieces.length) return
      socket.write(pieces[at++]!, 'latin1')
      setImmediate(next)
    }
    socket.on('connect', next)
  })
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`

async function logged(path: string): Promise<string> {
  return eventually(`a line of ${path}`, () =>
    gateway.output.stdout.split('\n').find((line) => line.includes(`http.path=${path} `)),
  )
}

verifies(
  ['frontend.proxyProtocol/strict', 'frontend.proxyProtocol/version'],
  'Strict: a header of the right version, or not a byte',
  async () => {
    expect(await talk('strict', V2 + get('/v2'))).toContain('200 OK')
    expect(await logged('/v2')).toMatch(/announced="?192\.0\.2\.7"?/)
    expect(await logged('/v2')).toMatch(/raw="?127\.0\.0\.1"?/)
    expect(await logged('/v2')).toContain('src.addr=192.0.2.7:4711')
    expect(await talk('strict', V1 + get('/'))).toBe('')
    expect(await talk('strict', get('/'))).toBe('')
    expect(await talk('v1', ...(V1 + get('/v1')))).toContain('200 OK')
    expect(await talk('v1', V2 + get('/'))).toBe('')
    for (const code of ['proxy-header-version', 'proxy-header-missing']) {
      await eventually(code, () => gateway.output.stdout.includes(`error=${code} reason=InvalidRequest`) || undefined)
    }
    const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
    expect(metrics).toContain('gatewright_refused_connections_total{code="proxy-header-version"} 2')
  },
)

verifies(
  'frontend.proxyProtocol/optional',
  'Optional: with a header or without, but not with a broken one',
  async () => {
    expect(await talk('optional', ...(V1 + get('/with')))).toContain('200 OK')
    expect(await logged('/with')).toMatch(/announced="?192\.0\.2\.7"?/)
    expect(await talk('optional', get('/without'))).toContain('200 OK')
    expect(await logged('/without')).toMatch(/announced="?127\.0\.0\.1"?/)
    expect(await talk('optional', LOCAL + get('/local'))).toContain('200 OK')
    expect(await logged('/local')).toMatch(/announced="?127\.0\.0\.1"?/)
    expect(await talk('optional', `PROXY nonsense\r\n${get('/')}`)).toBe('')
  },
)

verifies('frontend.proxyProtocol/strict', 'a header precedes TLS', async () => {
  for (const before of [V1, V2]) {
    expect((await askOverTls(ports.secured!, { before, path: '/tls' })).status).toBe(200)
  }
  expect(await logged('/tls')).toMatch(/announced="?192\.0\.2\.7"?/)
  await expect(askOverTls(ports.secured!)).rejects.toThrow()
})
