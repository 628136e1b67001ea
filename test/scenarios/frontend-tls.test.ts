import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { RawClient } from '#net/testing/raw-peers.ts'
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
import { askOverTls } from '#test/support/tls-client.ts'
import { tlsSecretYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let folder: ObjectsFolder
let plain: number
let strict: number

function httpsGatewayYaml(name: string, port: number): string {
  const listener = (section: string, hostname: string) =>
    `{ name: ${section}, protocol: HTTPS, port: ${port}, hostname: "${hostname}", tls: { certificateRefs: [{ name: ${section} }] } }`
  return listenersYaml(name, [listener('exact', 'server.test'), listener('wild', '*.wild.test')])
}

function tlsPolicyYaml(tls: object): string {
  return policyYaml('strict', 'Gateway', 'strict', { frontend: { tls } })
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  plain = await freePort()
  strict = await freePort()
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      httpsGatewayYaml('main', plain),
      httpsGatewayYaml('strict', strict),
      tlsSecretYaml('wild', CERTIFICATES.server),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo').replace('{ name: main }', '{ name: main }, { name: strict }'),
    ),
    'exact.yaml': tlsSecretYaml('exact', CERTIFICATES.server),
    'policy.yaml': tlsPolicyYaml({
      handshakeTimeout: '200ms',
      alpnProtocols: ['http/1.1'],
      minProtocolVersion: '1.3',
      cipherSuites: ['TLS13_CHACHA20_POLY1305_SHA256', 'TLS13_AES_128_GCM_SHA256'],
      keyExchangeGroups: ['X25519_MLKEM768', 'P-384'],
    }),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

test('the listener is the one of the server name; without one of that name the handshake is refused', async () => {
  expect((await askOverTls(plain, { servername: 'server.test' })).status).toBe(200)
  expect((await askOverTls(plain, { servername: 'a.wild.test' })).status).toBe(200)
  for (const servername of ['other.test', '']) {
    await expect(askOverTls(plain, { servername })).rejects.toThrow('ERR_SSL_TLSV1_UNRECOGNIZED_NAME')
  }
  await eventually('the log says so', () => gateway.output.stdout.includes('error=server-name-unknown') || undefined)
})

test('the log says that a listener has no usable certificate, and refused handshakes name it', async () => {
  const port = await freePort()
  const bare = await createObjectsFolder({ 'all.yaml': httpsGatewayYaml('bare', port) })
  stops.defer(bare.remove)
  const other = stops.use(await startGateway({ files: [bare.path], workers: 1 }))
  expect(other.output.stderr).toContain(
    'cause="it has no usable certificate, so every TLS handshake is refused (certificate-missing)"',
  )
  expect(other.output.stderr).toContain('\trunning, but not ready ')
  expect(other.output.stderr).not.toContain('\tlistening ')
  await expect(askOverTls(port, { servername: 'server.test' })).rejects.toThrow('HANDSHAKE_FAILURE')
  await eventually('a line', () => other.output.stdout.includes('error=certificate-missing') || undefined)
})

test('a request for another host than the connection was made for', async () => {
  const ask = async (servername: string, host: string) => (await askOverTls(plain, { servername, host })).text
  expect(await ask('server.test', 'a.wild.test')).toMatch(/^HTTP\/1.1 421 .*misdirected request$/s)
  expect(await ask('server.test', 'other.test')).toMatch(/^HTTP\/1.1 404 .*route not found$/s)
  expect(await ask('a.wild.test', 'b.wild.test')).toContain('200 OK')
})

test('every worker resumes sessions', async () => {
  for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
    const { session, resumed } = await askOverTls(plain, { maxVersion })
    expect(resumed).toBe(false)
    for (let again = 0; again < 8; again++)
      expect((await askOverTls(plain, { maxVersion, session })).resumed).toBe(true)
  }
})

test('a changed Secret is shown from the next handshake on, and open connections go on', async () => {
  const before = await askOverTls(plain)
  const open = await RawClient.connect(plain)
  open.socket.removeAllListeners('data')
  const secured = new RawClient(connectTls({ socket: open.socket, servername: 'server.test', ca: CERTIFICATES.ca }))
  const get = 'GET /open HTTP/1.1\r\nHost: server.test\r\n\r\n'
  secured.send(get)
  await secured.until((text) => text.includes('"path":"/open"'))
  await folder.write('exact.yaml', tlsSecretYaml('exact', CERTIFICATES.serverRsa))
  const after = await eventually('another certificate', async () => {
    const answer = await askOverTls(plain)
    return answer.serial === before.serial ? undefined : answer
  })
  expect(after.status).toBe(200)
  secured.text = ''
  secured.send(get)
  await secured.until((text) => text.includes('"path":"/open"'))
  secured.close()
  await folder.write('exact.yaml', tlsSecretYaml('exact', CERTIFICATES.server))
  await eventually('the first one again', async () => (await askOverTls(plain)).serial === before.serial || undefined)
})

verifies(
  ['frontend.tls/minProtocolVersion', 'frontend.tls/cipherSuites-order', 'frontend.tls/keyExchangeGroups-order'],
  'versions, suites and groups are those of the policy, in its order',
  async () => {
    const suites = 'TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256'
    const ecdhCurve = 'P-384:X25519MLKEM768'
    expect(await askOverTls(strict, { ciphers: suites, ecdhCurve })).toMatchObject({
      status: 200,
      protocol: 'TLSv1.3',
      suite: 'TLS_CHACHA20_POLY1305_SHA256',
      group: 'X25519MLKEM768',
    })
    expect((await askOverTls(strict, { ciphers: 'TLS_AES_128_GCM_SHA256', ecdhCurve: 'P-384' })).group).toBe(
      'secp384r1',
    )
    await expect(askOverTls(strict, { maxVersion: 'TLSv1.2' })).rejects.toThrow('PROTOCOL_VERSION')
    await expect(askOverTls(strict, { ciphers: 'TLS_AES_256_GCM_SHA384' })).rejects.toThrow('HANDSHAKE_FAILURE')
    await expect(askOverTls(strict, { ecdhCurve: 'X25519' })).rejects.toThrow('HANDSHAKE_FAILURE')
  },
)

verifies('frontend.tls/alpnProtocols', 'the protocols of the policy are offered, and others are refused', async () => {
  expect((await askOverTls(strict, { ALPNProtocols: ['x', 'http/1.1'] })).alpn).toBe('http/1.1')
  expect((await askOverTls(strict)).alpn).toBe(false)
  await expect(askOverTls(strict, { ALPNProtocols: ['h2'] })).rejects.toThrow('NO_APPLICATION_PROTOCOL')
})

verifies('frontend.tls/handshakeTimeout', 'a client that does not get on with its handshake is cut off', async () => {
  const client = await RawClient.connect(strict)
  expect(await client.untilEnd()).toBe('')
  client.close()
  await eventually('the log says so', () => gateway.output.stdout.includes('error=handshake-timeout') || undefined)
})

verifies(
  'frontend.tls/maxProtocolVersion',
  'nothing above the highest version, from the next handshake on',
  async () => {
    await folder.write('policy.yaml', tlsPolicyYaml({ maxProtocolVersion: '1.2' }))
    await eventually('TLS 1.2', async () => {
      const answer = await askOverTls(strict).catch(() => undefined)
      return answer?.protocol === 'TLSv1.2' || undefined
    })
  },
)
