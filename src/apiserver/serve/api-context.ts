import type { ApiState } from '../verbs/resource-request.ts'
import type { Snapshots } from '../verbs/snapshots.ts'
import type { Watches } from '../verbs/watch.ts'

/** What requests work on. */
export interface ApiContext {
  readonly state: ApiState
  readonly snapshots: Snapshots
  readonly watches: Watches
  /** Answers to GET for paths without objects, such as `/version` and `/apis`; undefined: there is no such path. */
  readonly document: (path: string, accept: string | undefined) => ApiDocument | undefined
  /** Called for each request that can change objects, also a refused one, when it has been answered. */
  readonly audit: (entry: AuditEntry) => void
  /** Called when a request fails because of a mistake of the gateway. */
  readonly reportBug: (error: unknown) => void
}

/** An answer that is not about objects. */
export interface ApiDocument {
  readonly contentType: string
  readonly body: string | Uint8Array
  readonly etag?: string
}

/** One write, for the log. */
export interface AuditEntry {
  /** `POST` */
  readonly method: string
  /** `gateways.gateway.networking.k8s.io/status` */
  readonly target: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly userAgent: string
  readonly status: number
  readonly dryRun: boolean
}
