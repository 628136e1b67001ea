import { expect, test } from 'vitest'
import { admitObject } from '#test/support/admit-object.ts'
import type { ControllerNames } from './context/controller.ts'
import { commonAddress, type GatewayAddresses } from './gateways/check-addresses.ts'
import { translate } from './translate.ts'

const A: ControllerNames = { controller: 'a.example/controller', gatewayClass: 'a' }
const B: ControllerNames = { controller: 'b.example/controller', gatewayClass: 'b' }
const GATEWAY_GROUP = 'gateway.networking.k8s.io'

const classOf = (name: string, controllerName: string) => ({
  kind: 'GatewayClass',
  metadata: { name },
  spec: { controllerName },
})
const gateway = (name: string, gatewayClassName = name) => ({
  kind: 'Gateway',
  metadata: { name },
  spec: { gatewayClassName, listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
})
const set = (name: string) => ({
  kind: 'ListenerSet',
  metadata: { name },
  spec: { parentRef: { name }, listeners: [{ name: 'more', port: 81, protocol: 'HTTP' }] },
})
const policy = (name: string) => ({
  kind: 'ProxyPolicy',
  metadata: { name },
  spec: {
    targetRefs: [{ group: GATEWAY_GROUP, kind: 'HTTPRoute', name: 'shop' }],
    traffic: { timeouts: { request: '5s' } },
  },
})
const route = (status: object = {}) => ({
  kind: 'HTTPRoute',
  metadata: { name: 'shop' },
  spec: { parentRefs: [{ name: 'a' }, { name: 'b' }], rules: [{ name: 'all' }] },
  status,
})
const entryOf = ({ controller }: ControllerNames, name: string) => ({
  parentRef: { group: GATEWAY_GROUP, kind: 'Gateway', name },
  controllerName: controller,
  conditions: [],
})

/** What a controller serves and writes, as short texts. */
function seenBy(names: ControllerNames, ...objects: readonly object[]) {
  const { items, statuses } = translate(objects.map(admitObject), { names })
  const listeners = [...items.values()].flatMap((item) => (item.kind === 'listener' ? [item.key] : []))
  return { listeners, statuses: statuses.map(({ kind, name, status }) => [`${kind} ${name}`, status] as const) }
}

test.each([
  [
    'each serves its classes, by controllerName',
    [classOf('x', A.controller), classOf('y', B.controller), gateway('of-x', 'x'), gateway('of-y', 'y')],
    ['Gateway of-x', 'GatewayClass x'],
    ['Gateway of-y', 'GatewayClass y'],
  ],
  ['each serves the class of its name without an object', [gateway('a'), gateway('b')], ['Gateway a'], ['Gateway b']],
  [
    'a class belongs to the controller that it names, whatever its own name',
    [classOf('a', B.controller), gateway('a')],
    [],
    ['Gateway a', 'GatewayClass a'],
  ],
  [
    'a class of a third controller belongs to neither',
    [classOf('a', 'gatewright.dev/controller'), gateway('a'), gateway('gatewright')],
    [],
    [],
  ],
  [
    'ListenerSets belong to the controller of their Gateway',
    [gateway('a'), set('a')],
    ['Gateway a', 'ListenerSet a'],
    [],
  ],
])('%s', (_, objects, ofA, ofB) => {
  for (const [names, own] of [
    [A, ofA],
    [B, ofB],
  ] as const) {
    const { listeners, statuses } = seenBy(names, ...objects)
    expect(statuses.map(([title]) => title)).toEqual(own)
    expect(listeners).toEqual(
      own.filter((title) => title.startsWith('Gateway ')).map((title) => `Listener/default/${title.slice(8)}/http`),
    )
  }
})

test('each writes the parents and ancestors at its Gateways, beside those of the other', () => {
  const objects = [gateway('a'), gateway('b'), policy('slow')]
  for (const [own, ownName, other, otherName] of [
    [A, 'a', B, 'b'],
    [B, 'b', A, 'a'],
  ] as const) {
    const theirs = entryOf(other, otherName)
    // An entry of ours for a parent that is no longer ours is left out.
    const before = route({ parents: [theirs, entryOf(own, otherName)] })
    const { statuses } = seenBy(own, ...objects, before)
    const written = Object.fromEntries(statuses) as Record<string, { parents: object[]; ancestors: object[] }>
    const ours = { controllerName: own.controller }
    expect(written['HTTPRoute shop']!.parents).toHaveLength(2)
    expect(written['HTTPRoute shop']!.parents).toEqual(
      expect.arrayContaining([
        theirs,
        expect.objectContaining({ ...ours, parentRef: expect.objectContaining({ name: ownName }) }),
      ]),
    )
    expect(written['ProxyPolicy slow']!.ancestors).toEqual([
      expect.objectContaining({ ...ours, ancestorRef: expect.objectContaining({ name: ownName }) }),
    ])
  }
})

const behindServices: GatewayAddresses = {
  ...commonAddress(''),
  serviceOf: ({ metadata: { namespace, name } }) => ({ namespace, name }),
}

test.each([
  ['alone', {}, 'error', ['Gateway a', 'HTTPRoute shop', 'ProxyPolicy slow']],
  ['in a cluster', { addresses: behindServices }, 'warning', ['Gateway a']],
])('%s, what concerns Gateways that do not exist or are not ours', (_, options, severity, written) => {
  const orphan = { ...route(), spec: { parentRefs: [{ name: 'gone' }], rules: [{ name: 'all' }] } }
  const targetRefs = [{ group: GATEWAY_GROUP, kind: 'Gateway', name: 'b' }]
  const ofTheirs = { ...policy('slow'), spec: { ...policy('slow').spec, targetRefs } }
  const objects = [gateway('a'), gateway('b'), classOf('b', B.controller), orphan, ofTheirs]
  const { statuses, findings } = translate(objects.map(admitObject), { names: A, ...options })
  expect(statuses.map(({ kind, name }) => `${kind} ${name}`)).toEqual(written)
  expect(findings).toContainEqual(expect.objectContaining({ code: 'parent-not-found', severity }))
  expect(findings).toContainEqual(expect.objectContaining({ code: 'target-not-attached', severity: 'error' }))
})
