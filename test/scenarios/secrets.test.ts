import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { gatewright } from '#test/support/command-line.ts'
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

const _ROOT = join(import.meta.dirname, '..', '..')
const PROVIDER_KEY = 'sk-upstream-12345'
const INLINE_KEY = 'sk-inline-67890'
const SHORT_KEY = 'k-short'
const FILE_KEY = 'sk-in-a-file-1'
const ENV_KEY = 'sk-in-a-variable-1'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let objects: ObjectsFolder
let port: number

const backend = (name: string, at: number, auth: string) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: { static: { host: 127.0.0.1, port: ${at} }, policies: { auth: ${auth} } }
`

const secret = (value: string) => `
apiVersion: v1
kind: Secret
metadata: { name: provider }
stringData: { Authorization: ${value} }
`

/** A Secret whose values are not in it. */
const outside = `
apiVersion: v1
kind: Secret
metadata: { name: outside }
dataFrom: { Authorization: { file: provider.key }, other: { env: PROVIDER_KEY } }
`

const settings = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: tells-too-much }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }]
  frontend:
    accessLog:
      attributes:
        add: [{ name: any, expression: 'request.headers["x-any"]' }, { name: all, expression: '{"in": [request.path + "&key=9"]}' }]
    metrics: { attributes: { add: [{ name: any, expression: 'request.headers["x-any"]' }] } }
  traffic:
    headerModifiers: { request: { set: [{ name: X-Goog-Api-Key, value: AIza }, { name: x-plain, value: plain }] } }
`

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('by-secret', echo.port, '{ secretRef: { name: provider } }'),
      outside,
      backend('by-file', echo.port, '{ secretRef: { name: outside } }'),
      routeYaml('by-file', '/by-file', 'by-file'),
      backend('inline', echo.port, `{ key: ${INLINE_KEY} }`),
      backend('own-field', echo.port, `{ key: ${SHORT_KEY}, location: { header: { name: x-own } } }`),
      routeYaml('by-secret', '/', 'by-secret'),
      routeYaml('inline', '/inline', 'inline'),
      routeYaml('own-field', '/own-field', 'own-field'),
      settings,
    ),
    'secret.yaml': secret(PROVIDER_KEY),
    'provider.key': FILE_KEY,
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1, environment: { PROVIDER_KEY: ENV_KEY } })
  stops.use(gateway)
})
afterAll(() => stops.disposeAsync())

async function ask(path: string, any: string): Promise<void> {
  const response = await fetch(gateway.url(port) + path, { headers: { 'x-any': any } })
  expect(response.status).toBe(200)
  await response.text()
}

const admin = async (path: string) => (await fetch(`${gateway.url(15_000)}${path}`)).text()

test('no value of a Secret, and no token of a query, leaves in log, records or metrics', async () => {
  await ask('/a?access_token=t0p-s3cret&x=1', `it is ${PROVIDER_KEY}, yes`)
  await ask(`/c/${INLINE_KEY}/d`, 'harmless')
  await ask(`/b?q=${INLINE_KEY}`, 'harmless')
  const line = await eventually('both lines', () => {
    const lines = gateway.output.stdout.split('\n')
    return lines.some((each) => each.includes('http.path="/b')) && lines.find((each) => each.includes('http.path="/a'))
  })
  expect(line).toContain('http.path="/a?access_token=<redacted>&x=1"')
  expect(line).toContain('any="it is <redacted>, yes"')
  expect(gateway.output.stdout).toContain('http.path=/c/<redacted>/d')
  const decisions = await admin('/decisions')
  expect(decisions).toContain('"target": "/a?access_token=<redacted>&x=1"')
  expect(decisions).toContain('"target": "/b?q=<redacted>"')
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  expect(metrics).toContain('any="it is <redacted>, yes"')
  for (const text of [gateway.output.stdout, decisions, metrics]) {
    for (const value of ['t0p-s3cret', PROVIDER_KEY, INLINE_KEY]) expect(text).not.toContain(value)
  }
})

test('/config_dump shows no key, wherever it was written', async () => {
  const dump = await admin('/config_dump')
  for (const value of [PROVIDER_KEY, INLINE_KEY, SHORT_KEY, 'AIza']) expect(dump).not.toContain(value)
  expect(dump).toContain('"value": "plain"')
  const page = await admin('/')
  for (const value of [PROVIDER_KEY, INLINE_KEY, SHORT_KEY, 'AIza', 't0p-s3cret']) expect(page).not.toContain(value)
  expect(page).toContain('GET /a?access_token=&#60;redacted&#62;&#38;x=1')
  expect(page).toMatch(/ProxyBackend\/default\/inline<\/td><td[^>]*><code>127\.0\.0\.1:\d+<\/code><\/td><td[^>]*>100 %/)
  expect(page).toContain('accepts connections')
  expect(await admin('/status')).not.toContain(PROVIDER_KEY)
})

test('a Secret that changes is hidden with its new value', async () => {
  await objects.write('secret.yaml', secret('sk-rotated-777'))
  await eventually('the log hides it', async () => {
    await ask('/rotated', 'now sk-rotated-777')
    return gateway.output.stdout
      .split('\n')
      .some((line) => line.includes('/rotated') && line.includes('any="now <redacted>"'))
  })
})

test('a value from a file or the environment is sent, hidden like any other, and follows its file', async () => {
  const authorization = async (any: string) => {
    const response = await fetch(`${gateway.url(port)}/by-file`, { headers: { 'x-any': any } })
    return ((await response.json()) as { headers: Record<string, string> }).headers.authorization
  }
  expect(await authorization(`are ${FILE_KEY} and ${ENV_KEY}`)).toBe(`Bearer ${FILE_KEY}`)
  await eventually('the log hides them', () => gateway.output.stdout.includes('any="are <redacted> and <redacted>"'))
  await objects.write('provider.key', 'sk-in-a-file-2')
  await eventually('the file has been read again', async () => (await authorization('')) === 'Bearer sk-in-a-file-2')
  await authorization('is sk-in-a-file-2')
  await eventually('the log hides it', () => gateway.output.stdout.includes('any="is <redacted>"'))
  const shown = (await admin('/config_dump')) + (await admin('/status')) + gateway.output.stdout + gateway.output.stderr
  for (const value of [FILE_KEY, ENV_KEY, 'sk-in-a-file-2']) expect(shown).not.toContain(value)
})

test('lint names a variable that is not set, and the place that names it', async () => {
  const { code, stdout } = await lint()
  expect(stdout).toContain(
    'all.yaml:18:61: error: dataFrom[other].env: environment variable PROVIDER_KEY is not set [variable-missing]\n',
  )
  expect(code).toBe(1)
})

const lint = () => gatewright(['lint', objects.path])

async function explain(...words: string[]): Promise<string> {
  return (await gatewright(['explain', '-f', objects.path, ...words], { PROVIDER_KEY: ENV_KEY })).stdout
}

test('explain hides the keys that it injects, unless --show-secrets is set', async () => {
  const url = `http://localhost:${port}`
  const hidden = await explain(
    `${url}/a?access_token=t0p-s3cret`,
    '-H',
    'cookie: session=1',
    '-H',
    'x-any: it is sk-inline-67890',
  )
  expect(hidden).toContain(`GET ${url}/a?access_token=<redacted>\n`)
  for (const line of [
    'authorization: <redacted>',
    'cookie: <redacted>',
    'x-goog-api-key: <redacted>',
    'x-any: it is <redacted>',
  ]) {
    expect(hidden.toLowerCase()).toContain(`  ${line}\n`)
  }
  expect(hidden).toContain('GET /a?access_token=<redacted> HTTP/1.1')
  expect(hidden).not.toMatch(/t0p-s3cret|sk-rotated|sk-inline|AIza|session=1/)
  expect(await explain(`${url}/inline`)).toContain('authorization: <redacted>')
  expect(await explain(`${url}/own-field`), 'a place of its own, a short key').toContain('x-own: <redacted>')
  const shown = await explain('--show-secrets', `${url}/inline?access_token=t0p-s3cret`)
  expect(shown).toContain(`authorization: Bearer ${INLINE_KEY}`)
  expect(shown).toContain('GET /inline?access_token=t0p-s3cret HTTP/1.1')
  expect(await explain('--show-secrets', `${url}/own-field`)).toContain(`x-own: ${SHORT_KEY}`)
})

test('problems of an object are reported without its secrets', async () => {
  const wrong = joinYaml(
    `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: wrong }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }]
  traffic: { authorization: { policy: { matchExpressions: ['request.headrs["a"] == "${INLINE_KEY}"'] } } }
`,
  )
  await objects.write('wrong.yaml', wrong)
  await eventually('it is said', () => gateway.output.stderr.includes('request.headrs["a"]'))
  expect(gateway.output.stderr).toContain('request.headrs["a"] == "<redacted>"')
  expect(gateway.output.stderr).not.toContain(INLINE_KEY)
  expect(await admin('/status')).not.toContain(INLINE_KEY)
})
