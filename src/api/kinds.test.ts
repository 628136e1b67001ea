import { expect, test } from 'vitest'
import { nodeOf, type SchemaNode, validate } from '#schema/index.ts'
import { complete } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'
import { apiVersionOf, findKind, isKind, KINDS } from './kinds.ts'
import { keyOf, objectKey } from './object.ts'
import { BACKEND_FIELDS, FRONTEND_FIELDS, TRAFFIC_FIELDS } from './policy-sections.ts'

verifies(['resource/kind-names', 'service/namespaced'], 'the kinds, their versions and names', () => {
  const lines = KINDS.map((info) => {
    const scope = info.namespaced ? 'namespaced' : 'cluster'
    return `${apiVersionOf(info)} ${info.kind} ${info.plural} ${info.shortNames.join(',')} ${scope}`
  })
  expect(lines).toEqual([
    'gatewright.dev/v1alpha1 ProxyBackend proxybackends pbackend namespaced',
    'gatewright.dev/v1alpha1 ProxyParameters proxyparameters pparams namespaced',
    'gatewright.dev/v1alpha1 ProxyPolicy proxypolicies ppolicy namespaced',
    'gateway.networking.k8s.io/v1 GatewayClass gatewayclasses gc cluster',
    'gateway.networking.k8s.io/v1 Gateway gateways gtw namespaced',
    'gateway.networking.k8s.io/v1 ListenerSet listenersets lset namespaced',
    'gateway.networking.k8s.io/v1 HTTPRoute httproutes  namespaced',
    'gateway.networking.k8s.io/v1 GRPCRoute grpcroutes  namespaced',
    'gateway.networking.k8s.io/v1 TCPRoute tcproutes  namespaced',
    'gateway.networking.k8s.io/v1 TLSRoute tlsroutes  namespaced',
    'gateway.networking.k8s.io/v1 ReferenceGrant referencegrants refgrant namespaced',
    'gateway.networking.k8s.io/v1 BackendTLSPolicy backendtlspolicies btlspolicy namespaced',
    'v1 Service services svc namespaced',
    'v1 Secret secrets  namespaced',
    'v1 ConfigMap configmaps cm namespaced',
    'v1 Namespace namespaces ns cluster',
    'discovery.k8s.io/v1 EndpointSlice endpointslices  namespaced',
    'v1 Pod pods po namespaced',
  ])
})

verifies('version/only-v1alpha1', 'our own kinds have one version', () => {
  expect(KINDS.filter((info) => info.own).map((info) => info.versions)).toEqual([
    ['v1alpha1'],
    ['v1alpha1'],
    ['v1alpha1'],
  ])
})

test('the fields of the sections, in the order of the specification', () => {
  expect(FRONTEND_FIELDS.join(' ')).toBe('tcp networkAuthorization tls http proxyProtocol accessLog tracing metrics')
  expect(TRAFFIC_FIELDS.join(' ')).toBe(
    'transformation extProc extAuth rateLimit cors csrf headerModifiers hostRewrite timeouts retry authorization ' +
      'jwtAuthentication basicAuthentication apiKeyAuthentication directResponse',
  )
  expect(BACKEND_FIELDS.join(' ')).toBe('tcp tls http tunnel auth ai transformation health mcp extAuth')
})

verifies('platform/object-meta', 'metadata has the fields of the platform, and allows fields that tools write', () => {
  const { schema } = findKind('ProxyBackend')!
  const judge = (metadata: unknown) => {
    const object = { ...complete('ProxyBackend', { spec: { dynamicForwardProxy: {} } }), metadata }
    return validate(schema, object).problems.map(({ path, code }) => `${path} ${code}`)
  }
  expect(
    judge({
      name: 'a',
      namespace: 'b',
      labels: { 'app.kubernetes.io/name': 'x', empty: '' },
      annotations: { note: 'any text' },
      creationTimestamp: null,
      managedFields: [{ manager: 'kubectl' }],
      generation: 3,
      finalizers: [],
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u', controller: true }],
    }),
  ).toEqual([])
  expect(judge({ name: 'A' })).toEqual(['metadata.name invalid-name'])
  expect(judge({ name: 'a', namespace: 'a.b' })).toEqual(['metadata.namespace invalid-namespace'])
  expect(judge({ name: 'a', labels: { a: 'no spaces' } })).toEqual(['metadata.labels[a] invalid-name'])
  expect(judge({ name: 'a', annotations: { 'no spaces': 'x', '/a': 'x' } })).toEqual([
    'metadata.annotations[no spaces] invalid-name',
    'metadata.annotations[/a] invalid-name',
  ])
  expect(judge({ name: 'a', labels: { a: 1 } })).toEqual(['metadata.labels[a] wrong-type'])
})

verifies('resource/status-observed-state', 'an object may carry a status', () => {
  const { schema } = findKind('ProxyPolicy')!
  const spec = { targetRefs: [{ group: '', kind: 'Service', name: 'a' }], backend: { tls: {} } }
  expect(validate(schema, complete('ProxyPolicy', { spec })).problems).toEqual([])
  expect(validate(schema, complete('ProxyPolicy', { spec, status: { ancestors: [] } })).problems).toEqual([])
  expect(validate(schema, complete('ProxyPolicy', { spec, status: 'fine' })).problems).toMatchObject([
    { path: 'status', code: 'wrong-type' },
  ])
})

test('every field has a text for docs', () => {
  const missing: string[] = []
  const visit = (node: SchemaNode, path: string) => {
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      if (property.description === undefined) missing.push(`${path}.${name}`)
      visit(property, `${path}.${name}`)
    }
    if (node.items !== undefined) visit(node.items, `${path}[]`)
    if (node.additionalProperties !== undefined) visit(node.additionalProperties, `${path}{}`)
  }
  for (const info of KINDS) visit(nodeOf(info.schema), info.kind)
  expect(missing).toEqual([])
})

test('keys and narrowing', () => {
  const metadata = { name: 'shop', namespace: 'default' }
  expect(keyOf({ kind: 'HTTPRoute', metadata })).toBe('HTTPRoute/default/shop')
  expect(objectKey('Namespace', '', 'shop')).toBe('Namespace//shop')
  expect(isKind({ kind: 'HTTPRoute' }, 'HTTPRoute')).toBe(true)
  expect(isKind({ kind: 'HTTPRoute' }, 'GRPCRoute')).toBe(false)
})

/** Fields of the platform that the gateway does not read. */
const POD_SPEC = `
  activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks
  ephemeralContainers hostAliases hostIPC hostPID hostUsers hostname hostnameOverride imagePullSecrets initContainers
  nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates resourceClaims
  resources restartPolicy runtimeClassName schedulerName schedulingGates securityContext serviceAccount
  setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations
  topologySpreadConstraints volumes workloadRef
`
const POD_STATUS = `
  allocatedResources conditions containerStatuses ephemeralContainerStatuses extendedResourceClaimStatus hostIP
  hostIPs initContainerStatuses message nominatedNodeName observedGeneration qosClass reason resize
  resourceClaimStatuses resources startTime
`
const SERVICE_SPEC = `
  allocateLoadBalancerNodePorts clusterIPs externalIPs externalTrafficPolicy healthCheckNodePort internalTrafficPolicy
  ipFamilyPolicy loadBalancerClass loadBalancerIP loadBalancerSourceRanges publishNotReadyAddresses
  sessionAffinity sessionAffinityConfig trafficDistribution
`

function fieldsOf(names: string): Readonly<Record<string, object>> {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, {}]),
  )
}

/** `[kind, members, expected problems]`; an empty list is a valid object. */
const PLATFORM_OBJECTS = [
  ['GatewayClass', { spec: { controllerName: 'gatewright.dev/controller' } }, []],
  ['GatewayClass', { spec: { controllerName: 'gatewright' } }, ['spec.controllerName invalid-name']],
  [
    'Gateway',
    { spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] } },
    [],
  ],
  [
    'Gateway',
    {
      spec: {
        gatewayClassName: 'gatewright',
        listeners: [{ name: 'a', port: 0, protocol: 'HTTP', hostname: 'A' }, { name: 'a' }],
      },
    },
    [
      'spec.listeners[0].port out-of-range',
      'spec.listeners[0].hostname invalid-host',
      'spec.listeners[1].port required',
      'spec.listeners[1].protocol required',
      'spec.listeners[1].name duplicate',
    ],
  ],
  ['ListenerSet', { spec: { parentRef: { name: 'main' }, listeners: [] } }, ['spec.listeners too-few-items']],
  [
    'HTTPRoute',
    { spec: { rules: [{ backendRefs: [{ name: 'web' }] }] } },
    ['spec.rules[0].backendRefs[0].port required'],
  ],
  [
    'HTTPRoute',
    { spec: { rules: [{ matches: [{ path: { value: 'x' } }] }] } },
    ['spec.rules[0].matches[0].path.value invalid-path'],
  ],
  ...['/a//b', '/a/./b', '/a/..', '/.', '/a%2Fb', '/a%5cb', '/a\\b', '/%2e%2e/b', '/a%zz', '/a%00', '/a#b'].map(
    (value) =>
      [
        'HTTPRoute',
        { spec: { rules: [{ matches: [{ path: { value } }] }] } },
        ['spec.rules[0].matches[0].path.value invalid-path'],
      ] as const,
  ),
  ['HTTPRoute', { spec: { rules: [{ matches: [{ path: { value: '/.well-known/..a/' } }] }] } }, []],
  [
    'HTTPRoute',
    { spec: { rules: [{ filters: [{ type: 'URLRewrite', cors: {} }, { type: 'FromTheFuture' }] }] } },
    ['spec.rules[0].filters[0].urlRewrite required', 'spec.rules[0].filters[0].cors not-together'],
  ],
  ['HTTPRoute', { spec: { rules: [{ filters: [{ type: 'toString' }] }] } }, []],
  [
    'HTTPRoute',
    {
      spec: {
        rules: [
          { filters: [{ type: 'CORS', cors: { allowOrigins: ['*'], allowHeaders: ['a'], exposeHeaders: ['b'] } }] },
        ],
      },
    },
    [],
  ],
  [
    'HTTPRoute',
    {
      spec: {
        rules: [{ filters: [{ type: 'CORS', cors: { allowOrigins: [''], allowHeaders: [''], exposeHeaders: [''] } }] }],
      },
    },
    ['allowOrigins[0]', 'allowHeaders[0]', 'exposeHeaders[0]'].map(
      (path) => `spec.rules[0].filters[0].cors.${path} too-short`,
    ),
  ],
  [
    'GRPCRoute',
    { spec: { rules: [{ matches: [{ method: {} }] }] } },
    ['spec.rules[0].matches[0].method at-least-one-of'],
  ],
  ['TCPRoute', { spec: { rules: [{ backendRefs: [{ name: 'db', port: 5432 }] }] } }, []],
  ['TLSRoute', { spec: { hostnames: ['a_b'], rules: [{}] } }, ['spec.hostnames[0] invalid-host']],
  ['ReferenceGrant', { spec: { from: [{ group: '', kind: 'A', namespace: 'a' }], to: [] } }, ['spec.to too-few-items']],
  [
    'BackendTLSPolicy',
    {
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name: 'a' }],
        validation: { hostname: 'a', wellKnownCACertificates: 'System' },
      },
    },
    [],
  ],
  ['Service', { spec: { ports: [{ port: 80, targetPort: 'http', nodePort: 30_000 }], sessionAffinity: 'None' } }, []],
  ['Service', { spec: { ports: [{ port: 80, targetPort: true }] } }, ['spec.ports[0].targetPort wrong-type']],
  ['Secret', { data: { a: 'YQ==' }, stringData: { b: 'b' } }, []],
  ['Secret', { data: { a: 'plain text' } }, ['data[a] invalid-base64']],
  ['ConfigMap', { data: { a: 1 } }, ['data[a] wrong-type']],
  ['Namespace', {}, []],
  ['EndpointSlice', { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] }, []],
  ['EndpointSlice', { addressType: 'IP' }, ['addressType unknown-value']],
  [
    'Pod',
    { spec: { containers: [], nodeName: 'n' }, status: { podIPs: [{ ip: '10.0.0.1' }], hostIP: '10.0.0.9' } },
    [],
  ],
  ['Pod', { spec: fieldsOf(POD_SPEC), status: fieldsOf(POD_STATUS) }, []],
  ['Service', { spec: fieldsOf(SERVICE_SPEC) }, []],
  ['Pod', { status: { podIPs: ['10.0.0.1'] } }, ['status.podIPs[0] wrong-type']],
] as const

test.each(PLATFORM_OBJECTS)('%s %j', (kind, members, expected) => {
  const { problems, tolerated } = validate(findKind(kind)!.schema, complete(kind, members))
  expect(problems.map(({ path, code }) => `${path} ${code}`)).toEqual(expected)
  expect(tolerated).toEqual([])
})

test('routes get the defaults of the platform', () => {
  const object = complete('HTTPRoute', {
    spec: { parentRefs: [{ name: 'main' }], rules: [{ backendRefs: [{ name: 'a', port: 1 }] }] },
  })
  expect(validate(findKind('HTTPRoute')!.schema, object).value).toMatchObject({
    spec: {
      parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway' }],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [{ group: '', kind: 'Service', weight: 1 }],
        },
      ],
    },
  })
})

/** Bounds of lists and numbers, and the words of enumerations, by the name of the field. */
function limitsOf(node: SchemaNode, name: string): string[] {
  const { items, properties = {}, enum: words, minItems = 0, maxItems, minimum, maximum } = node
  return [
    ...(maxItems === undefined ? [] : [`${name} ${minItems}-${maxItems}`]),
    ...(minimum === undefined ? [] : [`${name} ${minimum}-${maximum ?? ''}`]),
    ...(words === undefined ? [] : [`${name} ${words.join('|')}`]),
    ...(items === undefined ? [] : limitsOf(items, name)),
    ...Object.entries(properties).flatMap(([member, each]) => limitsOf(each, member)),
  ]
}

const LISTENER =
  'port 1-65535, mode Terminate|Passthrough, certificateRefs 0-64, caCertificateRefs 1-16, mode AllowValidOnly|AllowInsecureFallback, ' +
  'from All|Selector|Same|None, operator In|NotIn|Exists|DoesNotExist, kinds 0-8'
const PARENTS = 'parentRefs 0-32, port 1-65535'
const BACKENDS = 'backendRefs 0-16, weight 0-1000000'
const SESSIONS = 'type Cookie|Header, lifetimeType Session|Permanent'
const HEADER_MODIFIERS_AND_MIRROR =
  'filters 0-16, set 0-16, add 0-16, remove 0-16, percent 0-100, numerator 0-, denominator 1-'

test.each([
  ['Gateway', `listeners 0-64, ${LISTENER}, addresses 0-16, perPort 0-64`],
  ['ListenerSet', `listeners 1-64, ${LISTENER}`],
  [
    'HTTPRoute',
    `${PARENTS}, hostnames 0-16, rules 1-16, matches 0-64, type Exact|PathPrefix|RegularExpression, headers 0-16, ` +
      'type Exact|RegularExpression, queryParams 0-16, method GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH, ' +
      `${HEADER_MODIFIERS_AND_MIRROR}, scheme http|https, type ReplaceFullPath|ReplacePrefixMatch, statusCode 300-399, ` +
      'allowOrigins 0-64, allowMethods 0-16, allowHeaders 0-64, exposeHeaders 0-64, maxAge 1-, ' +
      `protocol HTTP|GRPC, allowedHeaders 0-64, allowedResponseHeaders 0-64, maxSize 0-, ${BACKENDS}, codes 400-599, ${SESSIONS}`,
  ],
  [
    'GRPCRoute',
    `${PARENTS}, hostnames 0-16, rules 0-16, matches 0-64, type Exact|RegularExpression, headers 0-16, ` +
      `${HEADER_MODIFIERS_AND_MIRROR}, ${BACKENDS}, ${SESSIONS}`,
  ],
  ['TCPRoute', `${PARENTS}, rules 1-16, ${BACKENDS}`],
  ['TLSRoute', `${PARENTS}, hostnames 0-1024, rules 1-16, ${BACKENDS}`],
  ['ReferenceGrant', 'from 1-16, to 1-16'],
  [
    'BackendTLSPolicy',
    'targetRefs 1-16, caCertificateRefs 1-8, wellKnownCACertificates System, subjectAltNames 0-5, type Hostname|URI',
  ],
  ['Service', 'protocol TCP|UDP|SCTP, port 1-65535, ipFamilies IPv4|IPv6'],
  [
    'EndpointSlice',
    'addressType IPv4|IPv6|FQDN, endpoints 0-1000, addresses 1-100, ports 0-100, port 0-65535, protocol TCP|UDP|SCTP',
  ],
])('limits of %s', (kind, expected) => {
  expect([...new Set(limitsOf(nodeOf(findKind(kind)!.schema), kind))].join(', ')).toBe(expected)
})
