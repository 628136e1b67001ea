import type { Finding } from '#base/finding.ts'
import type { Origin } from '#base/origin.ts'

/** The state of an instance, as in `/status`. */
export interface StatusReport {
  readonly version: string
  /** Version of the plan that all workers use; 0 before the first one. */
  readonly planVersion: number
  /** Why load balancers must not send traffic, as `/healthz/ready` says; empty: the gateway is ready. */
  readonly notReady: readonly string[]
  readonly objects: readonly ObjectReport[]
  readonly listeners: readonly ListenerReport[]
  /** Problems of the files, one line each, with position. Objects with errors are ignored or keep their last valid version. */
  readonly problems: readonly string[]
  /** Files whose current content is invalid, so that previous objects are in use. */
  readonly staleFiles: readonly StaleFileReport[]
  readonly workers: readonly WorkerReport[]
  /** Outputs that cannot be written at the moment. Requests are served nevertheless, so the gateway stays ready. */
  readonly failingOutputs: readonly OutputReport[]
  /** Where its configuration is from; only of a proxy. */
  readonly configuration?: ConfigurationReport
  /** Its identity in a service mesh; only of a proxy in one. */
  readonly mesh?: MeshReport
  /** Connected proxies; only of a controller. */
  readonly proxies?: readonly ProxyReport[]
  /** Endpoints of all backends. */
  readonly endpoints: readonly EndpointReport[]
  /** Prompt guards whose service is spared, because it failed 5 times in a row. */
  readonly openCircuits: readonly CircuitReport[]
  /** Remote key sets of token issuers. */
  readonly keySets: readonly KeySetReport[]
  /** Credentials of clouds for backends. */
  readonly credentials: readonly CredentialReport[]
}

export interface ObjectReport {
  readonly origin: Origin
  /** As in the API: conditions, addresses, ancestors. */
  readonly status: unknown
  readonly findings: readonly FindingReport[]
}

export interface FindingReport extends Omit<Finding, 'origin'> {
  /** `keys.yaml:12:7`, if the object is in a file. */
  readonly at?: string
}

export interface ListenerReport {
  /** Gateway and listener: `default/main/http`. */
  readonly listener: string
  readonly address: string
  readonly port: number
  readonly bound: boolean
  /** Why it is not bound, or accepts no connection although it is. */
  readonly message?: string
}

export interface StaleFileReport {
  readonly file: string
  /** RFC 3339. */
  readonly since: string
  /** Keys of the objects kept from an earlier version: `ProxyPolicy/default/keys`. */
  readonly objects: readonly string[]
  /** One line each, with position. */
  readonly problems: readonly string[]
}

export interface OutputReport {
  /** `access log`, `decision records`, `traces to ProxyBackend/default/collector`, `metrics over OTLP`. */
  readonly output: string
  readonly cause: string
  /** RFC 3339. */
  readonly since: string
  /** Lines, records, entries, spans or metrics that were lost since the gateway started; of OTLP those of the signal, whatever their server. */
  readonly lost: number
}

export interface ProxyReport {
  /** `default/main` */
  readonly gateway: string
  readonly proxy: string
  /** From which it is connected. */
  readonly address: string
  /** Of its program; undefined: it has not said so. */
  readonly version?: string
  /** It runs the newest version of its plan. */
  readonly isCurrent: boolean
  /** Items of its plan that it cannot use. */
  readonly refusals: readonly { readonly item: string; readonly message: string }[]
}

/** Versions are hashes of the contents, so that they are the same in all proxies of a Gateway and all replicas of its controller. */
export interface ConfigurationReport {
  /** The version that all workers use; undefined: none yet. */
  readonly inForce?: string
  /** The last whole version that the controller has delivered. */
  readonly delivered?: string
  /** When the controller last confirmed that it is the newest one (RFC 3339); undefined: never. */
  readonly confirmedAt?: string
  /** Why it does not confirm that now; undefined: it does. */
  readonly unconfirmed?: string
}

/** Times are in RFC 3339. */
export interface MeshReport {
  /** SPIFFE id. */
  readonly id: string
  /** URL of the CA. */
  readonly ca: string
  /** Of the certificate in use; undefined: there is none, and no tunnel can be opened or accepted. */
  readonly issuedAt?: string
  readonly expiresAt?: string
  /** When the next one is asked for. */
  readonly renewsAt?: string
  /** When the last one expired without another one. */
  readonly expiredAt?: string
  /** Why there is no new one; undefined: the last attempt succeeded. */
  readonly failure?: string
  readonly failingSince?: string
}

export interface EndpointReport {
  /** Key of its backend: `Service/default/web/80`. */
  readonly backend: string
  /** `host:port`, a socket path, or the name of a provider or MCP target. */
  readonly endpoint: string
  /** 0 to 1. */
  readonly health: number
  readonly consecutiveFailures: number
  /** End of its eviction (RFC 3339); undefined if it is in service. */
  readonly evictedUntil?: string
}

export interface CircuitReport {
  /** `ProxyPolicy/default/guards spec.backend.ai.promptGuard.request[0]`. */
  readonly guard: string
  /** `webhook` ... */
  readonly kind: string
  /** Key of the backend of the service. */
  readonly backend: string
}

export interface KeySetReport {
  /** Key of the backend that serves it: `Service/default/idp/8080`. */
  readonly backend: string
  readonly path: string
  /** When the keys in use were fetched (RFC 3339); undefined if there are none. */
  readonly fetchedAt?: string
  /** Why the last attempt failed; undefined if it succeeded. */
  readonly failure?: string
}

export interface CredentialReport {
  /** What it is and where it is from: `access token of Google Cloud from Secret default/google`. */
  readonly source: string
  /** When the one in use was obtained (RFC 3339); undefined if there is none. */
  readonly fetchedAt?: string
  /** When the one in use expires (RFC 3339); undefined if it does not. */
  readonly expiresAt?: string
  /** Why the last attempt failed; undefined if it succeeded. */
  readonly failure?: string
}

export interface WorkerReport {
  readonly name: string
  readonly planVersion: number
}
