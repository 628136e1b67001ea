import type { TSchema } from '#schema/index.ts'
import { type BackendTLSPolicyObject, backendTlsPolicy } from './backend-tls-policy.ts'
import { type ConfigMapObject, configMap } from './config-map.ts'
import { type EndpointSliceObject, endpointSlice } from './endpoint-slice.ts'
import { type GatewayObject, gateway } from './gateway.ts'
import { type GatewayClassObject, gatewayClass } from './gateway-class.ts'
import { GATEWAY_GROUP, OWN_GROUP } from './groups.ts'
import { type GRPCRouteObject, grpcRoute } from './grpc-route.ts'
import { type HTTPRouteObject, httpRoute } from './http-route.ts'
import { type ListenerSetObject, listenerSet } from './listener-set.ts'
import { type NamespaceObject, namespace } from './namespace.ts'
import { type PodObject, pod } from './pod.ts'
import { type ProxyBackendObject, proxyBackend } from './proxy-backend.ts'
import { type ProxyParametersObject, proxyParameters } from './proxy-parameters.ts'
import { type ProxyPolicyObject, proxyPolicy } from './proxy-policy.ts'
import { type ReferenceGrantObject, referenceGrant } from './reference-grant.ts'
import { type SecretObject, secret } from './secret.ts'
import { type ServiceObject, service } from './service.ts'
import { type TCPRouteObject, tcpRoute } from './tcp-route.ts'
import { type TLSRouteObject, tlsRoute } from './tls-route.ts'

/** The objects of each known kind. */
export interface ObjectsByKind {
  ProxyBackend: ProxyBackendObject
  ProxyParameters: ProxyParametersObject
  ProxyPolicy: ProxyPolicyObject
  GatewayClass: GatewayClassObject
  Gateway: GatewayObject
  ListenerSet: ListenerSetObject
  HTTPRoute: HTTPRouteObject
  GRPCRoute: GRPCRouteObject
  TCPRoute: TCPRouteObject
  TLSRoute: TLSRouteObject
  ReferenceGrant: ReferenceGrantObject
  BackendTLSPolicy: BackendTLSPolicyObject
  Service: ServiceObject
  Secret: SecretObject
  ConfigMap: ConfigMapObject
  Namespace: NamespaceObject
  EndpointSlice: EndpointSliceObject
  Pod: PodObject
}

export type KindName = keyof ObjectsByKind

/** An object of a known kind, discriminated by `kind`. */
export type KnownObject = ObjectsByKind[KindName]

/** Properties of a kind. */
export interface KindInfo {
  /** Empty for the core group. */
  readonly group: string
  readonly kind: KindName
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Accepted versions; the first is the stored version. */
  readonly versions: readonly [string, ...string[]]
  readonly namespaced: boolean
  /** A kind of this gateway: unknown fields are refused. */
  readonly own: boolean
  /** The gateway writes the status, so the status of a loaded object is ignored. */
  readonly statusIsOurs: boolean
  readonly schema: TSchema
  /** The kind in one sentence, for users. */
  readonly description: string
}

const DESCRIPTIONS: { readonly [K in KindName]: string } = {
  ProxyBackend: 'A destination: a host, LLM providers, MCP servers or an A2A agent.',
  ProxyParameters: 'Settings of the proxy itself: logging, shutdown, session key, deployment.',
  ProxyPolicy: 'Policies for clients, requests or backends, attached to Gateways, routes, Services or ProxyBackends.',
  GatewayClass: 'A class of Gateways, with the controller that serves them.',
  Gateway: 'Listeners: the ports, protocols, hosts and certificates that clients connect to.',
  ListenerSet: 'Additional listeners of a Gateway.',
  HTTPRoute: 'Selects backends for HTTP requests by host, path, method, headers and query.',
  GRPCRoute: 'Selects backends for gRPC calls by host, service, method and headers.',
  TCPRoute: 'Selects backends for TCP connections.',
  TLSRoute: 'Selects backends for TLS connections by server name.',
  ReferenceGrant: 'Permits references to objects of this namespace from other namespaces.',
  BackendTLSPolicy: 'TLS towards the endpoints of a Service.',
  Service: 'A backend with ports, whose endpoints are in EndpointSlices.',
  Secret: 'Confidential values, such as keys and certificates.',
  ConfigMap: 'Values that are not confidential, such as certificates of authorities.',
  Namespace: 'Labels of a namespace.',
  EndpointSlice: 'Addresses and ports of the endpoints of a Service.',
  Pod: 'A workload; its address identifies clients in expressions.',
}

function own(kind: KindName, plural: string, shortName: string, schema: TSchema): KindInfo {
  const names = { group: OWN_GROUP, kind, plural, shortNames: [shortName], categories: ['gatewright'] }
  const description = DESCRIPTIONS[kind]
  return { ...names, versions: ['v1alpha1'], namespaced: true, own: true, statusIsOurs: true, schema, description }
}

interface PlatformNames {
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly versions: readonly [string, ...string[]]
  readonly namespaced?: boolean
}

function platform(group: string, kind: KindName, schema: TSchema, names: PlatformNames): KindInfo {
  const statusIsOurs = group === GATEWAY_GROUP
  const {
    plural,
    shortNames = [],
    categories = statusIsOurs ? ['gateway-api'] : [],
    versions,
    namespaced = true,
  } = names
  const identity = { group, kind, plural, shortNames, categories, versions, description: DESCRIPTIONS[kind] }
  return { ...identity, namespaced, own: false, statusIsOurs, schema }
}

/** Every kind, in the order of listings. */
export const KINDS: readonly KindInfo[] = [
  own('ProxyBackend', 'proxybackends', 'pbackend', proxyBackend),
  own('ProxyParameters', 'proxyparameters', 'pparams', proxyParameters),
  own('ProxyPolicy', 'proxypolicies', 'ppolicy', proxyPolicy),
  platform(GATEWAY_GROUP, 'GatewayClass', gatewayClass, {
    plural: 'gatewayclasses',
    shortNames: ['gc'],
    versions: ['v1', 'v1beta1'],
    namespaced: false,
  }),
  platform(GATEWAY_GROUP, 'Gateway', gateway, { plural: 'gateways', shortNames: ['gtw'], versions: ['v1', 'v1beta1'] }),
  platform(GATEWAY_GROUP, 'ListenerSet', listenerSet, {
    plural: 'listenersets',
    shortNames: ['lset'],
    versions: ['v1'],
  }),
  platform(GATEWAY_GROUP, 'HTTPRoute', httpRoute, { plural: 'httproutes', versions: ['v1', 'v1beta1'] }),
  platform(GATEWAY_GROUP, 'GRPCRoute', grpcRoute, { plural: 'grpcroutes', versions: ['v1', 'v1alpha2'] }),
  platform(GATEWAY_GROUP, 'TCPRoute', tcpRoute, { plural: 'tcproutes', versions: ['v1', 'v1alpha2'] }),
  platform(GATEWAY_GROUP, 'TLSRoute', tlsRoute, { plural: 'tlsroutes', versions: ['v1', 'v1alpha3', 'v1alpha2'] }),
  platform(GATEWAY_GROUP, 'ReferenceGrant', referenceGrant, {
    plural: 'referencegrants',
    shortNames: ['refgrant'],
    versions: ['v1', 'v1beta1'],
  }),
  platform(GATEWAY_GROUP, 'BackendTLSPolicy', backendTlsPolicy, {
    plural: 'backendtlspolicies',
    shortNames: ['btlspolicy'],
    versions: ['v1', 'v1alpha3'],
  }),
  platform('', 'Service', service, {
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    versions: ['v1'],
  }),
  platform('', 'Secret', secret, { plural: 'secrets', versions: ['v1'] }),
  platform('', 'ConfigMap', configMap, { plural: 'configmaps', shortNames: ['cm'], versions: ['v1'] }),
  platform('', 'Namespace', namespace, {
    plural: 'namespaces',
    shortNames: ['ns'],
    versions: ['v1'],
    namespaced: false,
  }),
  platform('discovery.k8s.io', 'EndpointSlice', endpointSlice, { plural: 'endpointslices', versions: ['v1'] }),
  platform('', 'Pod', pod, { plural: 'pods', shortNames: ['po'], categories: ['all'], versions: ['v1'] }),
]

const BY_KIND: ReadonlyMap<string, KindInfo> = new Map(KINDS.map((info) => [info.kind, info]))

/** Kind names are unique across all known groups. */
export function findKind(kind: string): KindInfo | undefined {
  return BY_KIND.get(kind)
}

/** `gatewright.dev/v1alpha1`, or `v1` for the core group. */
export function apiVersionOf(info: KindInfo, version: string = info.versions[0]): string {
  return info.group === '' ? version : `${info.group}/${version}`
}

/** Narrows an object to its kind. */
export function isKind<K extends KindName>(object: { readonly kind: string }, kind: K): object is ObjectsByKind[K] {
  return object.kind === kind
}
