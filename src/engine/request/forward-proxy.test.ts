import { expect, test } from 'vitest'
import type { Finding } from '#base/finding.ts'
import type { ListenerItem, PlanItem, RelayRouteItem } from '#plan/item.ts'
import { type ExchangeInputs, exchangeWith } from '#policies/shared/testing.ts'
import { verifies } from '#test/support/verifies.ts'
import { chooseDestination } from '../backend/destinations.ts'
import { PlanCheck } from '../plan/check-plan.ts'
import type { LiveRelayListener } from '../route/live-listener.ts'
import { backendItem, listenerItem, livePlan, policyItem, routeItem, stateOf, toBackend } from '../testing.ts'
import { Decision, decide } from './decide.ts'
import { decideRelay } from './decide-relay.ts'
import { prepareAttempt } from './prepare-attempt.ts'

const OPEN = backendItem('open', { type: 'dynamicForwardProxy', spec: {} })
const OPEN_KEY = 'ProxyBackend/default/open'

async function attemptFor(inputs: ExchangeInputs, ...policies: readonly PlanItem[]) {
  const { plan, socket } = livePlan(listenerItem(), routeItem('r', { backends: toBackend('open') }), OPEN, ...policies)
  const exchange = exchangeWith(inputs)
  const decision = new Decision()
  await decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  const outcome = await prepareAttempt(decision.backend!.groups[0]![0]!, exchange, decision)
  const { place } = decision
  const destination = place && chooseDestination(place.destinations, exchange, '')
  return { outcome, place, destination, exchange }
}

const named = (host: string): ExchangeInputs => ({ headers: { host } })

verifies('backend.dynamicForwardProxy/host-header', 'the host of a request is its destination', async () => {
  const { outcome, place, destination, exchange } = await attemptFor(named('api.example.com:8080'))
  expect(outcome).toBeUndefined()
  expect(place!.label).toBe('api.example.com:8080')
  expect(destination).toMatchObject({ host: 'api.example.com', port: 8080, chosenByClient: true, http: 'http1' })
  expect(exchange.request.authority).toBe('api.example.com:8080')
  expect((await attemptFor(named('api.example.com'))).destination).toMatchObject({ port: 80 })
})

test('connections are not shared with backends whose address is configured', async () => {
  const { destination } = await attemptFor(named('api.example.com'))
  expect(destination!.key).toBe('chosen api.example.com:80')
})

test('the credential of the client for a proxy server is not sent to the destination', async () => {
  const headers = { host: 'api.example.com', 'proxy-authorization': 'Basic Y2FydHM6cHc=', authorization: 'Bearer own' }
  const { exchange } = await attemptFor({ headers })
  expect(exchange.request.get('proxy-authorization')).toBeUndefined()
  expect(exchange.request.get('authorization')).toBe('Bearer own')
})

test('the host after backend policies counts', async () => {
  const set = policyItem('backend.transformation', OPEN_KEY, {
    request: { set: [{ name: ':authority', value: '"other.test:81"' }] },
  })
  expect((await attemptFor(named('api.example.com'), set)).place!.label).toBe('other.test:81')
})

test('with backend.tls the port is 443 and the server name is the host; addresses have none', async () => {
  const tls = policyItem('backend.tls', OPEN_KEY, {})
  const { destination } = await attemptFor(named('api.example.com'), tls)
  expect(destination).toMatchObject({
    host: 'api.example.com',
    port: 443,
    tls: { serverName: 'api.example.com', verify: 'full' },
  })
  expect((await attemptFor(named('192.0.2.1'), tls)).destination!.tls!.serverName).toBeUndefined()
  const fixed = policyItem('backend.tls', OPEN_KEY, { sni: 'fixed.test' })
  expect((await attemptFor(named('api.example.com'), fixed)).destination!.tls!.serverName).toBe('fixed.test')
})

test.each([
  ['127.0.0.1', 'destination-not-allowed', '127.0.0.1 is a loopback address'],
  ['0x7f.1', 'destination-not-allowed', '0x7f.1 is not the usual spelling of an address'],
  ['a:0', 'host-invalid', 'a:0 names no destination'],
])('a request for %s is refused: %s', async (host, code, detail) => {
  expect((await attemptFor(named(host))).outcome).toMatchObject({ kind: 'refusal', code, detail })
})

test('the health of the backend has one slot, whatever clients name, and nothing is evicted', async () => {
  const health = policyItem('backend.health', OPEN_KEY, { eviction: { consecutiveFailures: 1 } })
  const { plan, socket } = livePlan(listenerItem(), routeItem('r', { backends: toBackend('open') }), OPEN, health)
  const decision = new Decision()
  await decide({ index: plan.index, socket, random: () => 0 }, exchangeWith(named('a.test')), decision)
  const [[endpoint]] = decision.backend!.groups as [[NonNullable<typeof decision.endpoint>]]
  expect(endpoint.label).toBe('*')
  for (let i = 0; i < 5; i++) endpoint.health.recordUnhealthy('no response')
  expect(endpoint.health.evicted).toBe(false)
})

// Server names.

const PASSTHROUGH = listenerItem({ protocol: 'TLS', tlsMode: 'Passthrough' })

function relayRoute(): RelayRouteItem {
  const route = { kind: 'TLSRoute', namespace: 'default', name: 'r' } as const
  return {
    kind: 'relay-route',
    key: 'TLSRoute/default/r/0',
    route,
    rule: 0,
    ruleName: undefined,
    created: '',
    attachments: [{ listener: PASSTHROUGH.key, hostnames: [] }],
    backends: toBackend('open'),
    origin: route,
  }
}

function relayTo(serverName: string, listener: ListenerItem = PASSTHROUGH, ...policies: readonly PlanItem[]) {
  const { plan, socket } = livePlan(listener, relayRoute(), OPEN, ...policies)
  const live = socket.serverNames.first('', (it) => it) as LiveRelayListener
  const { place, refusal } = decideRelay({ index: plan.index, random: () => 0 }, live, serverName)
  return place?.label ?? refusal?.code
}

verifies('backend.dynamicForwardProxy/tls-sni', 'the server name of a TLS connection is its destination', () => {
  expect(relayTo('db.example.com')).toBe('db.example.com:443')
})

test('TLS that ends at the gateway goes to port 80, or with backend.tls to port 443', () => {
  const terminated = listenerItem({ protocol: 'TLS', tlsMode: 'Terminate' })
  expect(relayTo('db.example.com', terminated)).toBe('db.example.com:80')
  expect(relayTo('db.example.com', terminated, policyItem('backend.tls', OPEN_KEY, {}))).toBe('db.example.com:443')
})

test.each([
  ['', 'host-invalid'],
  ['localhost.', 'localhost:443'],
  ['127.0.0.1', 'destination-not-allowed'],
])('a connection with the server name %j: %s', (serverName, result) => {
  expect(relayTo(serverName)).toBe(result)
})

// Findings.

function findings(...items: readonly PlanItem[]): string[] {
  const { problems } = new PlanCheck(stateOf()).take({ set: items, removed: [] })
  const all: Finding[] = [...problems.values()].flat()
  return all.map(({ path, code, severity, origin }) => `${origin.kind} ${path} ${severity} ${code}`)
}

const ROUTE = 'HTTPRoute/default/r'
const GATEWAY = 'Gateway/default/main'
const WARNING = 'HTTPRoute spec.rules[0].backendRefs[0] warning open-forward-proxy'

function openRoute() {
  return routeItem('r', { backends: [{ backend: OPEN_KEY, weight: 1, path: 'spec.rules[0].backendRefs[0]' }] })
}

const allow = { action: 'Allow', policy: { matchExpressions: ['source.address == "10.0.0.1"'] } }
const keys = (mode: string) => ({ mode, secretRef: { name: 'keys' } })

test.each<[what: string, policies: readonly PlanItem[], warns: boolean]>([
  ['nothing', [], true],
  ['a rate limit', [policyItem('traffic.rateLimit', ROUTE, { local: [{ requests: 1, unit: 'Seconds' }] })], true],
  ['optional API keys', [policyItem('traffic.apiKeyAuthentication', ROUTE, keys('Optional'))], true],
  ['API keys', [policyItem('traffic.apiKeyAuthentication', ROUTE, keys('Strict'))], false],
  ['authorization of the rule', [policyItem('traffic.authorization', ROUTE, allow)], false],
  ['authorization of the Gateway', [policyItem('traffic.authorization', GATEWAY, allow)], false],
  [
    'authorization before routing',
    [policyItem('traffic.authorization', GATEWAY, allow, { phase: 'PreRouting' })],
    false,
  ],
  ['network authorization', [policyItem('frontend.networkAuthorization', GATEWAY, allow)], false],
])('a route to any destination with %s', (_, policies, warns) => {
  const found = findings(listenerItem(), openRoute(), OPEN, ...policies)
  expect(found.filter((line) => line.includes('open-forward-proxy'))).toEqual(warns ? [WARNING] : [])
})

test('client certificates restrict clients if they are required', () => {
  const withMode = (mode: 'AllowValidOnly' | 'AllowInsecureFallback') =>
    findings(listenerItem({ clientValidation: { authorities: [], mode } }), openRoute(), OPEN).includes(WARNING)
  expect([withMode('AllowValidOnly'), withMode('AllowInsecureFallback')]).toEqual([false, true])
})

test('connections to any server name are reported too', () => {
  const found = findings(PASSTHROUGH, relayRoute(), OPEN)
  expect(found).toEqual(['TLSRoute spec.rules[0].backendRefs[0] warning open-forward-proxy'])
  const denied = policyItem('frontend.networkAuthorization', GATEWAY, allow)
  expect(findings(PASSTHROUGH, relayRoute(), OPEN, denied)).toEqual([])
})

test('a credential for any destination, and eviction, are reported', () => {
  const auth = policyItem('backend.auth', OPEN_KEY, { key: 'secret' })
  const health = policyItem('backend.health', OPEN_KEY, { eviction: {} })
  const found = findings(listenerItem(), openRoute(), OPEN, auth, health)
  expect(found.map((line) => line.split(' ').slice(-2).join(' ')).toSorted()).toEqual([
    'warning credential-for-any-destination',
    'warning no-effect',
    'warning open-forward-proxy',
  ])
})
