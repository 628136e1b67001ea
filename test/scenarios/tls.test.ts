import { createServer, type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { authoritiesYaml, tlsSecretYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let serverPort: number
let plain: number
let secured: number

function tlsPolicy(backend: string, tls: string): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: tls-${backend} }
spec:
  targetRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: ${backend} }]
  backend: { tls: ${tls} }
`
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const server = createServer({ cert: CERTIFICATES.server.cert, key: CERTIFICATES.server.key }, (_, response) => {
    response.end('over TLS')
  })
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  serverPort = port
  plain = await freePort()
  secured = await freePort()
  const backends = ['named', 'misnamed', 'any-name', 'untrusted', 'insecure', 'missing']
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(plain).replace(
        '    - { name: http',
        `    - { name: https, protocol: HTTPS, port: ${secured}, tls: { certificateRefs: [{ name: door }] } }\n    - { name: http`,
      ),
      backendYaml('echo', echo.port),
      routeYaml('echo', '/', 'echo'),
      ...backends.map((name) =>
        joinYaml(backendYaml(name, port).replace('127.0.0.1', 'localhost'), routeYaml(name, `/${name}`, name)),
      ),
      backendYaml('by-address', port),
      routeYaml('by-address', '/by-address', 'by-address'),
      tlsPolicy('by-address', '{ caCertificateRefs: [{ name: trusted }] }'),
      tlsPolicy('named', '{ caCertificateRefs: [{ name: trusted }], sni: server.test }'),
      tlsPolicy('misnamed', '{ caCertificateRefs: [{ name: trusted }] }'),
      tlsPolicy('any-name', '{ caCertificateRefs: [{ name: trusted }], insecureSkipVerify: Hostname }'),
      tlsPolicy('untrusted', '{ sni: server.test }'),
      tlsPolicy('insecure', '{ insecureSkipVerify: All }'),
      tlsPolicy('missing', '{ caCertificateRefs: [{ name: nothing }] }'),
      tlsSecretYaml('door', CERTIFICATES.server),
      authoritiesYaml('trusted', CERTIFICATES.ca),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

function askSecured(options: RequestOptions): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: secured, agent: false, ...options }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function ask(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${plain}${path}`)
  return { status: response.status, text: await response.text() }
}

test('an HTTPS listener shows its certificate and serves its routes', async () => {
  const answer = await askSecured({ path: '/hello', ca: CERTIFICATES.ca, servername: 'server.test' })
  expect(answer.status).toBe(200)
  expect(JSON.parse(answer.text)).toMatchObject({ path: '/hello' })
})

test('plain HTTP on an HTTPS listener is no HTTP', async () => {
  await expect(fetch(`http://127.0.0.1:${secured}/`)).rejects.toThrow()
})

verifies(
  ['backend.tls/initiates', 'backend.tls/caCertificateRefs'],
  'a backend with TLS is verified by the authorities that are named',
  async () => {
    expect(await ask('/named')).toEqual({ status: 200, text: 'over TLS' })
    expect(await ask('/by-address')).toEqual({ status: 200, text: 'over TLS' })
    expect((await ask('/untrusted')).status).toBe(503)
  },
)

verifies(
  'backend.tls/caCertificateRefs-default',
  'without authorities that are named, those of the system verify the server, and no others',
  async () => {
    const at = await freePort()
    const objects = await createObjectsFolder({
      'all.yaml': joinYaml(
        gatewayYaml(at),
        backendYaml('untrusted', serverPort).replace('127.0.0.1', 'localhost'),
        routeYaml('all', '/', 'untrusted'),
        tlsPolicy('untrusted', '{ sni: server.test }'),
      ),
      'ca.pem': CERTIFICATES.ca,
    })
    await using _files = { [Symbol.asyncDispose]: () => objects.remove() }
    await using trusting = await startGatewayProcess({
      files: [join(objects.path, 'all.yaml')],
      workers: 1,
      environment: { SSL_CERT_FILE: join(objects.path, 'ca.pem') },
    })
    const response = await fetch(`${trusting.url(at)}/`)
    expect([response.status, await response.text()]).toEqual([200, 'over TLS'])
    // The other gateway has the authorities of this machine.
    expect((await ask('/untrusted')).status).toBe(503)
  },
)

verifies(
  ['backend.tls/verifySubjectAltNames-default', 'backend.tls/insecureSkipVerify-hostname'],
  'the certificate must carry the hostname of the destination, unless the name is not to be checked',
  async () => {
    expect((await ask('/misnamed')).status).toBe(503)
    expect(await ask('/any-name')).toEqual({ status: 200, text: 'over TLS' })
    expect((await ask('/untrusted')).status).toBe(503)
  },
)

verifies('backend.tls/insecureSkipVerify-all', 'insecureSkipVerify: All takes any certificate', async () => {
  expect(await ask('/insecure')).toEqual({ status: 200, text: 'over TLS' })
})

test('a ConfigMap that does not exist never falls back to the authorities of the system', async () => {
  expect((await ask('/missing')).status).toBe(500)
  expect(gateway.output.stderr).toContain('ConfigMap default/nothing')
})
