import type { FieldOf, PolicySection, SpecOf } from '#api/policy-fields.ts'
import type { Origin } from '#base/origin.ts'
import type { BackendSpec, BackendType } from '#protocols/backend-protocols.ts'

/**
 * The plan is the configuration of the data plane: a set of plain, serialisable items, one per unit that a user edits. An item refers to
 * its parent by key, and no item lists its children, so that one edited object changes one small item. Keys are unique across all kinds of
 * items. Items are frozen JSON: no functions, no dates, no maps.
 */
export type PlanItem = AnyItem &
  (
    | GatewayItem
    | ListenerItem
    | RouteItem
    | RelayRouteItem
    | PolicyItem
    | BackendItem
    | EndpointsItem
    | SecretItem
    | ConfigMapItem
    | WorkloadItem
  )

interface AnyItem {
  /** Names of its fields that a data plane of an older version may ignore: without them it refuses nothing less (decision 0321). */
  readonly mayIgnore?: readonly string[]
}

/** A Gateway of this controller, without its listeners. Key: `Gateway/<namespace>/<name>`. */
export interface GatewayItem {
  readonly kind: 'gateway'
  readonly key: string
  readonly namespace: string
  readonly name: string
  /** How long its proxy waits when it stops, in seconds; undefined: not set (specification 1, 2.5). */
  readonly shutdown: { readonly min: number; readonly max: number } | undefined
  /** Its proxy is a member of a service mesh (specification 1, 2.5). */
  readonly mesh?: MeshDomains
  readonly origin: Origin
}

/** SPIFFE trust domains of a mesh. */
export interface MeshDomains {
  /** The domain of the proxy, and of the pods that it connects to. */
  readonly trustDomain: string
  /** Other domains, from which incoming tunnels are accepted, too. */
  readonly additionalTrustDomains: readonly string[]
}

/**
 * A listener of a Gateway or ListenerSet. Key: `Listener/<namespace>/<gateway>/<name>`, for a ListenerSet
 * `Listener/<namespace>/<gateway>/<set namespace>/<set>/<name>`.
 */
export interface ListenerItem {
  readonly kind: 'listener'
  readonly key: string
  readonly gateway: ObjectName
  /** The ListenerSet of the listener, if any. */
  readonly listenerSet: ObjectName | undefined
  readonly name: string
  /** The address of its socket: loopback, `--bind`, or the Gateway's own address. */
  readonly address: string
  readonly port: number
  readonly protocol: 'HTTP' | 'HTTPS' | 'TLS' | 'TCP'
  /** Empty, exact, or `*.suffix`; lower case. */
  readonly hostname: string
  /** Where TLS is terminated: at the gateway, or at the backend. Undefined: the protocol has no TLS. */
  readonly tlsMode: 'Terminate' | 'Passthrough' | undefined
  /**
   * Keys of the `SecretItem`s with certificates. If TLS is terminated and the list is empty, no certificate is usable and every handshake
   * fails.
   */
  readonly certificates: readonly string[]
  /** The listener requests client certificates. */
  readonly clientValidation?: ClientValidation
  /** The gateway sets X-Forwarded-For and related fields of requests; networks or addresses of proxies that are trusted. */
  readonly forwardedHeaders?: { readonly trustedProxies: readonly string[] }
  /** The gateway answers the challenges of an ACME server: the thumbprint of its account key (RFC 8555, 8.1). */
  readonly acmeThumbprint?: string
  /** Set if the listener cannot be served as it is meant: it refuses everything. */
  readonly broken?: string
  readonly origin: Origin
}

/** Common members of the rules of all routes. Key: `<Kind>/<namespace>/<name>/<rule index>`. */
interface RuleItem {
  readonly key: string
  readonly rule: number
  readonly ruleName: string | undefined
  /** RFC 3339; empty for objects from files (they count as oldest). */
  readonly created: string
  /** The listeners that the rule is attached to, each with the hostnames that both have in common (empty list: any host). */
  readonly attachments: readonly Attachment[]
  readonly backends: readonly WeightedBackend[]
  readonly origin: Origin
}

export interface Attachment {
  readonly listener: string
  readonly hostnames: readonly string[]
}

/** One rule of a route for requests. */
export interface RouteItem extends RuleItem {
  readonly kind: 'route'
  readonly route: ObjectName & { readonly kind: 'HTTPRoute' | 'GRPCRoute' }
  readonly matches: readonly RouteMatch[]
  /**
   * Set if the rule cannot be served as written (an unknown filter, or filters that exclude each other). It then has no backends, and
   * requests get status 500.
   */
  readonly broken?: string
}

/** One rule of a route for connections that are relayed. */
export interface RelayRouteItem extends RuleItem {
  readonly kind: 'relay-route'
  readonly route: ObjectName & { readonly kind: 'TCPRoute' | 'TLSRoute' }
}

/** The authorities for client certificates, and whether other clients are accepted (Gateway API, FrontendTLSValidation). */
export interface ClientValidation {
  /** Keys of the `ConfigMapItem`s and `SecretItem`s with the authorities in `ca.crt`. */
  readonly authorities: readonly string[]
  readonly mode: 'AllowValidOnly' | 'AllowInsecureFallback'
}

export interface ObjectName {
  readonly namespace: string
  readonly name: string
}

export interface RouteMatch {
  readonly path: { readonly type: 'Exact' | 'PathPrefix' | 'RegularExpression'; readonly value: string }
  readonly method: string | undefined
  readonly headers: readonly ValueMatch[]
  readonly queryParams: readonly ValueMatch[]
}

export interface ValueMatch {
  readonly name: string
  readonly type: 'Exact' | 'RegularExpression'
  readonly value: string
}

export interface WeightedBackend {
  /** Key of a `BackendItem`; undefined if the reference is broken: its share of the traffic is refused. */
  readonly backend: string | undefined
  readonly weight: number
  /** Path of the reference in the route: `spec.rules[0].backendRefs[1]`. */
  readonly path: string
  /** Target of its own filters; undefined: it has none. */
  readonly filters?: string
}

/** Level of a policy; a higher number takes precedence (specification 1, 2.6; decision A-22). */
export const LEVEL = {
  Gateway: 0,
  ListenerSet: 1,
  Listener: 2,
  Route: 3,
  RouteRule: 4,
  /** Written in the route rule itself: filters, timeouts, retry. */
  RouteFilter: 5,
  /** A BackendTLSPolicy that targets the Service or ProxyBackend (decision A-62). */
  BackendTLSPolicy: 6,
  /** The same with a section. */
  BackendTLSPolicySection: 7,
  /** A ProxyPolicy that targets the Service or ProxyBackend. */
  Backend: 8,
  /** The same with a section: port, provider, MCP target. */
  BackendSection: 9,
  /** `ProxyBackend.spec.policies`. */
  BackendInline: 10,
  /** `policies` of one provider or MCP target. */
  SectionInline: 11,
} as const
export type LevelName = keyof typeof LEVEL

export type Phase = 'PreRouting' | 'PostRouting'

/** One field of one policy section, attached to one target. Key: `Policy/<target>/<section>[/<phase>]/<field>/<kind>/<namespace>/<name>`. */
export type PolicyItem<Section extends PolicySection = PolicySection> = {
  [S in Section]: FieldItem<S, FieldOf<S>>
}[Section]

type FieldItem<Section extends PolicySection, Field extends FieldOf<Section>> = {
  [F in Field]: AnyPolicyItem & {
    readonly section: Section
    readonly field: F
    /** The value of the field as written, schema defaults applied. */
    readonly spec: SpecOf<Section, F>
  }
}[Field]

interface AnyPolicyItem {
  readonly kind: 'policy'
  readonly key: string
  /** Traffic only. */
  readonly phase: Phase | undefined
  /** Key of its target, see `plan/target.ts`. */
  readonly target: string
  readonly level: LevelName
  readonly origin: Origin
  /** Path of the field in its object: `spec.traffic.rateLimit`. */
  readonly path: string
  /** RFC 3339; empty for objects from files. */
  readonly created: string
  /** Keys of backends that the field names but must not use (no ReferenceGrant, decision A-35). For this field they do not exist. */
  readonly notPermitted?: readonly string[]
  /** Set if the field cannot be applied at all: it refuses what it would apply to. */
  readonly broken?: string
}

/** A destination. Key: `ProxyBackend/<namespace>/<name>` or `Service/<namespace>/<name>/<port>`. */
export type BackendItem<Type extends BackendType = BackendType> = {
  [T in Type]: AnyBackendItem & {
    readonly type: T
    /** For a ProxyBackend the member named by `type`, without policies; for a Service its port. */
    readonly spec: BackendSpec<T>
  }
}[Type]

interface AnyBackendItem {
  readonly kind: 'backend'
  readonly key: string
  readonly namespace: string
  readonly name: string
  /** Where it is in its object, if it is only a part of that (`ownBackendName`). */
  readonly path?: string
  /** Limits of each endpoint in a worker, if its annotations set them. */
  readonly bounds?: { readonly maxConnections?: number; readonly maxWaiting?: number }
  /** Set if the object cannot be used: routes to it respond with 500. */
  readonly broken: string | undefined
  readonly origin: Origin
}

/** An MCP server of a backend of type `mcp`. */
export type ResolvedMcpTarget = BackendSpec<'mcp'>['targets'][number]

/**
 * Ready addresses of one Service port. Key: `Endpoints/<namespace>/<service>/<port>`. A Service of type ExternalName has one address, whose
 * host is a DNS name.
 */
export interface EndpointsItem {
  readonly kind: 'endpoints'
  readonly key: string
  readonly addresses: readonly EndpointAddress[]
  readonly origin: Origin
}

export interface EndpointAddress {
  readonly host: string
  readonly port: number
  /** The pod with the address, if it is in the mesh; only while a Gateway has `mesh`. */
  readonly meshPod?: MeshPod
}

/** A pod that accepts tunnels of the mesh. Its SPIFFE id consists of the trust domain, its namespace and its service account. */
export interface MeshPod {
  readonly namespace: string
  readonly name: string
  readonly serviceAccount: string
}

/** A Secret that some item refers to. Key: `Secret/<namespace>/<name>`. */
export interface SecretItem {
  readonly kind: 'secret'
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Entry name to its bytes as latin-1 text. */
  readonly data: Readonly<Record<string, string>>
  readonly origin: Origin
}

/** A ConfigMap that some item refers to. Key: `ConfigMap/<namespace>/<name>`. */
export interface ConfigMapItem {
  readonly kind: 'configmap'
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly data: Readonly<Record<string, string>>
  readonly origin: Origin
}

/**
 * A Pod, for expressions that read the client's Pod; in the plan only while such an expression exists. Key: `Workload/<namespace>/<pod>`.
 */
export interface WorkloadItem {
  readonly kind: 'workload'
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly serviceAccount: string
  /** IP addresses in canonical form; no two Pods of the plan have the same. */
  readonly addresses: readonly string[]
  readonly origin: Origin
}
