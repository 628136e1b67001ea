import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { type KeySetServer, startKeySetServer } from '#test/support/key-set-server.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'
import { createSigningKey, type SigningKey, signToken } from '#test/support/token-issuer.ts'
import { verifies } from '#test/support/verifies.ts'

const ISSUER = 'https://id.test'
const exp = Math.floor(Date.now() / 1000) + 3600
const keyOf = (kid: string) => createSigningKey('P-256', kid)
const first = keyOf('first')
const second = keyOf('second')
const unknown = keyOf('unknown')

const tokenOf = (key: SigningKey, sub = 'ann') => signToken(key, 'ES256', { iss: ISSUER, sub, exp })

const NAMES = ['static', 'service', 'tls', 'rotating', 'failing', 'spoiled', 'slow', 'late', 'left', 'moved'] as const
type Name = (typeof NAMES)[number]

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
const servers = {} as Record<Name, KeySetServer>
let folder: ObjectsFolder
let gateway: TestGateway
let port: number
let latePort: number
let echoPort: number
let release: Record<'slow' | 'left', () => void>

function authentication(backendRef: object, jwksPath = '/keys', more: object = {}) {
  return {
    traffic: {
      jwtAuthentication: { providers: [{ issuer: ISSUER, jwks: { remote: { jwksPath, backendRef } } }], ...more },
      transformation: { request: { set: [{ name: 'x-user', value: 'jwt.sub' }] } },
    },
  }
}

/** A route that demands tokens, whose keys come from ProxyBackend `<name>-keys`. */
function guardedYaml(
  name: Name,
  keysPort: number,
  ...more: Parameters<typeof authentication> extends [object, ...infer R] ? R : never
) {
  return joinYaml(
    routeYaml(name, `/${name}`, 'echo'),
    backendYaml(`${name}-keys`, keysPort),
    policyYaml(name, 'HTTPRoute', name, authentication(backendRef(`${name}-keys`), ...more)),
  )
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  echoPort = echo.port
  for (const name of NAMES) {
    if (name === 'late') continue
    const tls = name === 'tls' ? { tls: CERTIFICATES.server } : {}
    servers[name] = await startKeySetServer([name === 'moved' ? second : first], tls)
    stops.defer(() => servers[name].close())
  }
  release = { slow: servers.slow.hold(), left: servers.left.hold() }
  port = await freePort()
  latePort = await freePort()
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echoPort),
      // With and without the slash.
      guardedYaml('static', servers.static.port, 'realms/shop/certs?v=1'),
      guardedYaml('rotating', servers.rotating.port),
      guardedYaml('failing', servers.failing.port),
      guardedYaml('spoiled', servers.spoiled.port),
      guardedYaml('slow', servers.slow.port),
      guardedYaml('left', servers.left.port),
      guardedYaml('late', latePort),
      guardedYaml('tls', servers.tls.port),
      policyYaml('trust', 'ProxyBackend', 'tls-keys', {
        backend: { tls: { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' }, auth: { key: 'k3y' } },
      }),
      authoritiesYaml('trusted', CERTIFICATES.ca),
      serviceYaml('keys', [servers.service.port]),
      routeYaml('service', '/service', 'echo'),
      policyYaml('service', 'HTTPRoute', 'service', authentication({ name: 'keys', port: 80 })),
      routeYaml('moved', '/moved', 'echo'),
      backendYaml('moved-keys', servers.moved.port),
    ),
    'moved.yaml': policyYaml('moved', 'HTTPRoute', 'moved', authentication(backendRef('static-keys'))),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

const ask = (name: Name, token: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}/${name}`, { ...init, headers: { authorization: `Bearer ${token}` } })

/** Enough for both workers to be among them. */
const TRIES = 16

async function statusesOf(name: Name, token: string, count = TRIES): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: count }, () => ask(name, token)))
  return [...new Set(responses.map(({ status }) => status))].sort()
}

async function userSeen(name: Name, token: string): Promise<string> {
  const response = await ask(name, token)
  expect(response.status).toBe(200)
  return String(((await response.json()) as Echo).headers['x-user'])
}

interface Status {
  readonly keySets: readonly { readonly backend: string; readonly path: string; fetchedAt?: string; failure?: string }[]
  readonly objects: readonly {
    readonly origin: { readonly kind: string; readonly name: string }
    readonly findings: readonly { readonly code: string; readonly path: string; readonly message: string }[]
  }[]
}

async function status(): Promise<Status> {
  return (await (await fetch(`${gateway.url(15_000)}/status`)).json()) as Status
}

async function findingsOf(name: Name): Promise<string[]> {
  const { objects } = await status()
  const found = objects.find(({ origin }) => origin.kind === 'ProxyPolicy' && origin.name === name)
  return found!.findings.map(({ code, path, message }) => `${code} ${path}: ${message}`)
}

async function keySetOf(name: Name) {
  return (await status()).keySets.find(({ backend }) => backend === `ProxyBackend/default/${name}-keys`)
}

async function metric(start: string): Promise<string | undefined> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  return text.split('\n').find((line) => line.startsWith(start))
}

async function logLineOf(name: Name, status: number): Promise<string> {
  return eventually('the line is written', () =>
    gateway.output.stdout
      .split('\n')
      .find((line) => line.includes(`/${name}`) && line.includes(`http.status=${status}`)),
  )
}

// First, while the first fetch is under way.
test('requests that arrive before the key set wait for it, and one whose client disconnects delays no other', async () => {
  await eventually(
    'the key sets are being fetched',
    () => servers.slow.requests.length + servers.left.requests.length === 2,
  )
  let settled = 0
  const waiting = Array.from({ length: 8 }, () => ask('slow', tokenOf(first)).finally(() => settled++))
  const leaving = new AbortController()
  const left = ask('left', tokenOf(first), { signal: leaving.signal }).catch(() => 'left')
  const bad = await ask('slow', signToken(first, 'ES256', { iss: ISSUER, exp: 1 }))
  expect(bad.status, 'a token that no key makes valid does not wait').toBe(401)
  expect(settled).toBe(0)
  leaving.abort()
  expect(await left).toBe('left')
  release.slow()
  release.left()
  for (const response of await Promise.all(waiting)) expect(response.status).toBe(200)
  expect(await userSeen('left', tokenOf(first, 'bob'))).toBe('bob')
  expect([servers.slow.requests, servers.left.requests]).toEqual([['GET /keys'], ['GET /keys']])
})

test('an unreachable server: 401, with the cause in status, log and metrics; once it is reachable, tokens are valid', async () => {
  const [finding] = await eventually('the status says so', async () => {
    const findings = await findingsOf('late')
    return findings.length > 0 ? findings : undefined
  })
  const where = `GET /keys of ProxyBackend/default/late-keys: connection-refused`
  expect(finding).toContain(
    `key-set-not-fetched spec.traffic.jwtAuthentication.providers[0].jwks.remote: the key set cannot be fetched, and tokens of ${ISSUER} are refused until it can: ${where}`,
  )
  const asked = ask('late', tokenOf(first))
  // Requests wait for the first key set until then.
  time.skip(5000)
  const response = await asked
  expect([response.status, response.headers.get('www-authenticate'), (await response.text()).trim()]).toEqual([
    401,
    'Bearer error="invalid_token"',
    'authentication failed',
  ])
  const line = await logLineOf('late', 401)
  expect(line).toContain('code=jwt-keys-unavailable')
  expect(line).toContain('the key set of the issuer has not been fetched (GET /keys of ProxyBackend/default/late-keys)')
  expect(await keySetOf('late')).toEqual({
    backend: 'ProxyBackend/default/late-keys',
    path: '/keys',
    failure: expect.stringContaining('connection-refused'),
  })
  expect(await metric('gatewright_key_set_fetches_total{backend="default/late-keys"')).toMatch(
    /outcome="failed"\} [1-9]/,
  )
  expect(await metric('gatewright_key_set_fetched_timestamp_seconds{backend="default/late-keys"')).toMatch(/ 0$/)

  servers.late = await startKeySetServer([first], { port: latePort })
  stops.defer(() => servers.late.close())
  time.skip(10_000)
  await eventually('tokens pass', async () => (await statusesOf('late', tokenOf(first))).join() === '200')
  expect(await findingsOf('late')).toEqual([])
})

verifies(
  ['traffic.jwtAuthentication.jwks/remote-fetch', 'traffic.jwtAuthentication.jwks/backendRef-kinds'],
  'keys of a static ProxyBackend and of a Service, fetched once for all workers',
  async () => {
    expect(await userSeen('static', tokenOf(first))).toBe('ann')
    expect(await statusesOf('static', tokenOf(first))).toEqual([200])
    expect(await statusesOf('static', tokenOf(second))).toEqual([401])
    // The second is what the unknown key caused.
    expect(servers.static.requests.filter((line) => line.includes('realms'))).toEqual([
      'GET /realms/shop/certs?v=1',
      'GET /realms/shop/certs?v=1',
    ])
    expect(await statusesOf('service', tokenOf(first))).toEqual([200])
    expect(servers.service.requests).toEqual(['GET /keys'])
    expect(await metric('gatewright_call_duration_seconds_count{purpose="key-set",backend="default/keys"')).toMatch(
      /outcome="2xx"\} 1$/,
    )
  },
)

verifies('traffic.jwtAuthentication.jwks/backend-tls', 'a TLS policy of the backend applies to the fetch', async () => {
  expect(await statusesOf('tls', tokenOf(first))).toEqual([200])
})

test('rotation: a burst of tokens with a new key causes one fetch, and all of them pass', async () => {
  expect(await statusesOf('rotating', tokenOf(first))).toEqual([200])
  servers.rotating.publish(second)
  expect(await statusesOf('rotating', tokenOf(second), 40)).toEqual([200])
  expect(servers.rotating.requests).toHaveLength(2)
  expect(await statusesOf('rotating', tokenOf(first)), 'a key that was taken out counts no more').toEqual([401])
  expect(await statusesOf('rotating', tokenOf(unknown), 40)).toEqual([401])
  expect(servers.rotating.requests, 'further unknown keys cause none for a while').toHaveLength(2)
})

test('a server that becomes unreachable: the last valid keys stay in use, and the status reports it', async () => {
  expect(await statusesOf('failing', tokenOf(first))).toEqual([200])
  await servers.failing.close()
  expect((await ask('failing', tokenOf(unknown))).status).toBe(401)
  expect(await statusesOf('failing', tokenOf(first))).toEqual([200])
  const finding = await eventually('the status says so', async () => (await findingsOf('failing'))[0])
  expect(finding).toMatch(
    /^key-set-stale spec\.traffic\.jwtAuthentication\.providers\[0\]\.jwks\.remote: the key set cannot be fetched again; the keys fetched at 20\S+Z stay in use: GET \/keys of ProxyBackend\/default\/failing-keys: (?:connection-refused|reset)/,
  )
  expect(await keySetOf('failing')).toMatchObject({ fetchedAt: expect.any(String), failure: expect.any(String) })
})

test('an invalid key set: the last valid one stays, and the status has the problem', async () => {
  expect(await statusesOf('spoiled', tokenOf(first))).toEqual([200])
  servers.spoiled.answer(200, '{"keys":[{"kty":"oct","k":"AAAA"}]}')
  expect((await ask('spoiled', tokenOf(unknown))).status).toBe(401)
  expect(await statusesOf('spoiled', tokenOf(first))).toEqual([200])
  const finding = await eventually('the status says so', async () => (await findingsOf('spoiled'))[0])
  expect(finding).toContain('the response has no usable key')
})

test('another backendRef counts from the edit on', async () => {
  await eventually(
    'the first server is asked',
    async () => (await statusesOf('moved', tokenOf(first))).join() === '200',
  )
  const yaml = policyYaml('moved', 'HTTPRoute', 'moved', authentication(backendRef('moved-keys')))
  await folder.write('moved.yaml', yaml)
  await eventually('the other one is', async () => {
    const statuses = [await statusesOf('moved', tokenOf(first)), await statusesOf('moved', tokenOf(second))]
    return statuses.join() === '401,200'
  })
})

test('explain fetches nothing and describes what a gateway would do', async () => {
  const before = servers.static.requests.length
  const url = `http://127.0.0.1:${port}/static`
  const words = ['explain', '-f', folder.path, '-H', `authorization: Bearer ${tokenOf(first)}`, url]
  const { stdout, code } = await gatewright(words)
  expect(stdout).toContain(
    'without --call, the key set of the issuer is not fetched (GET /realms/shop/certs?v=1 of ProxyBackend/default/static-keys)',
  )
  expect(code).toBe(1)
  expect(servers.static.requests).toHaveLength(before)
})
