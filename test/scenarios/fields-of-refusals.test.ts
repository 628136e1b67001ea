import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendRef, backendYaml, createObjectsFolder, gatewayYaml, joinYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Every policy that sets response fields, on refusals of each phase. */

const stops = new AsyncDisposableStack()
let port: number

const fields = { set: [{ name: 'x-mark', value: 'set' }] }
const computed = { response: { set: [{ name: 'x-mark', value: '"set"' }] } }
const responseFilter = { type: 'ResponseHeaderModifier', responseHeaderModifier: fields }

/** Policies that refuse ahead of those that change responses. */
const REFUSERS = {
  authentication: [401, { apiKeyAuthentication: { secretRef: { name: 'missing' } } }],
  authorization: [403, { authorization: { action: 'Deny', policy: { matchExpressions: ['true'] } } }],
  limit: [429, { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } }],
  callout: [403, { extAuth: { backendRef: backendRef('closed'), http: {} } }],
} as const

/** The traffic policies of a route that change responses. */
const MARKERS = {
  modifiers: { headerModifiers: { response: fields } },
  transformation: { transformation: computed },
  conditional: { transformation: { conditional: [{ condition: 'request.method == "GET"', policy: computed }] } },
  filter: {},
} as const

function rule(path: string, backend: string, filters: object[] = [], ofReference: object[] = []): object {
  const matches = [{ path: { type: 'PathPrefix', value: path } }]
  return { matches, filters, backendRefs: [{ ...backendRef(backend), filters: ofReference }] }
}

function route(name: string, rules: readonly object[]): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec: ${JSON.stringify({ parentRefs: [{ name: 'main' }], rules })}
`
}

const PAIRS = Object.entries(REFUSERS).flatMap(([refuser, [status, refusing]]) =>
  Object.entries(MARKERS).map(([marker, marking]) => ({ name: `${refuser}-${marker}`, status, refusing, marking })),
)

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  const closed = await freePort()
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      backendYaml('closed', closed),
      ...['unsigned', 'filtered'].map((name) => backendYaml(name, echo.port)),
      ...PAIRS.flatMap(({ name, refusing, marking }) => [
        route(name, [rule(`/${name}`, 'echo', name.endsWith('filter') ? [responseFilter] : [])]),
        policyYaml(name, 'HTTPRoute', name, { traffic: { ...refusing, ...marking } }),
      ]),
      route('backends', [
        rule('/unsigned', 'unsigned'),
        rule('/filtered', 'filtered', [], [responseFilter]),
        rule('/down', 'closed', [responseFilter]),
      ]),
      policyYaml('unsigned', 'ProxyBackend', 'unsigned', {
        backend: { auth: { secretRef: { name: 'missing' } }, transformation: computed },
      }),
      policyYaml('filtered', 'ProxyBackend', 'filtered', { backend: { auth: { secretRef: { name: 'missing' } } } }),
      policyYaml('before', 'Gateway', 'main', {
        traffic: {
          phase: 'PreRouting',
          authorization: {
            action: 'Deny',
            policy: { matchExpressions: ['request.path == "/before"'] },
          },
          transformation: { response: { set: [{ name: 'x-before', value: '"set"' }] } },
        },
      }),
    ),
  })
  stops.defer(objects.remove)
  const gateway = await startGateway({ files: [objects.path] })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)

test.each(PAIRS)('$name: the refusal has the field that the policy sets', async ({ name, status }) => {
  if (status === 429) expect((await ask(`/${name}`)).status).toBe(200)
  const refused = await ask(`/${name}`)
  expect([refused.status, refused.headers.get('x-mark'), refused.headers.get('x-before')]).toEqual([
    status,
    'set',
    'set',
  ])
})

test.each([
  ['a transformation of a backend', '/unsigned', 500],
  ['a filter of a reference to a backend', '/filtered', 500],
  ['a filter of a rule whose backend is down', '/down', 503],
])('%s', async (_, path, status) => {
  const refused = await ask(path)
  expect([refused.status, refused.headers.get('x-mark')]).toEqual([status, 'set'])
})

test.each([
  ['/before', 403],
  ['/nowhere', 404],
])('policies before routing: %s', async (path, status) => {
  const refused = await ask(path)
  expect([refused.status, refused.headers.get('x-before')]).toEqual([status, 'set'])
})
