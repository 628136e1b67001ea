import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { startTokenEndpoint, type TokenEndpoint } from '#test/support/token-endpoint.ts'

/** Tokens of clouds from their endpoint to the requests of two workers. */

const LIFETIME_S = 3
/** What the token endpoint says to an application; by default, a token with a number. */
const says = new Map<string, number>()
const issued: string[] = []
/** How far the time of the gateway is ahead. */
let skippedS = 0

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let endpoint: TokenEndpoint
let objects: ObjectsFolder
let port: number
let echoPort: number

const secret = (name: string, value = `s3cret-of-${name}`) => `
apiVersion: v1
kind: Secret
metadata: { name: ${name} }
stringData: { clientID: ${name}, tenantID: tenant, clientSecret: ${value} }
`
const azure = (name: string) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: { static: { host: 127.0.0.1, port: ${echoPort} }, policies: { auth: { cloudTwo: { secretRef: { name: ${name} } } } } }
`
const chain = () => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec:
  ai:
    groups:
      - providers:
          - name: first
            providerOne: {}
            host: 127.0.0.1
            port: ${echoPort}
            policies: { auth: { cloudTwo: { secretRef: { name: broken } } } }
      - providers:
          - { name: second, providerOne: {}, host: 127.0.0.1, port: ${echoPort}, policies: { auth: { key: second-key } } }
  policies: { ai: { routes: { "*": Passthrough } } }
`
const retrying = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: models }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /models } }]
      retry: { attempts: 1, codes: [503] }
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: models }]
`

beforeAll(async () => {
  endpoint = stops.use(await startTokenEndpoint(() => {}))
  endpoint.answer = (request, response) => {
    const client = /client_id=([^&]*)/.exec(endpoint.seen.at(-1)!)![1]!
    const status = says.get(client) ?? 200
    response.writeHead(status, { 'content-type': 'application/json' })
    if (status !== 200) return response.end(JSON.stringify({ error: 'invalid_client' }))
    const token = `token-${issued.length}-for-${client}`
    issued.push(token)
    // The library that reads it has the time of the system.
    const lifetime = skippedS + (client === 'short' ? LIFETIME_S : 3600)
    // All requests of the start are waiting by then.
    setTimeout(() => response.end(JSON.stringify({ access_token: token, expires_in: lifetime })), 100)
    return request
  }
  says.set('broken', 401)
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  echoPort = echo.port
  port = await freePort()
  objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      ...['steady', 'short', 'broken'].flatMap((name) => [
        secret(name),
        azure(name),
        routeYaml(name, `/${name}`, name),
      ]),
      chain(),
      retrying,
      policyYaml('log', 'Gateway', 'main', {
        frontend: { accessLog: { attributes: { add: [{ name: 'any', expression: 'request.headers["x-any"]' }] } } },
      }),
    ),
  })
  stops.defer(objects.remove)
  vi.stubEnv('AZURE_AUTHORITY_HOST', endpoint.url)
  gateway = stops.use(await startGateway({ files: [objects.path] }))
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await stops.disposeAsync()
})

const send = (path: string, headers: Record<string, string> = {}) => fetch(`${gateway.url(port)}${path}`, { headers })

async function credentialSent(path: string): Promise<string> {
  const response = await send(path)
  expect(response.status).toBe(200)
  const { headers } = (await response.json()) as { headers: Record<string, string> }
  return headers.authorization!
}

function skip(seconds: number): void {
  skippedS += seconds
  time.skip(seconds * 1000)
}

const requestsOf = (client: string) => endpoint.seen.filter((request) => request.includes(`client_id=${client}`))

interface Status {
  readonly credentials: readonly { readonly source: string; fetchedAt?: string; expiresAt?: string; failure?: string }[]
  readonly objects: readonly {
    readonly origin: { readonly name: string }
    readonly findings: readonly { readonly code: string }[]
  }[]
}
const status = async () => (await (await fetch(`${gateway.url(15000)}/status`)).json()) as Status
const sourceOf = async (name: string) =>
  (await status()).credentials.find(({ source }) => source.endsWith(`Secret default/${name}`))

test('requests of all workers get one token, those of the start wait for it', async () => {
  const sent = await Promise.all(Array.from({ length: 20 }, () => credentialSent('/steady')))
  expect(new Set(sent)).toEqual(new Set([expect.stringMatching(/^Bearer token-\d-for-steady$/)]))
  expect(requestsOf('steady')).toHaveLength(1)
})

test('a token is renewed before it expires, and no request fails or waits for that', async () => {
  const tokens = new Set<string>()
  // Until the second renewal.
  while (tokens.size < 3) {
    const token = await credentialSent('/short')
    if (!tokens.has(token)) skip(LIFETIME_S - 1)
    tokens.add(token)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})

test('a source that fails refuses requests to its backend only; status, metrics and log say why', async () => {
  const response = await send('/broken')
  expect([response.status, await response.text()]).toEqual([500, 'backend authentication failed'])
  await credentialSent('/steady')
  const failure = `${endpoint.url} answered 401: invalid_client`
  expect(await sourceOf('broken')).toEqual({ source: expect.any(String), failure })
  expect(await sourceOf('steady')).toMatchObject({ fetchedAt: expect.any(String), expiresAt: expect.any(String) })
  const { objects } = await status()
  const failing = objects.filter(({ findings }) => findings.some(({ code }) => code === 'credential-unavailable'))
  expect(failing.map(({ origin }) => origin.name).sort()).toEqual(['broken', 'models'])
  const metrics = await (await fetch(`${gateway.url(15020)}/metrics`)).text()
  expect(metrics).toMatch(
    /gatewright_credential_fetches_total\{source="token of Azure [^"]*default\/broken",outcome="failed"\} [1-9]/,
  )
  expect(metrics).toMatch(/gatewright_credential_expiry_timestamp_seconds\{source="[^"]*default\/steady"\} 1\d{9}/)
  const line = await eventually(
    'the request is logged',
    () => /.*backend-credential-unavailable.*/.exec(gateway.output.stdout)?.[0],
  )
  expect(line).toContain(failure)
})

test('a provider whose source fails counts as failed, and the next group answers', async () => {
  expect(await credentialSent('/models')).toBe('Bearer second-key')
})

test('tokens do not appear in outputs, even if a client sends them', async () => {
  const token = (await credentialSent('/steady')).slice('Bearer '.length)
  await send('/steady', { 'x-any': `${token} and s3cret-of-steady` })
  const line = await eventually('the request is logged', () => /.* and .*/.exec(gateway.output.stdout)?.[0])
  expect(line).not.toContain(token)
  const dumps = await Promise.all(
    ['/status', '/config_dump', '/decisions'].map((path) => fetch(`${gateway.url(15000)}${path}`)),
  )
  const texts = [gateway.output.stdout, gateway.output.stderr, ...(await Promise.all(dumps.map((dump) => dump.text())))]
  for (const text of texts) for (const hidden of ['s3cret-of', ...issued]) expect(text).not.toContain(hidden)
})

test('another Secret is another source: requests wait for its token', async () => {
  const before = await credentialSent('/steady')
  await objects.write('secret.yaml', secret('unused'))
  const all = joinYaml(
    gatewayYaml(port),
    secret('steady', 'rotated-s3cret-of-steady'),
    azure('steady'),
    routeYaml('steady', '/steady', 'steady'),
  )
  await objects.write('all.yaml', all)
  await eventually('the new secret is used', async () => {
    const sent = await credentialSent('/steady')
    return sent === before ? undefined : sent
  })
  expect(requestsOf('steady').at(-1)).toContain('client_secret=rotated-s3cret-of-steady')
  expect((await status()).credentials).toHaveLength(1)
})
