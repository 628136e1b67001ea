import type { Finding } from '#base/finding.ts'
import type { Origin } from '#base/origin.ts'

/** How an instance is doing, as `/status` shows it. */
export interface StatusReport {
  readonly version: string
  /** Version of the plan that all workers run on; 0 before the first one. */
  readonly planVersion: number
  readonly objects: readonly ObjectReport[]
  readonly listeners: readonly ListenerReport[]
  /** What is wrong in the files themselves, one line each, with position. Objects with such errors are left out, or kept from before. */
  readonly problems: readonly string[]
  /** Files whose present content is bad, so that something older is in use. */
  readonly staleFiles: readonly StaleFileReport[]
  readonly workers: readonly WorkerReport[]
  /** Key sets of token issuers that are fetched. */
  readonly keySets: readonly KeySetReport[]
}

export interface ObjectReport {
  readonly origin: Origin
  /** As in the API: conditions, addresses, ancestors. */
  readonly status: unknown
  readonly findings: readonly Omit<Finding, 'origin'>[]
}

export interface ListenerReport {
  /** Gateway and listener: `default/main/http`. */
  readonly listener: string
  readonly address: string
  readonly port: number
  readonly bound: boolean
  /** Why it is not bound. */
  readonly message?: string
}

export interface StaleFileReport {
  readonly file: string
  /** RFC 3339. */
  readonly since: string
  /** `ProxyPolicy/default/keys`: objects kept from before. */
  readonly objects: readonly string[]
  /** One line each, with position. */
  readonly problems: readonly string[]
}

export interface KeySetReport {
  /** Key of the backend that it comes from: `Service/default/idp/8080`. */
  readonly backend: string
  readonly path: string
  /** RFC 3339; when the keys in use were fetched. Without it there are none. */
  readonly fetchedAt?: string
  /** Why the last attempt failed; without it, it did not. */
  readonly failure?: string
}

export interface WorkerReport {
  readonly name: string
  readonly planVersion: number
}
