import { expect, test } from 'vitest'
import type { PlanItem } from '#plan/item.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import {
  backendItem,
  type FieldName,
  listenerItem,
  livePlan,
  matchOf,
  policyItem,
  routeItem,
  toBackend,
} from '../testing.ts'
import { Decision, decide, isHeadField } from './decide.ts'
import { prepareAttempt } from './prepare-attempt.ts'

const GATEWAY = 'Gateway/default/main'
const ROUTE = 'HTTPRoute/default/r'

/** Sends a request with a Connection field to its endpoint. */
async function sent(connection: string | undefined, ...policies: readonly PlanItem[]) {
  const route = routeItem('r', { backends: toBackend('b') })
  const { plan, socket } = livePlan(listenerItem(), route, backendItem('b'), ...policies)
  const exchange = exchangeWith({ headers: connection === undefined ? {} : { connection } })
  const decision = new Decision()
  const outcome = await decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  const late = outcome ?? (await prepareAttempt(decision.backend!.groups[0]![0]!, exchange, decision))
  return { decision, refused: late?.kind === 'refusal' ? `${late.code}: ${late.detail}` : undefined }
}

test.each([
  'host',
  'Cookie',
  'close, AUTHORIZATION',
  'content-encoding',
  'content-length',
  'Content-Type',
  'forwarded',
  'Proxy-Authorization',
  'X_Forwarded_Proto',
])('a Connection must not name %s', async (connection) => {
  const { refused } = await sent(connection)
  expect(refused).toMatch(/^connection-invalid: Connection names [a-z_-]+, an end-to-end field$/)
})

test.each([undefined, 'close', 'keep-alive', 'te', 'upgrade, http2-settings', 'x-role'])(
  'without a policy it may name %s',
  async (connection) => {
    expect((await sent(connection)).refused).toBeUndefined()
  },
)

const READS = 'default(request.headers["x-role"], "") != "a"'
const rule = (expression: string) => ({ action: 'Require', policy: { matchExpressions: [expression] } })
const fields = (filter: object) => ({ request: filter })
const set = { set: [{ name: 'X-Role', value: 'a' }] }
const computed = { set: [{ name: 'X-Role', value: '"a"' }] }

test.each<[field: FieldName, target: string, spec: object]>([
  ['traffic.authorization', ROUTE, rule(READS)],
  ['traffic.authorization', ROUTE, rule('request.headers.all(name, request.headers[name] != "")')],
  ['PreRouting.authorization', GATEWAY, rule(READS)],
  ['PreRouting.authorization', GATEWAY, rule('!("X_Role" in request.headers)')],
  ['traffic.headerModifiers', ROUTE, fields(set)],
  ['traffic.headerModifiers', ROUTE, fields({ remove: ['x_role'] })],
  ['traffic.transformation', ROUTE, fields(computed)],
  ['traffic.transformation', ROUTE, fields({ remove: ['x-role'] })],
  ['traffic.transformation', ROUTE, { response: { set: [{ name: 'x', value: READS }] } }],
  ['traffic.transformation', ROUTE, { conditional: [{ condition: READS, policy: fields({ remove: ['x'] }) }] }],
  ['traffic.rateLimit', ROUTE, { conditional: [{ condition: READS, policy: { local: [] } }] }],
  ['traffic.directResponse', ROUTE, { conditional: [{ condition: `!(${READS})`, policy: { status: 200 } }] }],
  ['traffic.jwtAuthentication', ROUTE, { mode: 'Optional', location: { header: { name: 'X-Role' } }, providers: [] }],
  [
    'traffic.apiKeyAuthentication',
    ROUTE,
    { mode: 'Optional', location: { header: { name: 'X-Role' } }, secretRef: {} },
  ],
  ['backend.auth', 'ProxyBackend/default/b', { key: 'k', location: { header: { name: 'X-Role' } } }],
  ['backend.transformation', 'ProxyBackend/default/b', fields(computed)],
])('%s at %s: a Connection must not name a field that it reads or writes: %j', async (field, target, spec) => {
  const { refused } = await sent('keep-alive, X-Role', policyItem(field, target, spec))
  expect(refused).toMatch(/^connection-invalid: Connection names x-role, which spec\.\S+ of \w+ \S+ reads or writes$/)
  expect(refused).toContain(field.replace('PreRouting', 'traffic'))
  expect((await sent('close', policyItem(field, target, spec))).refused).toBeUndefined()
})

const byTenant = (hostnames: readonly string[]) => {
  const headers = [{ name: 'x-tenant', type: 'Exact', value: 'a' } as const]
  return routeItem('tenant', {
    attachments: [{ listener: listenerItem().key, hostnames }],
    matches: [matchOf('prefix /', { headers })],
    backends: toBackend('b'),
  })
}

test('a Connection may not name a field that a route of the host matches', async () => {
  const refusal = 'connection-invalid: Connection names x_tenant, which a header match of a route compares'
  expect((await sent('X_Tenant', byTenant([]))).refused).toBe(refusal)
  expect((await sent('X_Tenant', byTenant(['example.com']))).refused).toBe(refusal)
  expect((await sent('X_Tenant', byTenant(['other.test']))).refused).toBeUndefined()
  expect((await sent('x-other', byTenant([]))).refused).toBeUndefined()
})

test('a field that a route match compares is a head field of the request', () => {
  const decision = new Decision()
  decision.match = byTenant([]).matches[0]
  const names = ['X_Tenant', 'x-tenant', 'x-other']
  expect(names.filter((name) => isHeadField('request', name, decision))).toEqual(['X_Tenant', 'x-tenant'])
  expect(names.filter((name) => isHeadField('response', name, decision))).toEqual([])
})

test('fields that the rules of an MCP backend read are protected, those that log expressions read are not', async () => {
  const mcp = backendItem('b', {
    type: 'mcp',
    spec: { targets: [{ name: 't', entry: 't', host: '127.0.0.1', port: 9 }], sessionRouting: 'Stateful' },
  })
  const tools = policyItem('backend.mcp', 'ProxyBackend/default/b', { authorization: rule(READS) })
  const log = policyItem('frontend.accessLog', GATEWAY, { attributes: { add: [{ name: 'r', expression: READS }] } })
  expect((await sent('x-role', mcp, tools)).refused).toContain(
    'spec.backend.mcp.authorization.policy.matchExpressions[0]',
  )
  expect((await sent('x-role', mcp, log)).refused).toBeUndefined()
})

test('fields that policies set or remove are known for requests and responses', async () => {
  const { decision } = await sent(
    undefined,
    policyItem('traffic.headerModifiers', ROUTE, {
      request: { set: [{ name: 'A-1', value: 'x' }], add: [{ name: 'added', value: 'x' }] },
      response: { remove: ['b_1'] },
    }),
    policyItem('traffic.authorization', ROUTE, rule(READS)),
    policyItem('backend.transformation', 'ProxyBackend/default/b', fields({ remove: ['c'] })),
  )
  const names = ['a_1', 'a-1', 'added', 'B-1', 'c', 'x_role', 'other']
  expect(names.filter((name) => isHeadField('request', name, decision))).toEqual(['a_1', 'a-1', 'c', 'x_role'])
  expect(names.filter((name) => isHeadField('response', name, decision))).toEqual(['B-1'])
})
