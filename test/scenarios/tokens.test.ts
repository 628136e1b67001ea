import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { createSigningKey, keySetOf, type SigningKey, signToken } from '#test/support/token-issuer.ts'
import { verifies } from '#test/support/verifies.ts'

const staff = createSigningKey('RSA', 'staff-1')
const shop = createSigningKey('P-256', 'shop-1')
const nextShop = createSigningKey('Ed25519', 'shop-2')

const exp = Math.floor(Date.now() / 1000) + 3600
const STAFF = { iss: 'https://staff.test', aud: 'tools', sub: 'ann', exp }
const SHOP = { iss: 'https://shop.test', sub: 'bob', exp }

const stops = new AsyncDisposableStack()
let folder: ObjectsFolder
let gateway: TestGateway
let port: number

/** Two issuers; `keys` are the shop's. */
function providers(...keys: SigningKey[]) {
  return [
    { issuer: STAFF.iss, audiences: ['tools'], jwks: { inline: keySetOf(staff) } },
    { issuer: SHOP.iss, jwks: { inline: keySetOf(...keys) } },
  ]
}

const authentication = (spec: object = {}, ...keys: SigningKey[]) => ({
  jwtAuthentication: { providers: providers(...(keys.length > 0 ? keys : [shop])), ...spec },
})

const guard = (...keys: SigningKey[]) =>
  policyYaml('guard', 'HTTPRoute', 'all', {
    traffic: {
      ...authentication({}, ...keys),
      authorization: { policy: { matchExpressions: ['jwt.sub in ["ann", "bob"]'] } },
      transformation: { request: { set: [{ name: 'x-user', value: 'jwt.sub' }] } },
    },
  })

const PLACES = { query: { queryParameter: { name: 'token' } }, cookie: { cookie: { name: 'token' } } }

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  const add = [
    { name: 'claims', expression: 'flattenRecursive(jwt)' },
    { name: 'raw', expression: 'jwt.rawToken' },
  ]
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo'),
      ...Object.entries(PLACES).flatMap(([name, location]) => [
        routeYaml(name, `/${name}`, 'echo'),
        policyYaml(name, 'HTTPRoute', name, { traffic: authentication({ location }) }),
      ]),
      routeYaml('through', '/through', 'echo'),
      policyYaml('through', 'HTTPRoute', 'through', {
        traffic: authentication({ mode: 'Permissive' }),
        backend: { auth: { passthrough: {} } },
      }),
      policyYaml('log', 'Gateway', 'main', { frontend: { accessLog: { attributes: { add } } } }),
    ),
    'guard.yaml': guard(shop),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGateway({ files: [folder.path], workers: 2, environment: { GATEWRIGHT_LOG_FORMAT: 'json' } }),
  )
})

afterAll(() => stops.disposeAsync())

function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { headers })
}

const show = (token: string) => ({ authorization: `Bearer ${token}` })

async function seenBy(response: Response): Promise<Echo> {
  expect(response.status).toBe(200)
  return (await response.json()) as Echo
}

function lineWith(text: string): Promise<Record<string, unknown>> {
  return eventually('the line is written', () => {
    const line = gateway.output.stdout.split('\n').find((written) => written.includes(text))
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>)
  }) as Promise<Record<string, unknown>>
}

verifies(
  'traffic.jwtAuthentication/strict-issuer',
  'tokens of two issuers pass, and rules and backends know whose',
  async () => {
    for (const [key, alg, claims] of [[staff, 'RS256', STAFF] as const, [shop, 'ES256', SHOP] as const]) {
      const { headers } = await seenBy(await ask('/who', show(signToken(key, alg, claims))))
      expect(headers['x-user']).toBe(claims.sub)
      expect(headers).not.toHaveProperty('authorization')
    }
  },
)

test('no token, an invalid one, or one of another issuer', async () => {
  const cases: [Record<string, string>, number, string, challenge: string | null][] = [
    [{}, 401, 'authentication required', 'Bearer'],
    [show('x.y.z'), 401, 'authentication failed', 'Bearer error="invalid_token"'],
    [show(signToken(shop, 'ES256', STAFF)), 401, 'authentication failed', 'Bearer error="invalid_token"'],
    [show(signToken(shop, 'ES256', { ...SHOP, sub: 'eve' })), 403, 'authorization failed', null],
  ]
  for (const [headers, status, text, challenge] of cases) {
    const response = await ask('/refused', headers)
    expect([response.status, (await response.text()).trim(), response.headers.get('www-authenticate')]).toEqual([
      status,
      text,
      challenge,
    ])
  }
})

test('the log has the claims and the failure, and never a token', async () => {
  const token = signToken(shop, 'ES256', { ...SHOP, group: { name: 'buyers' } })
  await seenBy(await ask('/logged', show(token)))
  expect(await lineWith('/logged')).toMatchObject({
    'jwt.sub': 'bob',
    'claims.group.name': 'buyers',
    raw: '<redacted>',
  })
  await ask('/late', show(signToken(shop, 'ES256', { ...SHOP, exp: 1_000_000 })))
  expect(JSON.stringify(await lineWith('/late'))).toContain('the token has expired')

  await seenBy(await ask(`/query?logged=1&token=${token}`))
  expect(await lineWith('/query?logged=1')).toMatchObject({ 'http.path': '/query?logged=1&token=<redacted>' })
  expect(gateway.output.stdout).not.toContain(token)
})

verifies('traffic.jwtAuthentication/location', 'a token in the query or a cookie is removed from it', async () => {
  const token = signToken(shop, 'ES256', SHOP)
  expect((await seenBy(await ask(`/query?a=1&token=${token}&b=2`))).path).toBe('/query?a=1&b=2')
  const { headers } = await seenBy(await ask('/cookie', { cookie: `a=1; token=${token}` }))
  expect(headers.cookie).toBe('a=1')
  expect((await ask('/query', show(token))).status).toBe(401)
})

verifies(
  'backend.auth/passthrough',
  'the token is forwarded where the backend expects it; an invalid one is unchanged',
  async () => {
    const good = show(signToken(shop, 'ES256', SHOP))
    for (const headers of [good, show('x.y.z')]) {
      expect((await seenBy(await ask('/through', headers))).headers.authorization).toBe(headers.authorization)
    }
  },
)

test('explain validates as the gateway does', async () => {
  const explain = async (token: string) => {
    const words = ['explain', '-f', folder.path, '-H', `authorization: Bearer ${token}`, `http://127.0.0.1:${port}/who`]
    return (await gatewright(words)).stdout
  }
  expect(await explain(signToken(shop, 'ES256', SHOP))).toContain('x-user: bob')
  expect(await explain(signToken(staff, 'RS256', SHOP))).toContain('of the token is not in the key set')
})

test('a changed key set counts from the edit on, also for tokens that were valid', async () => {
  const old = show(signToken(shop, 'ES256', SHOP))
  const young = show(signToken(nextShop, 'EdDSA', SHOP))
  const statuses = async () => [(await ask('/turn', old)).status, (await ask('/turn', young)).status].join()
  const becomes = (wanted: string) =>
    eventually(`the statuses are ${wanted}`, async () => {
      for (let i = 0; i < 8; i++) if ((await statuses()) !== wanted) return undefined
      return true
    })
  await becomes('200,401')
  await folder.write('guard.yaml', guard(shop, nextShop))
  await becomes('200,200')
  await folder.write('guard.yaml', guard(nextShop))
  await becomes('401,200')
})
