import { expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import type { EndpointsItem, PlanItem } from '#plan/item.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { Translator } from '../translator.ts'

const AMBIENT = { 'ambient.istio.io/redirection': 'enabled' }
const MEMBER = { namespace: 'default', name: 'cart-1', serviceAccount: 'cart' }

function podObject(more: { metadata?: object; spec?: object; status?: object } = {}): ApiObject {
  return admitObject({
    kind: 'Pod',
    metadata: { name: 'cart-1', annotations: AMBIENT, ...more.metadata },
    spec: more.spec ?? { serviceAccountName: 'cart' },
    status: { phase: 'Running', podIP: '10.0.0.1', ...more.status },
  })
}

const SLICE = admitObject({
  kind: 'EndpointSlice',
  metadata: { name: 'cart-a', labels: { 'kubernetes.io/service-name': 'cart' } },
  addressType: 'IPv4',
  ports: [{ port: 8080, protocol: 'TCP' }],
  endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }],
})

function gatewayObjects(mesh: object | undefined): ApiObject[] {
  const parametersRef = { group: 'gatewright.dev', kind: 'ProxyParameters', name: 'own' }
  return [
    admitObject({ kind: 'ProxyParameters', metadata: { name: 'own' }, spec: { ...(mesh && { mesh }) } }),
    admitObject({
      kind: 'Gateway',
      metadata: { name: 'main' },
      spec: {
        gatewayClassName: 'gatewright',
        listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }],
        infrastructure: { parametersRef },
      },
    }),
  ]
}

const SERVED = [
  admitObject({ kind: 'Service', metadata: { name: 'cart' }, spec: { ports: [{ port: 80, targetPort: 8080 }] } }),
  SLICE,
  admitObject({
    kind: 'HTTPRoute',
    metadata: { name: 'cart' },
    spec: { parentRefs: [{ name: 'main' }], rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }] },
  }),
]

function translator(mesh: object | undefined, pods: readonly ApiObject[]) {
  const all = new Translator()
  const change = (set: readonly ApiObject[], removed: readonly ApiObject[] = []) => all.apply({ set, removed })
  change([...gatewayObjects(mesh), ...SERVED, ...pods])
  return { change, endpoints: () => all.translation.items.get('Endpoints/default/cart/80') as PlanItem & EndpointsItem }
}

/** The pods at both addresses. */
const podsOf = ({ addresses }: EndpointsItem) => addresses.map(({ meshPod }) => meshPod)

test.each<[string, Parameters<typeof podObject>[0], object | undefined]>([
  ['redirected by a node proxy', {}, MEMBER],
  [
    'with a proxy of its own',
    { metadata: { annotations: {}, labels: { 'networking.istio.io/tunnel': 'http' } } },
    MEMBER,
  ],
  ['without a service account', { spec: {} }, { ...MEMBER, serviceAccount: 'default' }],
  ['in another namespace', { metadata: { namespace: 'shop' } }, { ...MEMBER, namespace: 'shop' }],
  ['with two addresses', { status: { podIP: 'fd00::1', podIPs: [{ ip: 'fd00::1' }, { ip: '10.0.0.1' }] } }, MEMBER],
  ['not redirected', { metadata: { annotations: { 'ambient.istio.io/redirection': 'disabled' } } }, undefined],
  ['without marks', { metadata: { annotations: {} } }, undefined],
  ['on the network of its node', { spec: { hostNetwork: true } }, undefined],
  ['that has finished', { status: { phase: 'Succeeded' } }, undefined],
  ['that has failed', { status: { phase: 'Failed' } }, undefined],
  ['with another address', { status: { podIP: '10.0.0.9' } }, undefined],
])('a pod %s', (_, pod, meshPod) => {
  expect(podsOf(translator({}, [podObject(pod)]).endpoints())).toEqual([meshPod, undefined])
})

test('an address belongs to the newest pod that has it, in the mesh or not', () => {
  const older = podObject({ metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } })
  const newer = (annotations: object) =>
    podObject({ metadata: { name: 'other', annotations, creationTimestamp: '2026-02-01T00:00:00Z' } })
  expect(podsOf(translator({}, [newer({}), older]).endpoints())[0]).toBeUndefined()
  expect(podsOf(translator({}, [newer(AMBIENT), older]).endpoints())[0]).toEqual({ ...MEMBER, name: 'other' })
})

test('endpoints name pods only while a Gateway has `mesh`, and proxies of older versions may ignore them', () => {
  const { change, endpoints } = translator(undefined, [podObject()])
  expect(endpoints()).toMatchObject({ addresses: [{ host: '10.0.0.1', port: 8080 }, {}] })
  expect(podsOf(endpoints())).toEqual([undefined, undefined])
  expect(endpoints().mayIgnore).toBeUndefined()
  change(gatewayObjects({}))
  expect(podsOf(endpoints())).toEqual([MEMBER, undefined])
  expect(endpoints().mayIgnore).toEqual(['addresses'])
  change(gatewayObjects(undefined))
  expect(podsOf(endpoints())).toEqual([undefined, undefined])
})

test('a pod that joins, leaves or is replaced is followed, and other changes of it change no item', () => {
  const { change, endpoints } = translator({}, [podObject({ metadata: { annotations: {} } })])
  expect(podsOf(endpoints())[0]).toBeUndefined()
  expect(change([podObject()]).set.map(({ key }) => key)).toEqual(['Endpoints/default/cart/80'])
  expect(podsOf(endpoints())[0]).toEqual(MEMBER)
  expect(change([podObject({ metadata: { labels: { version: 'v2' } } })]).set).toEqual([])
  change([podObject({ metadata: { annotations: {} } })])
  expect(podsOf(endpoints())[0]).toBeUndefined()
  change([podObject()])
  change([], [podObject()])
  expect(podsOf(endpoints())[0]).toBeUndefined()
})
