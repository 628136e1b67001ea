import fc from 'fast-check'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { admitObject } from './admit-object.ts'

/*
 * Edits for tests of what follows changes: each row contains versions of one object; an edit applies one of them or removes the object.
 */

const GATEWAY = 'gateway.networking.k8s.io'
const OWN = 'gatewright.dev'

const named = (kind: string, name: string, spec: unknown, more: object = {}, namespace = 'default') => ({
  kind,
  metadata: { name, ...(namespace === '' ? {} : { namespace }), ...more },
  spec,
})

const gateway = (name: string, listeners: readonly object[], more: object = {}, meta: object = {}) =>
  named('Gateway', name, { gatewayClassName: 'gatewright', listeners, ...more }, meta)
const http = (name: string, port: number, more: object = {}) => ({ name, port, protocol: 'HTTP', ...more })

const route = (name: string, more: object, kind = 'HTTPRoute', namespace = 'default') =>
  named(kind, name, { parentRefs: [{ name: 'main' }], ...more }, {}, namespace)
const to = (...backendRefs: readonly object[]) => [{ name: 'first', backendRefs }]
const SVC = { name: 'svc', port: 80 }
const APP = { group: OWN, kind: 'ProxyBackend', name: 'app' }

const policy = (name: string, target: object, sections: object, meta: object = {}) =>
  named('ProxyPolicy', name, { targetRefs: [target], ...sections }, meta)
const at = (kind: string, name: string, sectionName?: string) => ({
  group: kind === 'Service' ? '' : kind === 'ProxyBackend' ? OWN : GATEWAY,
  kind,
  name,
  ...(sectionName === undefined ? {} : { sectionName }),
})
const limit = { rateLimit: { local: [{ requests: 1, unit: 'Seconds' }] } }

const ROWS: readonly (readonly unknown[])[] = [
  [
    gateway('main', [http('http', 8080)]),
    gateway('main', [http('http', 8080, { hostname: 'a.example' }), http('two', 8081)]),
    gateway('main', [
      http('http', 8080, { allowedRoutes: { namespaces: { from: 'All' } } }),
      { name: 'db', port: 5432, protocol: 'TCP' },
    ]),
    { ...gateway('main', [http('http', 8080)]), spec: { gatewayClassName: 'theirs', listeners: [http('http', 8080)] } },
    gateway('main', [http('http', 8080)], {
      allowedListeners: { namespaces: { from: 'Same' } },
      infrastructure: { parametersRef: { group: OWN, kind: 'ProxyParameters', name: 'params' } },
    }),
    gateway('main', [{ name: 'tls', port: 8443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cert' }] } }], {
      tls: {
        frontend: { default: { validation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'ca' }] } } },
      },
    }),
    gateway('main', [
      http('http', 8080, {
        allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'b' } } } },
      }),
      { name: 'far', port: 8443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cert', namespace: 'far' }] } },
    ]),
  ],
  [
    gateway('other', [http('http', 8080)]),
    gateway(
      'other',
      [http('http', 8080, { hostname: 'b.example' })],
      {},
      { creationTimestamp: '2026-01-01T00:00:00Z' },
    ),
    gateway('other', [http('http', 9090)]),
  ],
  [
    named('GatewayClass', 'theirs', { controllerName: 'example.com/other' }, {}, ''),
    named('GatewayClass', 'theirs', { controllerName: 'gatewright.dev/controller' }, {}, ''),
    named(
      'GatewayClass',
      'theirs',
      {
        controllerName: 'gatewright.dev/controller',
        parametersRef: { group: OWN, kind: 'ProxyParameters', name: 'params', namespace: 'default' },
      },
      {},
      '',
    ),
  ],
  [named('GatewayClass', 'gatewright', { controllerName: 'example.com/other' }, {}, '')],
  [
    named('ListenerSet', 'set', { parentRef: { name: 'main' }, listeners: [http('http', 8080), http('more', 8090)] }),
    named('ListenerSet', 'set', { parentRef: { name: 'gone' }, listeners: [http('more', 8090)] }),
  ],
  [
    named('ProxyParameters', 'params', { shutdown: { min: 1, max: 2 } }),
    named('ProxyParameters', 'params', { image: { tag: 'x' } }),
  ],
  [
    route('shop', { rules: to(SVC) }),
    route('shop', { hostnames: ['a.example'], rules: to(SVC, APP) }),
    route('shop', {
      rules: [
        {
          backendRefs: [{ ...SVC, namespace: 'far' }],
          filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x', value: '1' }] } }],
        },
      ],
    }),
    route('shop', {
      parentRefs: [
        { name: 'set', kind: 'ListenerSet' },
        { name: 'main', sectionName: 'two' },
      ],
      rules: to(APP),
    }),
  ],
  [route('calls', { rules: to(SVC) }, 'GRPCRoute'), route('calls', { rules: to(APP) }, 'GRPCRoute', 'far')],
  [
    route('raw', { rules: to(SVC) }, 'TCPRoute'),
    route('raw', { parentRefs: [{ name: 'main', sectionName: 'db' }], rules: to(APP) }, 'TCPRoute'),
  ],
  [route('raw2', { parentRefs: [{ name: 'main', sectionName: 'db' }], rules: to(SVC) }, 'TCPRoute')],
  [
    named('Service', 'svc', { ports: [{ port: 80 }] }),
    named(
      'Service',
      'svc',
      {
        ports: [
          { port: 80, name: 'web' },
          { port: 81, appProtocol: 'gatewright.dev/mcp' },
        ],
      },
      { labels: { mcp: 'yes' } },
    ),
    named('Service', 'svc', { type: 'ExternalName', externalName: 'a.test', ports: [{ port: 80 }] }),
  ],
  [named('Service', 'svc', { ports: [{ port: 80 }] }, {}, 'far')],
  [
    {
      kind: 'EndpointSlice',
      metadata: { name: 'svc-1', labels: { 'kubernetes.io/service-name': 'svc' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'] }],
      ports: [{ port: 8000 }],
    },
    {
      kind: 'EndpointSlice',
      metadata: { name: 'svc-1', labels: { 'kubernetes.io/service-name': 'svc' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }, { addresses: ['10.0.0.2'] }],
      ports: [{ port: 8000, name: 'web' }],
    },
  ],
  [
    named('ProxyBackend', 'app', { static: { host: 'app.test', port: 1 } }),
    named('ProxyBackend', 'app', {
      static: { host: 'app.test', port: 1 },
      policies: { auth: { secretRef: { name: 'key' } } },
    }),
    named('ProxyBackend', 'app', {
      ai: {
        groups: [
          { providers: [{ name: 'one', providerOne: {}, policies: { tls: { caCertificateRefs: [{ name: 'ca' }] } } }] },
        ],
      },
    }),
    named('ProxyBackend', 'app', {
      mcp: {
        targets: [
          { name: 'found', selector: { services: { matchLabels: { mcp: 'yes' } } } },
          { name: 'fixed', static: { backendRef: { name: 'svc' }, port: 81 } },
        ],
      },
    }),
  ],
  [
    named(
      'ReferenceGrant',
      'grant',
      { from: [{ group: GATEWAY, kind: 'HTTPRoute', namespace: 'default' }], to: [{ group: '', kind: 'Service' }] },
      {},
      'far',
    ),
    named(
      'ReferenceGrant',
      'grant',
      {
        from: [{ group: GATEWAY, kind: 'HTTPRoute', namespace: 'default' }],
        to: [{ group: '', kind: 'Service', name: 'else' }],
      },
      {},
      'far',
    ),
    named(
      'ReferenceGrant',
      'grant',
      { from: [{ group: GATEWAY, kind: 'Gateway', namespace: 'default' }], to: [{ group: '', kind: 'Secret' }] },
      {},
      'far',
    ),
  ],
  [
    { kind: 'Secret', metadata: { name: 'key', labels: { keys: 'yes' } }, stringData: { Authorization: 'x' } },
    { kind: 'Secret', metadata: { name: 'key' } },
  ],
  [
    {
      kind: 'Secret',
      metadata: { name: 'cert' },
      stringData: { 'tls.crt': '-----BEGIN CERTIFICATE-----', 'tls.key': '-----BEGIN PRIVATE KEY-----' },
    },
  ],
  [
    {
      kind: 'Secret',
      metadata: { name: 'cert', namespace: 'far' },
      stringData: { 'tls.crt': '-----BEGIN CERTIFICATE-----', 'tls.key': '-----BEGIN PRIVATE KEY-----' },
    },
  ],
  [
    { kind: 'ConfigMap', metadata: { name: 'ca' }, data: { 'ca.crt': 'x' } },
    { kind: 'ConfigMap', metadata: { name: 'ca' }, data: { 'ca.crt': '-----BEGIN CERTIFICATE-----' } },
    { kind: 'ConfigMap', metadata: { name: 'ca' }, data: {} },
  ],
  [
    policy('wide', at('Gateway', 'main'), {
      traffic: { ...limit, csrf: {} },
      frontend: { http: { maxBufferSize: 1024 } },
    }),
    policy('wide', at('Gateway', 'other'), { frontend: { http: { maxBufferSize: 2048 } } }),
    policy('wide', at('Gateway', 'main', 'two'), { traffic: limit }),
  ],
  [
    policy('rival', at('Gateway', 'main'), {
      traffic: {
        csrf: {},
        rateLimit: {
          global: { backendRef: SVC, domain: 'd', descriptors: [{ entries: [{ name: 'a', expression: '1' }] }] },
        },
      },
    }),
    policy(
      'rival',
      at('HTTPRoute', 'shop', 'first'),
      {
        traffic: {
          rateLimit: {
            global: { backendRef: SVC, domain: 'd', descriptors: [{ entries: [{ name: 'a', expression: '1' }] }] },
          },
        },
      },
      { creationTimestamp: '2026-01-02T00:00:00Z' },
    ),
    policy('rival', at('HTTPRoute', 'shop'), {
      traffic: { authorization: { policy: { matchExpressions: ['source.unverifiedWorkload.name == "p"'] } } },
    }),
  ],
  [
    policy('inner', at('Service', 'svc', '80'), { backend: { tls: { sni: 'a.test' } } }),
    policy('inner', at('ProxyBackend', 'app', 'one'), {
      backend: { tls: { sni: 'a.test' }, ai: { defaults: [{ field: 'a', value: 1 }] } },
    }),
    policy('inner', at('ProxyBackend', 'app'), {
      backend: {
        tls: { verifySubjectAltNames: ['b.test'] },
        mcp: { authorization: { policy: { matchExpressions: ['true'] } } },
      },
    }),
  ],
  [
    named('ProxyPolicy', 'selecting', {
      targetSelectors: [{ group: GATEWAY, kind: 'HTTPRoute', matchLabels: {} }],
      traffic: { apiKeyAuthentication: { secretSelector: { matchLabels: { keys: 'yes' } } } },
    }),
  ],
  [{ kind: 'Pod', metadata: { name: 'p' }, status: { phase: 'Running', podIP: '10.0.0.9' } }],
  [
    {
      kind: 'Pod',
      metadata: { name: 'q', creationTimestamp: '2026-01-01T00:00:00Z' },
      status: { phase: 'Running', podIP: '10.0.0.9' },
    },
  ],
  [{ kind: 'Namespace', metadata: { name: 'far', labels: { team: 'b' } } }],
  [
    named('BackendTLSPolicy', 'b', {
      targetRefs: [{ group: '', kind: 'Service', name: 'svc' }],
      validation: { hostname: 'a.test', wellKnownCACertificates: 'System' },
    }),
  ],
]

const VERSIONS: readonly (readonly ApiObject[])[] = ROWS.map((row) => row.map(admitObject))

export interface Edit {
  readonly row: number
  /** Index into the row; the length of the row: the object is removed. */
  readonly version: number
}

const edit: fc.Arbitrary<Edit> = fc
  .nat(VERSIONS.length - 1)
  .chain((row) => fc.nat(VERSIONS[row]!.length).map((version) => ({ row, version })))

/** Changes one after the other, each of several edits. */
export const editBatches: fc.Arbitrary<readonly (readonly Edit[])[]> = fc.array(
  fc.array(edit, { minLength: 1, maxLength: 6 }),
  { maxLength: 14 },
)

/** @param objects by key; the edits are made to them, too @returns the change as a store reports it */
export function applyEdits(objects: Map<string, ApiObject>, batch: readonly Edit[]): ObjectChange {
  const set = new Map<string, ApiObject>()
  const removed = new Map<string, ApiObject>()
  for (const { row, version } of batch) {
    const object = VERSIONS[row]![version]
    const known = VERSIONS[row]!.map(keyOf).flatMap((key) => objects.get(key) ?? [])
    for (const old of known) {
      removed.set(keyOf(old), old)
      objects.delete(keyOf(old))
    }
    if (object !== undefined) objects.set(keyOf(object), object)
  }
  for (const [key, object] of objects) {
    removed.delete(key)
    set.set(key, object)
  }
  return { set: [...set.values()], removed: [...removed.values()] }
}
