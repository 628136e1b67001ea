import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  joinYaml,
  listenersYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { askOverTls, type TlsRequest } from '#test/support/tls-client.ts'
import { authoritiesYaml, tlsSecretYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

const CART: TlsRequest = CERTIFICATES.mesh
const STRANGER: TlsRequest = CERTIFICATES.client

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let folder: ObjectsFolder
const ports = { strict: 0, fallback: 0, ruled: 0 }

function gatewayYaml(name: keyof typeof ports, mode: string): string {
  const validation = `{ mode: ${mode}, caCertificateRefs: [{ group: "", kind: ConfigMap, name: clients }] }`
  return listenersYaml(
    name,
    [`{ name: https, protocol: HTTPS, port: ${ports[name]}, tls: { certificateRefs: [{ name: door }] } }`],
    `  tls: { frontend: { default: { validation: ${validation} } } }\n`,
  )
}

const FACTS = [
  'identity.serviceAccount',
  'spiffeId',
  'subject',
  'issuer',
  'subjectCn',
  'subjectAltNames',
  'certificate',
]

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  for (const name of ['strict', 'fallback', 'ruled'] as const) ports[name] = await freePort()
  const add = FACTS.map((fact) => ({ name: fact, expression: `source.${fact}` }))
  const policy = { matchExpressions: ['source.identity.namespace == "carts"'] }
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml('strict', 'AllowValidOnly'),
      gatewayYaml('ruled', 'AllowInsecureFallback'),
      policyYaml('strict', 'Gateway', 'strict', { frontend: { accessLog: { attributes: { add } } } }),
      policyYaml('ruled', 'Gateway', 'ruled', { frontend: { networkAuthorization: { policy } } }),
      tlsSecretYaml('door', CERTIFICATES.server),
      authoritiesYaml('clients', CERTIFICATES.meshCa),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo').replace('{ name: main }', '{ name: strict }, { name: fallback }, { name: ruled }'),
    ),
    'fallback.yaml': gatewayYaml('fallback', 'AllowInsecureFallback'),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGateway({ files: [folder.path], workers: 1, environment: { GATEWRIGHT_LOG_FORMAT: 'json' } }),
  )
})

afterAll(() => stops.disposeAsync())

async function logged(check: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
  return eventually('a line of the log', () =>
    gateway.output.stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find(check),
  )
}

test('AllowValidOnly: with a certificate of an authority that is named, and no other', async () => {
  expect((await askOverTls(ports.strict, { ...CART, path: '/cart' })).status).toBe(200)
  await expect(askOverTls(ports.strict)).rejects.toThrow()
  await expect(askOverTls(ports.strict, STRANGER)).rejects.toThrow()
  await logged(({ error }) => error === 'client-certificate-invalid')
})

test('expressions and the log have the identity of the client', async () => {
  await askOverTls(ports.strict, { ...CART, path: '/known' })
  const line = await logged((it) => it['http.path'] === '/known')
  expect(line).toMatchObject({
    'src.identity': 'spiffe://shop.test/ns/carts/sa/cart',
    'identity.serviceAccount': 'cart',
    spiffeId: 'spiffe://shop.test/ns/carts/sa/cart',
    subject: 'emailAddress=cart@shop.test,CN=cart,OU=web,OU=carts,O=Shop\\, Best \\+ Co,C=DE',
    issuer: 'CN=mesh-ca,O=Shop',
    subjectCn: 'cart',
    subjectAltNames: expect.arrayContaining(['cart.shop.test', '192.0.2.7']),
    certificate: expect.stringContaining('-----BEGIN CERTIFICATE-----'),
  })
})

test('a resumed session is the same client, and needs its certificate to be one', async () => {
  const { session } = await askOverTls(ports.strict, CART)
  expect((await askOverTls(ports.strict, { ...CART, session, path: '/again' })).resumed).toBe(true)
  expect(await logged((it) => it['http.path'] === '/again')).toMatchObject({ 'src.identity': expect.any(String) })
  const { session: anonymous } = await askOverTls(ports.fallback)
  await expect(askOverTls(ports.strict, { session: anonymous })).rejects.toThrow()
})

test('AllowInsecureFallback accepts all clients, is reported, and uses only valid certificates', async () => {
  for (const [path, client] of Object.entries({ '/nobody': {}, '/stranger': STRANGER, '/cart-too': CART })) {
    expect((await askOverTls(ports.fallback, { ...client, path })).status).toBe(200)
    const line = await logged((it) => it['http.path'] === path)
    expect('src.identity' in line).toBe(path === '/cart-too')
  }
  const status = await (await fetch(`${gateway.url(15_000)}/status`)).text()
  expect(status).toContain('InsecureFrontendValidationMode')
})

verifies(
  'frontend.networkAuthorization/rules',
  'rules on the certificate are asked after the handshake, before a byte of HTTP',
  async () => {
    expect((await askOverTls(ports.ruled, CART)).status).toBe(200)
    await expect(askOverTls(ports.ruled, STRANGER)).rejects.toThrow()
    await expect(askOverTls(ports.ruled)).rejects.toThrow()
    // A client without an identity has no namespace to compare: the line says that the rule failed, and where.
    const line = await logged(({ reason }) => reason === 'Authorization')
    expect(line.error).toMatch(
      /^no Allow rule matched; Allow rule .*matchExpressions\[0\] .*no such key: source\.identity/,
    )
  },
)

test('a listener that begins to insist on certificates is another one', async () => {
  await folder.write('fallback.yaml', gatewayYaml('fallback', 'AllowValidOnly'))
  await eventually('clients without a certificate are refused', async () =>
    askOverTls(ports.fallback).then(
      () => undefined,
      () => true,
    ),
  )
  // A handshake that the edit interrupts is repeated.
  await eventually('clients with one are served', async () =>
    askOverTls(ports.fallback, CART).then(
      ({ status }) => status === 200,
      () => undefined,
    ),
  )
})
