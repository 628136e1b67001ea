import { expect, test } from 'vitest'
import { findKind } from '#api/kinds.ts'
import { validate } from '#schema/index.ts'
import type { Admitted } from '../kinds/served-kind.ts'
import { builtInKinds } from './built-in-kinds.ts'

const KINDS = builtInKinds()

function admit(apiVersion: string, kind: string, members: object, before?: object): Admitted {
  const { metadata, ...rest } = members as { readonly metadata?: object }
  const served = KINDS.find(
    (each) => each.kind === kind && (each.group === '' ? each.version : `${each.group}/${each.version}`) === apiVersion,
  )!
  const object = { apiVersion, kind, metadata: { name: 'a', namespace: 'default', ...metadata }, ...rest }
  return served.admit(object, { unknownFields: 'refuse', before: before as never })
}

function refusals(...of: Parameters<typeof admit>): readonly string[] {
  return admit(...of).causes.map(({ field, message }) => `${field}: ${message}`)
}

const port = { port: 80 }
const service = (spec: object, name = 'a') => ({ metadata: { name }, spec })

test.each<[name: string, object: object, expected: readonly string[]]>([
  ['valid', service({ ports: [port] }), []],
  [
    'name with a digit first',
    service({ ports: [port] }, '1a'),
    ['metadata.name: Invalid value: "1a": a DNS-1035 label'],
  ],
  ['long name', service({ ports: [port] }, 'a'.repeat(64)), ['metadata.name: Invalid value: "aaa']],
  ['no ports', service({}), ['spec.ports: Required value']],
  ['headless without ports', service({ clusterIP: 'None' }), []],
  ['unknown type', service({ type: 'Internal', ports: [port] }), ['spec.type: Unsupported value: "Internal"']],
  ['external name', service({ type: 'ExternalName', externalName: 'a.example.com' }), []],
  ['external name that is missing', service({ type: 'ExternalName' }), ['spec.externalName: Required value']],
  ['cluster IP', service({ clusterIP: '10.0.0', ports: [port] }), ['spec.clusterIP: Invalid value: "10.0.0"']],
  [
    'session affinity',
    service({ sessionAffinity: 'Yes', ports: [port] }),
    ['spec.sessionAffinity: Unsupported value: "Yes"'],
  ],
  [
    'two ports without names',
    service({ ports: [port, { port: 81 }] }),
    ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
  ],
  ['port name', service({ ports: [{ ...port, name: 'A' }] }), ['spec.ports[0].name: Invalid value: "A"']],
  [
    'same name twice',
    service({
      ports: [
        { ...port, name: 'a' },
        { port: 81, name: 'a' },
      ],
    }),
    ['spec.ports[1].name: Duplicate value: "a"'],
  ],
  [
    'same port twice',
    service({
      ports: [
        { ...port, name: 'a' },
        { ...port, name: 'b' },
      ],
    }),
    ['spec.ports[1]: Duplicate value: has the same port and protocol as item 0'],
  ],
  [
    'same port with two protocols',
    service({
      ports: [
        { ...port, name: 'a' },
        { ...port, name: 'b', protocol: 'UDP' },
      ],
    }),
    [],
  ],
  [
    'target port',
    service({ ports: [{ ...port, targetPort: 70000 }] }),
    ['spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535'],
  ],
  [
    'name of a target port',
    service({ ports: [{ ...port, targetPort: '123' }] }),
    ['spec.ports[0].targetPort: Invalid value: "123"'],
  ],
  [
    'application protocol',
    service({ ports: [{ ...port, appProtocol: 'a b' }] }),
    ['spec.ports[0].appProtocol: Invalid value: "a b"'],
  ],
])('Service: %s', (_, object, expected) => {
  expect(refusals('v1', 'Service', object)).toEqual(expected.map((text) => expect.stringContaining(text)))
})

const base64 = (text: string) => Buffer.from(text).toString('base64')
const MIB = 1024 * 1024

test.each<[name: string, object: object, expected: readonly string[]]>([
  ['entry name', { data: { 'a b': '' } }, ['data[a b]: Invalid value: "a b": a valid config key']],
  ['entry name of dots', { data: { '..': '' } }, ['data[..]: Invalid value: ".."']],
  ['1 MiB', { data: { a: base64('a'.repeat(MIB)) } }, []],
  [
    'more than 1 MiB',
    { data: { a: base64('a'.repeat(MIB)), b: base64('b') } },
    ['data: Too long: may not be more than 1048576 bytes'],
  ],
  ['more than 1 MiB of text', { stringData: { a: 'a'.repeat(MIB + 1) } }, ['data: Too long']],
  [
    'TLS without entries',
    { type: 'kubernetes.io/tls' },
    ['data[tls.crt]: Required value', 'data[tls.key]: Required value'],
  ],
  ['TLS with texts', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'c', 'tls.key': 'k' } }, []],
  [
    'Basic without entries',
    { type: 'kubernetes.io/basic-auth' },
    ['data[username]: Required value', 'data[password]: Required value'],
  ],
  ['Basic with a password only', { type: 'kubernetes.io/basic-auth', stringData: { password: 'p' } }, []],
  ['SSH without key', { type: 'kubernetes.io/ssh-auth' }, ['data[ssh-privatekey]: Required value']],
  [
    'registry without configuration',
    { type: 'kubernetes.io/dockerconfigjson' },
    ['data[.dockerconfigjson]: Required value'],
  ],
  [
    'registry configuration that is no JSON',
    { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'hunter2' } },
    ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>"'],
  ],
  [
    'account token without account',
    { type: 'kubernetes.io/service-account-token' },
    ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  ],
])('Secret: %s', (_, object, expected) => {
  const found = refusals('v1', 'Secret', object)
  expect(found).toEqual(expected.map((text) => expect.stringContaining(text)))
  expect(found.join()).not.toContain('hunter2')
})

test('texts of a Secret become entries, and it has a type', () => {
  const { object } = admit('v1', 'Secret', { data: { a: base64('1'), b: base64('2') }, stringData: { b: '3' } })
  expect(object).toMatchObject({ type: 'Opaque', data: { a: base64('1'), b: base64('3') } })
  expect(object).not.toHaveProperty('stringData')
})

test.each<[name: string, kind: string, before: object, object: object, expected: readonly string[]]>([
  ['type', 'Secret', { type: 'Opaque' }, { type: 'a/b' }, ['type: Invalid value: "a/b": field is immutable']],
  [
    'data',
    'Secret',
    { immutable: true, type: 'Opaque', data: { a: 'MQ==' } },
    { immutable: true, data: { a: 'Mg==' } },
    ['data: Forbidden: field is immutable when `immutable` is set'],
  ],
  ['immutable itself', 'Secret', { immutable: true, type: 'Opaque' }, {}, ['immutable: Forbidden: field is immutable']],
  [
    'labels',
    'Secret',
    { immutable: true, type: 'Opaque', data: { a: 'MQ==' } },
    { immutable: true, data: { a: 'MQ==' }, metadata: { labels: { a: 'b' } } },
    [],
  ],
  ['data', 'ConfigMap', { immutable: true, data: { a: '1' } }, { immutable: true, data: {} }, ['data: Forbidden']],
  [
    'binary data',
    'ConfigMap',
    { immutable: true },
    { immutable: true, binaryData: { a: 'MQ==' } },
    ['binaryData: Forbidden'],
  ],
])('change of the %s of a %s', (_, kind, before, object, expected) => {
  expect(refusals('v1', kind, object, before)).toEqual(expected.map((text) => expect.stringContaining(text)))
})

test.each<[name: string, object: object, expected: readonly string[]]>([
  ['entry name', { data: { 'a/b': '' } }, ['data[a/b]: Invalid value: "a/b"']],
  ['binary entry name', { binaryData: { '': '' } }, ['binaryData[]: Invalid value: ""']],
  ['1 MiB', { data: { a: 'a'.repeat(MIB) } }, []],
  [
    'more than 1 MiB',
    { data: { a: 'a'.repeat(MIB) }, binaryData: { b: base64('b') } },
    [': Too long: may not be more than 1048576 bytes'],
  ],
  [
    'entry in both',
    { data: { a: '' }, binaryData: { a: '' } },
    ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  ],
])('ConfigMap: %s', (_, object, expected) => {
  expect(refusals('v1', 'ConfigMap', object)).toEqual(expected.map((text) => expect.stringContaining(text)))
})

const slice = (addressType: string, address: string, more: object = {}) => ({
  addressType,
  endpoints: [{ addresses: [address] }],
  ports: [{ port: 80 }],
  ...more,
})

test.each<[name: string, object: object, expected: readonly string[]]>([
  ['IPv4', slice('IPv4', '127.0.0.1'), []],
  ['IPv6', slice('IPv6', '2001:db8::1'), []],
  [
    'link-local address',
    slice('IPv6', 'fe80::1'),
    [
      'endpoints[0].addresses[0]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    ],
  ],
  ['name', slice('FQDN', 'a.example.com'), []],
  ['IPv6 in IPv4', slice('IPv4', '::1'), ['endpoints[0].addresses[0]: Invalid value: "::1": must be an IPv4 address']],
  [
    'name in IPv4',
    slice('IPv4', 'localhost'),
    ['endpoints[0].addresses[0]: Invalid value: "localhost": must be a valid IP address'],
  ],
  ['name in capitals', slice('FQDN', 'A.example.com'), ['endpoints[0].addresses[0]: Invalid value: "A.example.com"']],
  ['address type', slice('IPv5', '1.2.3.4'), ['addressType: ']],
  ['no address', { addressType: 'IPv4', endpoints: [{ addresses: [] }] }, ['endpoints[0].addresses: ']],
  [
    '101 addresses',
    { addressType: 'IPv4', endpoints: [{ addresses: Array(101).fill('10.0.0.1') }] },
    ['endpoints[0].addresses: '],
  ],
  [
    '1001 endpoints',
    { addressType: 'IPv4', endpoints: Array(1001).fill({ addresses: ['10.0.0.1'] }) },
    ['endpoints: '],
  ],
  [
    '101 ports',
    slice('IPv4', '10.0.0.1', { ports: Array.from({ length: 101 }, (_, i) => ({ name: `p${i}`, port: 1 })) }),
    ['ports: '],
  ],
  [
    'ports with the same name',
    slice('IPv4', '10.0.0.1', { ports: [{ port: 1 }, { port: 2 }] }),
    ['ports[1].name: Duplicate value: ""'],
  ],
  ['port name', slice('IPv4', '10.0.0.1', { ports: [{ port: 1, name: 'A' }] }), ['ports[0].name: Invalid value: "A"']],
  ['protocol', slice('IPv4', '10.0.0.1', { ports: [{ port: 1, protocol: 'QUIC' }] }), ['ports[0].protocol: ']],
  [
    'hostname',
    slice('IPv4', '', { endpoints: [{ addresses: ['10.0.0.1'], hostname: 'a.b' }] }),
    ['endpoints[0].hostname: Invalid value: "a.b"'],
  ],
])('EndpointSlice: %s', (_, object, expected) => {
  expect(refusals('discovery.k8s.io/v1', 'EndpointSlice', object)).toEqual(
    expected.map((text) => expect.stringContaining(text)),
  )
})

test('the address type of an EndpointSlice stays', () => {
  expect(refusals('discovery.k8s.io/v1', 'EndpointSlice', slice('IPv6', '::1'), { addressType: 'IPv4' })).toEqual([
    'addressType: Invalid value: "IPv6": field is immutable',
  ])
})

test('a Namespace has the label of its name, and a phase', () => {
  const { object } = admit('v1', 'Namespace', { metadata: { name: 'shop', labels: { a: 'b' } } })
  expect(object).toMatchObject({
    metadata: { labels: { a: 'b', 'kubernetes.io/metadata.name': 'shop' } },
    status: { phase: 'Active' },
  })
  expect(refusals('v1', 'Namespace', { metadata: { name: 'a.b' } })).toEqual([
    expect.stringContaining('metadata.name: Invalid value: "a.b": a lowercase RFC 1123 label'),
  ])
})

test.each<[name: string, spec: object, expected: readonly string[]]>([
  ['valid', { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
  ['no holder', { holderIdentity: '' }, ['spec.holderIdentity: Invalid value: "": must not be empty']],
  ['duration', { leaseDurationSeconds: 0 }, ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0']],
  ['transitions', { leaseTransitions: -1 }, ['spec.leaseTransitions: Invalid value: -1']],
  ['preferred holder', { preferredHolder: 'b' }, ['spec.strategy: Required value']],
])('Lease: %s', (_, spec, expected) => {
  expect(refusals('coordination.k8s.io/v1', 'Lease', { spec })).toEqual(
    expected.map((text) => expect.stringContaining(text)),
  )
})

const told = { involvedObject: { namespace: 'default', name: 'x', kind: 'Gateway' } }
const series = {
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingComponent: 'example.com/a',
  reportingInstance: 'a-1',
  action: 'Program',
  reason: 'Programmed',
  type: 'Normal',
}

test.each<[name: string, object: object, expected: readonly string[]]>([
  ['older form', { ...told, reason: 'x', message: 'y', count: 2 }, []],
  [
    'namespace of another object',
    { involvedObject: { namespace: 'other' } },
    ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
  ],
  ['newer form', { ...told, ...series }, []],
  [
    'newer form without reporter',
    { ...told, ...series, reportingComponent: '' },
    ['reportingComponent: Required value'],
  ],
  [
    'newer form with a long reason',
    { ...told, ...series, reason: 'a'.repeat(129) },
    ['reason: Invalid value: "": can have at most 128 characters'],
  ],
  [
    'newer form with a long text',
    { ...told, ...series, message: 'a'.repeat(1025) },
    ['message: Invalid value: "": can have at most 1024 characters'],
  ],
  ['newer form of another type', { ...told, ...series, type: 'Bad' }, ['type: Invalid value: "Bad"']],
  [
    'series of one',
    { ...told, ...series, series: { count: 1 } },
    ['series.count: Invalid value: 1: should be at least 2'],
  ],
])('Event: %s', (_, object, expected) => {
  expect(refusals('v1', 'Event', object)).toEqual(expected.map((text) => expect.stringContaining(text)))
})

test('an Event of events.k8s.io has a time and who reports it', () => {
  const { reportingComponent: reportingController, ...rest } = series
  const event = { ...rest, reportingController, regarding: told.involvedObject, note: 'x' }
  expect(refusals('events.k8s.io/v1', 'Event', event)).toEqual([])
  expect(refusals('events.k8s.io/v1', 'Event', { regarding: told.involvedObject })).toEqual([
    'eventTime: Required value',
    'reportingController: Required value',
    'reportingInstance: Required value',
    'action: Required value',
    'reason: Required value',
    'type: Invalid value: "": has invalid value',
  ])
})

test('a ServiceAccount', () => {
  expect(refusals('v1', 'ServiceAccount', { secrets: [{ name: 'a' }], automountServiceAccountToken: false })).toEqual(
    [],
  )
  expect(refusals('v1', 'ServiceAccount', { secrets: 'a' })).toEqual([expect.stringContaining('secrets: ')])
})

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' }

test.each<[name: string, metadata: object, expected: readonly string[]]>([
  [
    'annotations over 256 KiB',
    { annotations: { a: 'x'.repeat(256 * 1024) } },
    ['metadata.annotations: Too long: may not be more than 262144 bytes'],
  ],
  ['finalizer', { finalizers: ['a b'] }, ['metadata.finalizers: Invalid value: "a b"']],
  [
    'contradictory finalizers',
    { finalizers: ['orphan', 'foregroundDeletion'] },
    ['metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]'],
  ],
  [
    'owner without id',
    { ownerReferences: [{ ...owner, uid: '' }] },
    ['metadata.ownerReferences[0].uid: Required value: must not be empty'],
  ],
  [
    'two managing owners',
    {
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, uid: 'v', controller: true },
      ],
    },
    ['metadata.ownerReferences: Forbidden: Only one reference can have Controller set to true'],
  ],
  ['label value', { labels: { a: 'b c' } }, ['metadata.labels']],
  ['label name', { labels: { 'a b': 'c' } }, ['metadata.labels']],
])('metadata: %s', (_, metadata, expected) => {
  expect(refusals('v1', 'ConfigMap', { metadata })).toEqual(expected.map((text) => expect.stringContaining(text)))
})

test('an object that breaks a rule already can have other metadata', () => {
  const spec = { parentRefs: [{ name: 'main' }, { name: 'main' }] }
  const of = (labels: object, written: object = spec) => ({ metadata: { name: 'a', labels }, spec: written })
  const before = builtInObject('HTTPRoute', spec)
  expect(refusals('gateway.networking.k8s.io/v1', 'HTTPRoute', of({ a: 'b' }), before)).toEqual([])
  expect(
    refusals('gateway.networking.k8s.io/v1', 'HTTPRoute', of({}, { ...spec, hostnames: ['a.test'] }), before),
  ).toEqual([expect.stringContaining('spec.parentRefs: Invalid value: sectionName or port must be unique')])
})

/** A stored object, with the defaults of its schema. */
function builtInObject(kind: string, spec: object): object {
  const schema = findKind(kind)!.schema
  const object = { apiVersion: 'gateway.networking.k8s.io/v1', kind, metadata: { name: 'a' }, spec }
  return validate(schema, object).value as object
}

test('the controller of a GatewayClass stays', () => {
  const gatewayClass = (controllerName: string) => ({ spec: { controllerName } })
  const before = { metadata: { name: 'a' }, ...gatewayClass('example.com/a') }
  expect(refusals('gateway.networking.k8s.io/v1', 'GatewayClass', gatewayClass('example.com/b'), before)).toEqual([
    'spec.controllerName: Invalid value: "example.com/b": Value is immutable',
  ])
  expect(refusals('gateway.networking.k8s.io/v1', 'GatewayClass', gatewayClass('example.com/a'), before)).toEqual([])
})

const container = { name: 'a', image: 'a:1' }
const podOf = (spec: object, status?: object) => ({ spec, ...(status && { status }) })

test.each<[name: string, pod: object, expected: readonly string[]]>([
  ['valid', podOf({ containers: [container] }), []],
  ...['Always', 'Never', 'OnFailure'].map((restartPolicy): [string, object, string[]] => [
    `restart policy ${restartPolicy}`,
    podOf({ containers: [container], restartPolicy }),
    [],
  ]),
  ...['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'].map((dnsPolicy): [string, object, string[]] => [
    `DNS policy ${dnsPolicy}`,
    podOf({ containers: [container], dnsPolicy }),
    [],
  ]),
  ['no containers', podOf({ containers: [] }), ['spec.containers: Required value']],
  ['no image', podOf({ containers: [{ name: 'a' }] }), ['spec.containers[0].image: Required value']],
  ['no name', podOf({ containers: [{ image: 'a' }] }), ['spec.containers[0].name: Required value']],
  [
    'name of a container',
    podOf({ containers: [{ ...container, name: 'A' }] }),
    ['spec.containers[0].name: Invalid value: "A"'],
  ],
  [
    'two containers with one name',
    podOf({ containers: [container], initContainers: [container] }),
    ['spec.containers[0].name: Duplicate value: "a"'],
  ],
  [
    'policies',
    podOf({ containers: [{ ...container, imagePullPolicy: 'No' }], restartPolicy: 'Sometimes', dnsPolicy: 'My' }),
    [
      'spec.restartPolicy: Unsupported value: "Sometimes"',
      'spec.dnsPolicy: Unsupported value: "My"',
      'spec.containers[0].imagePullPolicy: Unsupported value: "No"',
    ],
  ],
  [
    'where messages come from',
    podOf({ containers: [{ ...container, terminationMessagePolicy: 'Log' }] }),
    ['spec.containers[0].terminationMessagePolicy: Unsupported value: "Log"'],
  ],
  [
    'ports',
    podOf({
      containers: [
        {
          ...container,
          ports: [
            { name: 'web', containerPort: 65_535, hostPort: 1, protocol: 'SCTP' },
            { name: 'web', containerPort: 65_536 },
            { name: 'WEB', hostPort: -1, protocol: 'HTTP' },
          ],
        },
      ],
    }),
    [
      'spec.containers[0].ports[1].name: Duplicate value: "web"',
      'spec.containers[0].ports[1].containerPort: Invalid value: 65536: must be between 1 and 65535',
      'spec.containers[0].ports[2].name: Invalid value: "WEB"',
      'spec.containers[0].ports[2].containerPort: Required value',
      'spec.containers[0].ports[2].hostPort: Invalid value: -1',
      'spec.containers[0].ports[2].protocol: Unsupported value: "HTTP"',
    ],
  ],
  [
    'volumes',
    podOf({
      volumes: [{ name: 'data', emptyDir: {} }, { name: 'data' }, {}],
      containers: [
        {
          ...container,
          env: [{ value: 'a' }],
          volumeMounts: [
            { name: 'data', mountPath: '/a' },
            { name: 'data', mountPath: '/a' },
            { name: 'other', mountPath: '/b' },
            {},
          ],
        },
      ],
    }),
    [
      'spec.volumes[1].name: Duplicate value: "data"',
      'spec.volumes[2].name: Required value',
      'spec.containers[0].env[0].name: Required value',
      'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
      'spec.containers[0].volumeMounts[2].name: Not found: "other"',
      'spec.containers[0].volumeMounts[3].name: Required value',
      'spec.containers[0].volumeMounts[3].mountPath: Required value',
    ],
  ],
  [
    'status',
    podOf({ containers: [container] }, { phase: 'Done', podIP: '10.0.0', podIPs: [{ ip: '::1' }, { ip: 'a' }] }),
    [
      'status.phase: Unsupported value: "Done"',
      'status.podIP: Invalid value: "10.0.0"',
      'status.podIPs[1].ip: Invalid value: "a"',
    ],
  ],
])('Pod: %s', (_, object, expected) => {
  const found = refusals('v1', 'Pod', object)
  expect(found).toHaveLength(expected.length)
  for (const [index, text] of expected.entries()) expect(found[index]).toContain(text)
})

test('what an update of a Pod may change', () => {
  const before = { ...podOf({ containers: [container], nodeName: 'n' }) }
  const mayChange = {
    containers: [{ ...container, image: 'b' }],
    nodeName: 'n',
    activeDeadlineSeconds: 5,
    tolerations: [],
  }
  expect(refusals('v1', 'Pod', podOf(mayChange), before)).toEqual([])
  expect(refusals('v1', 'Pod', podOf({ containers: [container], nodeName: 'm' }), before)).toEqual([
    expect.stringMatching(/^spec: Forbidden: pod updates may not change fields other than/),
  ])
})

/** In fields that this gateway does not read, too. */
test.each<[kind: string, apiVersion: string, object: object, expected: readonly string[]]>([
  [
    'Pod',
    'v1',
    podOf({
      containers: [
        {
          ...container,
          stdin: 'yes',
          livenessProbe: { httpGet: { port: 'web', path: 1 }, periodSeconds: 1.5 },
          resources: { limits: { cpu: '500m', memory: '1 GB' }, requests: [] },
          command: 'run',
          securityContext: null,
        },
      ],
      nodeSelector: { disk: 1 },
      affinity: [],
    }),
    [
      'spec.containers[0].stdin: Invalid value: "yes": must be a boolean',
      'spec.containers[0].livenessProbe.httpGet.path: Invalid value: 1: must be a string',
      'spec.containers[0].livenessProbe.periodSeconds: Invalid value: 1.5: must be an integer',
      'spec.containers[0].resources.limits[memory]: Invalid value: "1 GB": must be a quantity',
      'spec.containers[0].resources.requests: Invalid value: []: must be an object',
      'spec.containers[0].command: Invalid value: "run": must be a list',
      'spec.nodeSelector[disk]: Invalid value: 1: must be a string',
      'spec.affinity: Invalid value: []: must be an object',
    ],
  ],
  [
    'Service',
    'v1',
    service({ ports: [port], loadBalancerSourceRanges: '10.0.0.0/8' }),
    ['spec.loadBalancerSourceRanges: Invalid value: "10.0.0.0/8": must be a list'],
  ],
  [
    'Event',
    'v1',
    {
      involvedObject: { namespace: 'default' },
      reason: 'A',
      type: 'Normal',
      source: { component: 'a' },
      lastTimestamp: 'yesterday',
      eventTime: null,
    },
    ['lastTimestamp: Invalid value: "yesterday": must be a time (RFC 3339)'],
  ],
])('types of a %s', (kind, apiVersion, object, expected) => {
  expect(refusals(apiVersion, kind, object)).toEqual(expected)
})

test('members that the platform does not know are told, unless the client does not want to know', () => {
  const object = podOf({ containers: [{ ...container, immage: 'b' }], nodeNam: 'a' })
  const admitted = admit('v1', 'Pod', object)
  expect([admitted.causes, admitted.warnings]).toEqual([
    [],
    [
      expect.stringContaining('spec.nodeNam: unknown field "nodeNam"'),
      'spec.containers[0].immage: unknown field "immage"',
    ],
  ])
  const served = KINDS.find(({ kind }) => kind === 'Pod')!
  const whole = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'default' }, ...object }
  expect(served.admit(whole, { unknownFields: 'ignore' }).warnings).toEqual([])
})
