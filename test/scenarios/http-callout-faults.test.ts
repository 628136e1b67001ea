import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { type Accepted, answering, RawServer } from '#net/testing/raw-peers.ts'
import { callCounts } from '#test/support/call-counts.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { HTTP_FAULTS } from '#test/support/http-faults.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { tookAll } from '#test/support/pour.ts'
import { refusalOf } from '#test/support/refusal-of.ts'
import { createSigningKey, signToken } from '#test/support/token-issuer.ts'

// HTTP servers that the gateway asks or tells in the middle of a request, and that misbehave.

const FAULTS = [...Object.keys(HTTP_FAULTS), 'nobody-listens']
const MODES = ['FailClosed', 'FailOpen'] as const
const ISSUER = 'https://id.test'
const token = signToken(createSigningKey('P-256'), 'ES256', { iss: ISSUER, exp: Math.floor(Date.now() / 1000) + 600 })

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
const servers: { readonly name: string; readonly peers: Accepted[] }[] = []
let gateway: TestGateway
let port: number

const refTo = (name: string) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name })

/** A bad server, each of whose answers has to begin within 400 ms. */
async function backendOf(name: string, fault: string): Promise<string> {
  const limit = { backend: { http: { requestTimeout: '400ms' } } }
  const limited = policyYaml(`${name}-limit`, 'ProxyBackend', name, limit)
  if (fault === 'nobody-listens') return joinYaml(backendYaml(name, await freePort()), limited)
  const peers: Accepted[] = []
  const server = await new RawServer((peer) => {
    peers.push(peer)
    peer.socket.once('data', () => HTTP_FAULTS[fault]!(peer))
  }).start()
  stops.defer(() => server.close())
  servers.push({ name, peers })
  return joinYaml(backendYaml(name, server.port), limited)
}

function policedYaml(name: string, path: string, traffic: object): string {
  return joinYaml(routeYaml(name, path, 'echo'), policyYaml(name, 'HTTPRoute', name, { traffic }))
}

function mirroredYaml(name: string): string {
  const filters = [{ type: 'RequestMirror', requestMirror: { backendRef: refTo(name) } }]
  return routeYaml(name, `/${name}`, 'echo', `      filters: ${JSON.stringify(filters)}\n`)
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  const twice = await new RawServer(
    answering(() => 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  ).start()
  stops.defer(() => twice.close())
  const objects = [
    gatewayYaml(port),
    backendYaml('echo', echo.port),
    routeYaml('plain', '/plain', 'echo'),
    backendYaml('twice', twice.port),
    policedYaml('twice', '/twice', { extAuth: { backendRef: refTo('twice'), http: {} } }),
  ]
  for (const fault of FAULTS) {
    const [authorization, keys, mirror] = [`authorization-${fault}`, `keys-${fault}`, `mirror-${fault}`]
    objects.push(
      await backendOf(authorization, fault),
      ...MODES.map((failureMode) =>
        policedYaml(`${authorization}-${failureMode.toLowerCase()}`, `/${authorization}/${failureMode}`, {
          extAuth: { backendRef: refTo(authorization), failureMode, http: {} },
        }),
      ),
      await backendOf(keys, fault),
      policedYaml(keys, `/${keys}`, {
        jwtAuthentication: {
          providers: [{ issuer: ISSUER, jwks: { remote: { jwksPath: '/keys', backendRef: refTo(keys) } } }],
        },
      }),
      await backendOf(mirror, fault),
      mirroredYaml(mirror),
    )
  }
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(...objects) })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)

test.concurrent.each(FAULTS)(
  'authorization, a server that %s: the failure mode decides in time, and others are served',
  async (fault) => {
    const [closed, open, other] = await Promise.all([
      ask(`/authorization-${fault}/FailClosed`),
      ask(`/authorization-${fault}/FailOpen`),
      ask('/plain'),
    ])
    expect(await refusalOf(gateway, closed)).toEqual([403, 'external authorization failed', 'ext-auth-denied'])
    expect([open.status, other.status]).toEqual([200, 200])
  },
)

test('a server that answers a question twice: the second answer counts for no other question', async () => {
  for (let i = 0; i < 5; i++) expect((await ask('/twice')).status).toBe(403)
})

test('servers of key sets that misbehave: tokens are refused in time, and others are served', async () => {
  const headers = { authorization: `Bearer ${token}` }
  const asked = FAULTS.map(async (fault) => [fault, await refusalOf(gateway, await ask(`/keys-${fault}`, { headers }))])
  expect((await ask('/plain')).status).toBe(200)
  // Requests wait for the first key set until then.
  time.skip(5000)
  const refused = [401, 'authentication failed', 'jwt-keys-unavailable']
  expect(Object.fromEntries(await Promise.all(asked))).toEqual(
    Object.fromEntries(FAULTS.map((fault) => [fault, refused])),
  )
})

test.concurrent.each(FAULTS)('a mirror that %s: the request is served', async (fault) => {
  const response = await ask(`/mirror-${fault}`, { method: 'POST', body: 'the body' })
  expect([response.status, await response.json()]).toMatchObject([200, { body: 'the body' }])
})

/** Copies whose response has begun may take a minute. Millions of chunks take long on a busy machine. */
const SLOW_COPIES = ['stalls-after-head', 'drips-its-body', 'endless-chunks']

test('every call is over, and counted once', async () => {
  const copies = FAULTS.filter((fault) => !SLOW_COPIES.includes(fault))
  const all = {
    ...Object.fromEntries(FAULTS.map((fault) => [`authorization default/authorization-${fault}`, 2])),
    ...Object.fromEntries(copies.map((fault) => [`mirror default/mirror-${fault}`, 1])),
  }
  await eventually('all calls are over', async () => {
    const counts = Object.entries(await callCounts(gateway)).filter(([name]) => name in all)
    expect(Object.fromEntries(counts)).toEqual(all)
    return true
  })
})

test('no misused connection stays open, and no answer but that to a copy is read to its end', async () => {
  const slow = SLOW_COPIES.map((fault) => `mirror-${fault}`)
  const asked = servers.filter(({ name }) => !name.startsWith('keys-') && !slow.includes(name))
  await eventually('connections are closed', () => {
    const open = asked.filter(({ peers }) => peers.some(({ ended }) => !ended))
    expect(open.map(({ name }) => name)).toEqual([])
    return true
  })
  const whole = servers.filter(({ peers }) => peers.some(({ socket }) => tookAll(socket))).map(({ name }) => name)
  expect(whole.filter((name) => !name.startsWith('mirror-'))).toEqual([])
  expect(whole).toContain('mirror-sends-too-much')
})
