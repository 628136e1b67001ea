import type { Phase } from '#plan/item.ts'

/**
 * What `explain` found out, in the order of processing: `-o json` prints it as it is, and the text is made of it. Credentials are hidden.
 * What was not reached is absent. Members are only ever added (docs/behaviour/lint-and-explain.md).
 */
export interface DescribedExplanation {
  readonly kind: 'request' | 'connection'
  /** Of a request. */
  readonly method?: string
  /** As typed. */
  readonly url: string
  /** Of a connection: the name that the client sends in the TLS handshake. */
  readonly serverName?: string
  /** Of a request: as received, and as routes and expressions see it. */
  readonly path?: { readonly received: string; readonly matched: string }
  readonly listener?: DescribedListener
  readonly route?: DescribedRoute
  /** Matches of other rules, and why they do not apply. */
  readonly nearMisses?: readonly DescribedMiss[]
  /** If no route is for the host: hostnames of the listener's routes. */
  readonly otherHostnames?: readonly string[]
  readonly policies?: readonly DescribedPolicy[]
  readonly steps?: readonly DescribedStep[]
  /** The client that a policy has identified. */
  readonly consumer?: string
  readonly callouts?: readonly DescribedCallout[]
  readonly limits?: readonly DescribedLimit[]
  readonly backends?: readonly DescribedBackend[]
  readonly endpoints?: readonly DescribedEndpoint[]
  /** How the protocol of the backend handles the request, in words. */
  readonly protocol?: readonly string[]
  readonly outcome: DescribedOutcome
}

/** An object, and its position if it is from a file. */
export interface Placed {
  /** `HTTPRoute default/shop` */
  readonly object: string
  readonly file?: string
  readonly line?: number
}

export interface DescribedListener extends Placed {
  readonly name: string
  readonly protocol: string
  readonly address: string
  readonly port: number
  /** Empty: any. */
  readonly hostname: string
}

export interface DescribedRule extends Placed {
  readonly rule: number
  readonly ruleName?: string
}

export interface DescribedRoute extends DescribedRule {
  /** `under prefix /shop`; of a request only. */
  readonly match?: string
  readonly method?: string
}

export interface DescribedMiss extends DescribedRule {
  readonly match: string
  readonly why: string
  /** The path matches; another condition does not, or another rule has precedence. */
  readonly pathMatches: boolean
}

/** An effective field, the policies that set it, and those that they override. */
export interface DescribedPolicy {
  /** `traffic.csrf` */
  readonly field: string
  /** As users write it, if that is not a field of a policy. */
  readonly writtenAs?: string
  readonly phase?: Phase
  readonly sources: readonly DescribedSource[]
  readonly overridden: readonly DescribedSource[]
}

export interface DescribedSource extends Placed {
  readonly path: string
  readonly level: string
}

export interface DescribedStep {
  readonly stage: string
  readonly name: string
  readonly verdict: 'proceed' | 'refuse' | 'answer'
  readonly detail?: string
  readonly notes: readonly string[]
}

/** A server that a policy asks. */
export interface DescribedCallout {
  readonly policy: string
  readonly backend: string
  /** It was asked (`--call`). */
  readonly sent: boolean
  readonly verdict?: 'allowed' | 'denied' | 'answered' | 'failed'
  readonly durationMs?: number
  readonly detail?: string
  /** What it is asked, as text with several lines. */
  readonly question: string
}

/** A local rate limit that the request takes from. */
export interface DescribedLimit {
  readonly unit: 'requests' | 'tokens'
  readonly capacity: number
  readonly intervalMs: number
  /** Of a limit by caller. */
  readonly key?: { readonly expression: string; readonly value?: string }
}

export interface DescribedBackend {
  readonly key: string
  readonly weight: number
  readonly chosen: boolean
}

export interface DescribedEndpoint {
  readonly label: string
  readonly section?: string
  /** From 1. */
  readonly priority: number
  readonly chosen: boolean
  /** Why it cannot take the request. */
  readonly unfit?: { readonly code: string; readonly detail?: string }
  /** The request names it. */
  readonly named?: true
  /** Connections go through tunnels to this pod of the mesh, which must prove that SPIFFE id. */
  readonly meshPod?: { readonly name: string; readonly identity: string }
  /** In each worker. */
  readonly maxConnections?: number
  readonly maxWaiting?: number
  /** Absent: it is never evicted. */
  readonly eviction?: DescribedEviction
}

export interface DescribedEviction {
  readonly durationMs: number
  readonly restoreHealth?: number
  readonly consecutiveFailures?: number
  readonly healthThreshold?: number
}

export type DescribedOutcome =
  /** No listener takes it. */
  | { readonly kind: 'unreachable'; readonly message: string }
  | DescribedRefusal
  /** The connection is closed. */
  | { readonly kind: 'closed'; readonly code: string; readonly text: string; readonly detail?: string }
  /** The gateway responds itself. */
  | { readonly kind: 'answered'; readonly status: number; readonly head: string; readonly body: string }
  /** `message`: the request to the backend, in the form of HTTP/1.1. */
  | { readonly kind: 'forwarded'; readonly http: 'http1' | 'http2' | 'negotiated'; readonly message: string }
  /** The protocol of the backend serves it; `protocol` says how. */
  | { readonly kind: 'served' }
  | { readonly kind: 'relayed'; readonly to: string; readonly unchanged: 'TLS' | 'bytes' }

export interface DescribedRefusal {
  readonly kind: 'refused'
  readonly code: string
  /** Of HTTP. */
  readonly status: number
  /** For a client that reads gRPC statuses; the status of HTTP is then 200. */
  readonly grpcStatus?: number
  /** What the client reads. */
  readonly text: string
  /** For operators. */
  readonly detail?: string
}
