import { expect, test } from 'vitest'
import { type ExchangeInputs, exchangeWith, linesOf } from '#policies/shared/testing.ts'
import { Decision, decide, isHeadField } from '../request/decide.ts'
import { backendItem, listenerItem, livePlan, policyItem, routeItem, toBackend } from '../testing.ts'
import { compileForwardedHeaders, setForwardedHeaders } from './forwarded-headers.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const none = { trustedProxies: [] }
const proxies = { trustedProxies: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'] }

function run(
  setting: { readonly trustedProxies: readonly string[] } | undefined,
  inputs: ExchangeInputs,
  peer: Partial<ReturnType<typeof exchangeWith>['peer']> = {},
) {
  const listener = listenerItem(setting === undefined ? {} : { forwardedHeaders: setting })
  const seen = policyItem('traffic.authorization', 'Gateway/default/main', {
    action: 'Deny',
    policy: { matchExpressions: ['request.headers["x-forwarded-for"] == "6.6.6.6"'] },
  })
  const route = routeItem('r', { backends: toBackend('b') })
  const { plan, socket } = livePlan(listener, route, backendItem('b'), seen)
  const exchange = exchangeWith(inputs)
  Object.assign(exchange.peer, peer)
  const decision = new Decision()
  const outcome = decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  return { exchange, decision, outcome }
}

/** The fields that reach the backend, with a fixed id in place of a new one. */
function sent(...inputs: Parameters<typeof run>): readonly string[] {
  return linesOf(run(...inputs).exchange.request).map((line) => {
    const [name, value = ''] = line.split(': ')
    return `${name}: ${UUID.test(value) ? 'new' : value}`
  })
}

const CLAIMS = {
  'x-forwarded-for': '1.1.1.1',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'shop.test',
  'x-forwarded-port': '443',
  x_forwarded_client_cert: 'Hash=1',
  forwarded: 'for=1.1.1.1',
  'x-real-ip': '1.1.1.1',
  'x-request-id': 'abc-1',
}

test('without the setting nothing changes', () => {
  const fields = Object.entries(CLAIMS).map(([name, value]) => `${name}: ${value}`)
  expect(sent(undefined, { headers: CLAIMS })).toEqual(expect.arrayContaining(fields))
})

test('statements of a client that is not trusted are replaced or removed, in every spelling', () => {
  const headers = { host: 'own.test:8080', ...CLAIMS }
  expect(sent(proxies, { headers }, { remoteAddress: '203.0.113.9' })).toEqual([
    'x-forwarded-for: 203.0.113.9',
    'x-forwarded-proto: http',
    'x-forwarded-host: own.test:8080',
    'x-request-id: new',
  ])
})

test.each([
  ['10.1.2.3', '1.1.1.1, 10.1.2.3'],
  ['192.0.2.1', '1.1.1.1, 192.0.2.1'],
  ['2001:db8::7', '1.1.1.1, 2001:db8::7'],
])('statements of the trusted proxy %s are kept, and its address is added', (remoteAddress, list) => {
  const fields = sent(proxies, { headers: { host: 'own.test', ...CLAIMS } }, { remoteAddress })
  expect(fields).toEqual(
    expect.arrayContaining([
      `x-forwarded-for: ${list}`,
      'x-forwarded-proto: https',
      'x-forwarded-host: shop.test',
      'x-forwarded-port: 443',
      'forwarded: for=1.1.1.1',
      'x-request-id: abc-1',
    ]),
  )
})

test.each(['192.0.2.2', '11.0.0.1', '2001:db9::1', 'fe80::1%eth0', '/run/x.sock'])(
  'the address %s is not in a trusted network',
  (remoteAddress) => {
    expect(sent(proxies, { headers: CLAIMS }, { remoteAddress })).toContain(`x-forwarded-for: ${remoteAddress}`)
  },
)

test('several lines of a trusted proxy become one list', () => {
  const exchange = exchangeWith({ headers: { 'x-forwarded-for': '1.1.1.1' } })
  exchange.request.append('x-forwarded-for', '2.2.2.2')
  Object.assign(exchange.peer, { remoteAddress: '192.0.2.1' })
  setForwardedHeaders(compileForwardedHeaders(listenerItem({ forwardedHeaders: proxies }))!, exchange)
  expect(exchange.request.getAll('x-forwarded-for')).toEqual(['1.1.1.1, 2.2.2.2, 192.0.2.1'])
})

test.each([
  [{ 'x-forwarded-proto': 'gopher' }, 'x-forwarded-proto: http'],
  [{ 'x-forwarded-proto': 'https, http' }, 'x-forwarded-proto: http'],
  [{ 'x-forwarded-host': 'a.test, b.test' }, 'x-forwarded-host: own.test'],
  [{ 'x-request-id': '' }, 'x-request-id: new'],
  [{ 'x-request-id': 'a b' }, 'x-request-id: new'],
  [{ 'x-request-id': 'a'.repeat(129) }, 'x-request-id: new'],
  [{ 'x-request-id': 'a'.repeat(128) }, `x-request-id: ${'a'.repeat(128)}`],
])('%j of a trusted proxy becomes %s', (headers, line) => {
  expect(sent(proxies, { headers: { host: 'own.test', ...headers } }, { remoteAddress: '10.0.0.1' })).toContain(line)
})

test('policies read the fields that the gateway set', () => {
  const headers = { 'x-forwarded-for': '6.6.6.6' }
  expect(run(none, { headers }).outcome).toBeUndefined()
  expect(run(undefined, { headers }).outcome).toMatchObject({ code: 'authorization-denied' })
})

test('with the setting, the fields are not accepted in trailers', () => {
  const { decision } = run(none, {})
  for (const name of ['x-request-id', 'X_Request_Id', 'forwarded', 'x-forwarded-for', 'x-real-ip']) {
    expect(isHeadField('request', name, decision)).toBe(true)
  }
  expect(isHeadField('request', 'x-other', decision)).toBe(false)
  expect(isHeadField('request', 'x-request-id', run(undefined, {}).decision)).toBe(false)
})

test.each(['x-request-id', 'x-real-ip', 'x_forwarded_for'])('Connection cannot remove %s', (name) => {
  const { outcome } = run(none, { headers: { connection: name } })
  expect(outcome).toMatchObject({ code: 'connection-invalid' })
})
