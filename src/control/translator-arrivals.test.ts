import { describe, expect, test } from 'vitest'
import { type ApiObject, keyOf } from '#api/object.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { translate } from './translate.ts'
import type { ObjectStatus } from './translation.ts'
import { Translator } from './translator.ts'

/*
 * What arrives, changes or leaves later changes the statuses of a running translator, which are then the same as after a restart. A row
 * has the objects at the start, one edit, and the conditions of an object before and after it.
 */

const GATEWAY = 'gateway.networking.k8s.io'
const PEM = '-----BEGIN CERTIFICATE-----'

const named = (kind: string, name: string, spec: object, namespace = 'default', generation = 1) => ({
  kind,
  metadata: { name, generation, ...(namespace === '' ? {} : { namespace }) },
  spec,
})
const gateway = (spec: object = {}, listener: object = {}) =>
  named('Gateway', 'main', {
    gatewayClassName: 'gatewright',
    listeners: [{ name: 'http', port: 8080, protocol: 'HTTP', ...listener }],
    ...spec,
  })
const https = (ref: object) => ({ protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cert', ...ref }] } })
const route = (spec: object = {}, namespace = 'default') =>
  named('HTTPRoute', 'shop', { parentRefs: [{ name: 'main', namespace: 'default' }], ...spec }, namespace)
const cert = (namespace = 'default') => ({
  kind: 'Secret',
  metadata: { name: 'cert', namespace },
  stringData: { 'tls.crt': PEM, 'tls.key': '-----BEGIN PRIVATE KEY-----' },
})
const trusting = (kind: string) => ({
  tls: { frontend: { default: { validation: { caCertificateRefs: [{ group: '', kind, name: 'ca' }] } } } },
})
const grant = (from: string, to: string, namespace = 'far') =>
  named(
    'ReferenceGrant',
    'grant',
    { from: [{ group: GATEWAY, kind: from, namespace: 'default' }], to: [{ group: '', kind: to }] },
    namespace,
  )
const gatewayClass = (controllerName: string, spec: object = {}) =>
  named('GatewayClass', 'ours', { controllerName, ...spec }, '')
const ours = gatewayClass('gatewright.dev/controller')
const theirs = gatewayClass('example.com/other')
const ofOurs = gateway({ gatewayClassName: 'ours' })
const parametersRef = { group: 'gatewright.dev', kind: 'ProxyParameters', name: 'params', namespace: 'default' }
const parameters = named('ProxyParameters', 'params', { shutdown: { min: 1, max: 2 } })
const set = named('ListenerSet', 'more', {
  parentRef: { name: 'main' },
  listeners: [{ name: 'http', port: 8081, protocol: 'HTTP' }],
})
const ofSet = route({ parentRefs: [{ kind: 'ListenerSet', name: 'more' }] })
const service = named('Service', 'svc', { ports: [{ port: 80 }] })
const toService = route({ rules: [{ backendRefs: [{ name: 'svc', port: 80 }] }] })
const toFarService = route({ rules: [{ backendRefs: [{ name: 'svc', namespace: 'far', port: 80 }] }] })
const slice = {
  kind: 'EndpointSlice',
  metadata: { name: 'svc-1', labels: { 'kubernetes.io/service-name': 'svc' } },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'] }],
  ports: [{ port: 8000 }],
}
const policy = named('ProxyPolicy', 'rules', {
  targetRefs: [{ group: GATEWAY, kind: 'Gateway', name: 'main' }],
  traffic: { csrf: {} },
})
const ALLOWS_SETS = { allowedListeners: { namespaces: { from: 'Same' } } }
const SELECTING = { allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } } } }

interface Row {
  readonly title: string
  readonly start: readonly unknown[]
  readonly put?: readonly unknown[]
  readonly remove?: readonly unknown[]
  /** Key of the object whose conditions are shown. */
  readonly of: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

const HTTP_ROUTE = 'HTTPRoute/default/shop'
const MAIN = 'Gateway/default/main'
const FINE = ['Accepted=True/Accepted', 'ResolvedRefs=True/ResolvedRefs']
const NO_PARENT = ['Accepted=False/NoMatchingParent', 'ResolvedRefs=True/ResolvedRefs']
const UNRESOLVED = (reason: string) => ['Accepted=True/Accepted', `ResolvedRefs=False/${reason}`]
const PENDING = ['Accepted=True/Accepted', 'Programmed=Unknown/Pending']

const ROWS: readonly Row[] = [
  ...['ConfigMap', 'Secret'].map((kind) => ({
    title: `a ${kind} of certificate authorities arrives`,
    start: [gateway(trusting(kind), https({})), cert()],
    put: [{ kind, metadata: { name: 'ca' }, [kind === 'Secret' ? 'stringData' : 'data']: { 'ca.crt': PEM } }],
    of: MAIN,
    before: ['Accepted=False/ListenersNotValid', 'Programmed=False/Invalid'],
    after: PENDING,
  })),
  {
    title: 'a ReferenceGrant for a certificate arrives',
    start: [gateway({}, https({ namespace: 'far' })), cert('far')],
    put: [grant('Gateway', 'Secret')],
    of: `${MAIN} http`,
    before: ['Accepted', 'Conflicted=False', 'ResolvedRefs=False/RefNotPermitted', 'Programmed=False/Invalid'],
    after: ['Accepted', 'Conflicted=False', 'ResolvedRefs=True', 'Programmed=Unknown/Pending'],
  },
  {
    title: 'the labels of a namespace arrive',
    start: [gateway({}, SELECTING), route({}, 'far')],
    put: [{ kind: 'Namespace', metadata: { name: 'far', labels: { team: 'a' } } }],
    of: 'HTTPRoute/far/shop',
    before: ['Accepted=False/NotAllowedByListeners', 'ResolvedRefs=True/ResolvedRefs'],
    after: FINE,
  },
  {
    title: 'a Service arrives',
    start: [gateway(), toService],
    put: [service, slice],
    of: HTTP_ROUTE,
    before: UNRESOLVED('BackendNotFound'),
    after: FINE,
  },
  {
    title: 'a ReferenceGrant for a Service arrives',
    start: [gateway(), toFarService, { ...service, metadata: { name: 'svc', namespace: 'far' } }],
    put: [grant('HTTPRoute', 'Service')],
    of: HTTP_ROUTE,
    before: UNRESOLVED('RefNotPermitted'),
    after: FINE,
  },
  {
    title: 'the parameters of a GatewayClass arrive',
    start: [gatewayClass('gatewright.dev/controller', { parametersRef }), ofOurs],
    put: [parameters],
    of: MAIN,
    before: ['Accepted=False/InvalidParameters', 'Programmed=Unknown/Pending'],
    after: PENDING,
  },
  {
    title: 'the GatewayClass of a Gateway arrives',
    start: [ofOurs],
    put: [ours],
    of: MAIN,
    before: [],
    after: PENDING,
  },
  {
    title: 'a GatewayClass goes to another controller, its Gateways leave',
    start: [ours, ofOurs],
    put: [theirs],
    of: MAIN,
    before: PENDING,
    after: [],
  },
  {
    title: 'a GatewayClass goes to another controller',
    start: [ours],
    put: [theirs],
    of: 'GatewayClass//ours',
    before: ['Accepted=True/Accepted'],
    after: [],
  },
  {
    title: 'a Gateway goes to another class, its routes leave',
    start: [theirs, gateway(), route()],
    put: [ofOurs],
    of: HTTP_ROUTE,
    before: FINE,
    after: [],
  },
  {
    title: 'a route goes to the Gateway of another controller',
    start: [theirs, gateway(), { ...ofOurs, metadata: { name: 'other' } }, route()],
    put: [route({ parentRefs: [{ name: 'other' }] })],
    of: HTTP_ROUTE,
    before: FINE,
    after: [],
  },
  {
    title: 'a route loses its only parent',
    start: [gateway(), route()],
    put: [route({ parentRefs: [] })],
    of: HTTP_ROUTE,
    before: FINE,
    after: [],
  },
  {
    title: 'a Gateway goes to another class, its policies are not attached',
    start: [theirs, gateway(), policy],
    put: [ofOurs],
    of: 'ProxyPolicy/default/rules',
    before: ['Accepted=True/Valid', 'Attached=True/Attached'],
    after: ['Accepted=True/Valid', 'Attached=False/Pending'],
  },
  {
    title: 'a Gateway goes to another class, its ListenerSets leave',
    start: [theirs, gateway(ALLOWS_SETS), set],
    put: [gateway({ ...ALLOWS_SETS, gatewayClassName: 'ours' })],
    of: 'ListenerSet/default/more',
    before: PENDING,
    after: [],
  },
  {
    title: 'a ListenerSet goes to a Gateway that does not exist',
    start: [gateway(ALLOWS_SETS), set],
    put: [{ ...set, spec: { ...set.spec, parentRef: { name: 'gone' } } }],
    of: 'ListenerSet/default/more',
    before: PENDING,
    after: [],
  },
  {
    title: 'a ListenerSet is removed, its routes have no parent',
    start: [gateway(ALLOWS_SETS), set, ofSet],
    remove: [set],
    of: HTTP_ROUTE,
    before: FINE,
    after: NO_PARENT,
  },
  {
    title: 'a Gateway is removed',
    start: [gateway()],
    remove: [gateway()],
    of: MAIN,
    before: PENDING,
    after: [],
  },
]

/** A translator whose statuses are kept as a store keeps them. */
function following(start: readonly unknown[]) {
  const translator = new Translator()
  const objects = new Map<string, ApiObject>()
  const stored = new Map<string, ObjectStatus>()
  const edit = (set: readonly unknown[], removed: readonly unknown[]) => {
    const change = { set: set.map(admitObject), removed: removed.map(admitObject) }
    for (const object of change.set) objects.set(keyOf(object), object)
    for (const object of change.removed) objects.delete(keyOf(object))
    translator.apply(change)
    const { written, withdrawn } = translator.takeStatuses()
    for (const key of withdrawn) stored.delete(key)
    for (const status of written) stored.set(keyOf({ ...status, metadata: status }), status)
    expect([...stored.values()].toSorted(byKey)).toEqual(translate([...objects.values()]).statuses.toSorted(byKey))
  }
  edit(start, [])
  return { edit, stored }
}

function byKey(a: ObjectStatus, b: ObjectStatus): number {
  return JSON.stringify([a.kind, a.namespace, a.name]) < JSON.stringify([b.kind, b.namespace, b.name]) ? -1 : 1
}

interface Conditioned {
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly observedGeneration?: number
  }[]
  readonly listeners?: readonly (Conditioned & { readonly name: string })[]
  readonly parents?: readonly Conditioned[]
}

/** @param of key of the object, and after a space the name of its listener */
function conditionsOf(stored: ReadonlyMap<string, ObjectStatus>, of: string): readonly string[] {
  const [key = '', name] = of.split(' ')
  const status = stored.get(key)?.status as Conditioned | undefined
  const at = name === undefined ? status : status?.listeners?.find((listener) => listener.name === name)
  const conditions = at?.conditions ?? at?.parents?.flatMap((parent) => parent.conditions ?? []) ?? []
  return conditions.map(({ type, status, reason, observedGeneration }) => {
    expect(observedGeneration, type).toBe(1)
    return `${type}=${status}/${reason}`
  })
}

/** Short forms of the expected conditions are prefixes. */
function expectConditions(actual: readonly string[], expected: readonly string[]): void {
  expect(actual).toEqual(expected.map((start) => expect.stringMatching(`^${start}`)))
}

describe('statuses follow what they depend on', () => {
  test.each(ROWS)('$title', ({ start, put = [], remove = [], of, before, after }) => {
    const { edit, stored } = following(start)
    expectConditions(conditionsOf(stored, of), before)
    edit(put, remove)
    expectConditions(conditionsOf(stored, of), after)
  })
})

test('an object that is removed and created again has the generation of the new one', () => {
  const { edit, stored } = following([{ ...gateway(), metadata: { name: 'main', generation: 7 } }])
  edit([], [gateway()])
  edit([gateway()], [])
  expectConditions(conditionsOf(stored, MAIN), PENDING)
})
