import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { translate } from '#control/translate.ts'
import { Decision, decide } from '#engine/request/decide.ts'
import { decideRelay } from '#engine/request/decide-relay.ts'
import {
  backendItem,
  listenerItem,
  livePlan,
  policyItem,
  relayRouteItem,
  routeItem,
  toBackend,
} from '#engine/testing.ts'
import type { PlanItem } from '#plan/item.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { readCases } from '#test/cases/golden-case.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { knownItem } from './known-item.ts'
import { secretItem } from './testing.ts'

/** An item of a controller of another version, as it arrives. */
const sent = (item: PlanItem, more: object = {}) => JSON.parse(JSON.stringify({ ...item, ...more })) as PlanItem

for (const { name, given } of readCases(fileURLToPath(new URL('../../test/cases/translate', import.meta.url)))) {
  test(`all that this version translates is known to it: ${name}`, () => {
    const items = [...translate(given.map(admitObject), { allowsExternalNames: true }).items.values()]
    const lacking = items.flatMap((item) =>
      [knownItem(sent(item))].flatMap((known) => known?.lacks ?? (known ? [] : item)),
    )
    expect(lacking).toEqual([])
  })
}

const listener = listenerItem()
const route = routeItem('r', { backends: toBackend('b') })
const backend = backendItem('b')
const ROUTE = 'HTTPRoute/default/r'
const policy = (field: Parameters<typeof policyItem>[0], spec: unknown, more: object = {}) =>
  sent(policyItem(field, ROUTE, spec as never), more)
const BASIC = { mode: 'Strict', users: [] }

/** What becomes of a request when this item of a newer version comes into the plan. */
async function codeWith(item: PlanItem): Promise<string> {
  const plan = [listener, route, backend].filter(({ key }) => key !== item.key)
  const known = knownItem(item)
  if (known === undefined) return 'held back'
  const live = livePlan(...plan, ...(known.item === undefined ? [] : [known.item]))
  const inputs = { index: live.plan.index, socket: live.socket, random: () => 0 }
  const outcome = await decide(inputs, exchangeWith(), new Decision())
  const code = outcome === undefined ? 'served' : outcome.kind === 'refusal' ? outcome.code : outcome.kind
  return known.lacks === undefined ? code : `${code}: ${known.lacks.split(' is of another')[0]}`
}

test.each<[what: string, item: PlanItem, expected: string]>([
  ['a field of traffic', policy('traffic.cors', {}, { field: 'shield' }), 'policy-invalid: traffic.shield'],
  ['a section', policy('traffic.cors', {}, { section: 'shields' }), 'policy-invalid: shields.cors'],
  ['a field of backend', policy('backend.tcp', {}, { field: 'shield' }), 'policy-invalid: backend.shield'],
  [
    'a field of frontend',
    policy('frontend.tcp', {}, { field: 'shield', target: 'Gateway/default/main' }),
    'policy-invalid: frontend.shield',
  ],
  ['a filter', policy('traffic.cors', {}, { field: 'shield', level: 'RouteFilter' }), 'policy-invalid: traffic.shield'],
  ['a level', policy('traffic.timeouts', {}, { level: 'Planet' }), 'policy-invalid: level'],
  ['a member of a policy item', policy('traffic.timeouts', {}, { unless: 'x' }), 'policy-invalid: unless'],
  [
    'a member of a field that protects',
    policy('traffic.basicAuthentication', { ...BASIC, unless: 'x' }),
    'policy-invalid: spec.traffic.basicAuthentication.unless',
  ],
  [
    'a value in a field that protects',
    policy('traffic.basicAuthentication', { ...BASIC, mode: 'Sometimes' }),
    'policy-invalid: spec.traffic.basicAuthentication.mode',
  ],
  [
    'a member of a field that does not',
    policy('traffic.timeouts', { request: '5s', unless: 'x' }),
    'served: spec.traffic.timeouts.unless',
  ],
  ['a type of backend', sent(backend, { type: 'quantum' }), 'backend-invalid: type quantum'],
  ['a field of a backend', sent(backend, { shield: {} }), 'backend-invalid: shield'],
  ['a member of its settings', sent(backend, { spec: { host: 'b', port: 80, via: 'x' } }), 'backend-invalid: spec.via'],
  ['a field of a listener', sent(listener, { clientPins: ['x'] }), 'policy-invalid: clientPins'],
  ['a protocol', sent(listener, { protocol: 'QUIC' }), 'policy-invalid: protocol'],
  ['a field of a listener that may be ignored', sent(listener, { note: 'x', mayIgnore: ['note'] }), 'served'],
  ['a match', sent(route, { matches: [{ ...route.matches[0], cookies: [] }] }), 'no-valid-backends: matches.cookies'],
  ['a field of a gateway', { kind: 'gateway', key: 'Gateway/default/main', shield: {} } as never, 'held back'],
  ['a field of a Secret', sent(secretItem('s', {}), { version: 2 }), 'served: version'],
  ['a kind of policy', policy('traffic.cors', {}, { kind: 'shield' }), 'policy-invalid: the kind shield'],
  ['a kind of route', sent(route, { kind: 'udp-route' }), 'held back'],
  ['another kind', { kind: 'note', key: 'Note/default/a' } as never, 'served: the kind note'],
])('%s of a newer version', async (_, item, expected) => {
  expect(await codeWith(item)).toBe(expected)
})

test('connections at a listener and to a backend with something newer are refused', () => {
  const tcp = listenerItem({ protocol: 'TCP' })
  const relay = relayRouteItem('r', [])
  const refusalWith = (...items: readonly PlanItem[]) => {
    const { plan, socket } = livePlan(...items.map((item) => knownItem(item)!.item!))
    const [found] = [socket.serverNames.first('', (each) => each)]
    if (found?.carries !== 'bytes') throw new Error('no listener for connections')
    return decideRelay({ index: plan.index, random: () => 0 }, found, '').refusal?.code
  }
  expect(refusalWith(tcp, relay, backend)).toBeUndefined()
  expect(refusalWith(sent(tcp, { clientPins: [] }), relay, backend)).toBe('policy-invalid')
  expect(refusalWith(tcp, sent(relay, { shield: {} }), backend)).toBe('no-valid-backends')
  expect(refusalWith(tcp, relay, sent(backend, { shield: {} }))).toBe('backend-invalid')
})
