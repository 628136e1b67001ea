import type { TransportSetting } from '#net/transport/choose-transports.ts'
import type { DecisionRecord } from '#observe/decision-ring.ts'
import type { Level, LogFields } from '#observe/log/application-log.ts'
import type { MetricsNews } from '#observe/metrics/metrics-writer.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { KeySetNews } from '#policies/shared/authentication/remote-key-set.ts'
import type { SlotChange } from '#state/slots.ts'
import type { SessionKeys } from './sealer.ts'

/** A change of the plan. It travels as JSON text: cheaper to copy than object graphs. */
export interface PlanMessage {
  readonly kind: 'plan'
  /** JSON of a `PlanDelta`. */
  readonly delta: string
  /** What changed in the slots of shared memory. */
  readonly slots: SlotChange
  /** `address:port` of every socket to listen on; others are drained. */
  readonly sockets: readonly string[]
  readonly secrets: SecretChange
}

/** What the main thread tells a proxy worker. */
export type ToWorker =
  | PlanMessage
  | { readonly kind: 'records'; readonly question: number }
  /** The file of the access log was renamed, or is to be looked at again. */
  | { readonly kind: 'reopen-log' }
  /** Session tickets of TLS are made with other keys from now on. */
  | { readonly kind: 'ticket-keys'; readonly keys: Uint8Array }
  /** Something that works once has been used up in another worker. */
  | SpentOnce
  /** A key set was fetched, could not be, or is not to be fetched again so soon. */
  | { readonly kind: 'key-set'; readonly news: KeySetNews }
  /** No policy names that key set any more. */
  | { readonly kind: 'key-set-dropped'; readonly id: string }
  /** Stop accepting after `minMs`, cut what is left after `maxMs`. */
  | { readonly kind: 'drain'; readonly minMs: number; readonly maxMs: number }

/** What a proxy worker tells the main thread. */
export type FromWorker =
  | {
      readonly kind: 'applied'
      readonly version: number
      /** Sockets that could not be opened. */
      readonly failed: readonly { readonly socket: string; readonly message: string }[]
    }
  | { readonly kind: 'records'; readonly question: number; readonly records: readonly DecisionRecord[] }
  /** Where numbers of this worker are to be found. */
  | { readonly kind: 'metrics'; readonly news: MetricsNews }
  | SpentOnce
  | { readonly kind: 'log'; readonly state: LogState }
  /** Something to log. */
  | { readonly kind: 'message'; readonly level: Level; readonly message: string; readonly fields: LogFields }
  | { readonly kind: 'bug'; readonly decisionId: string; readonly stack: string }
  /** Traffic shows something about a backend of the plan of that version. */
  | { readonly kind: 'fact'; readonly version: number; readonly fact: BackendFact }
  /** Requests wait for keys that are not known here. */
  | { readonly kind: 'ask-key-set'; readonly id: string }
  | { readonly kind: 'drained' }

/** Secrets, as byte text, by the item that they stand in, where they are others than before. They are in no output. */
export type SecretChange = readonly (readonly [key: string, secrets: readonly string[]])[]

/** How the access log of a worker is doing. */
export type LogState =
  | { readonly kind: 'failing'; readonly cause: string }
  /** `lines`: how many were lost. */
  | { readonly kind: 'resumed'; readonly lines: number }
  /** The worker ends and still cannot write. */
  | { readonly kind: 'ended'; readonly lines: number }

/** Something that works only once was used; see `state/once-memory.ts`. */
export interface SpentOnce {
  readonly kind: 'spent'
  readonly scope: string
  readonly key: string
}

/** What a worker is started with. */
export interface WorkerStart {
  readonly name: string
  /** Shared by all workers of the instance. */
  readonly slots: SharedArrayBuffer
  readonly logFormat: 'text' | 'json'
  /** Undefined: standard output. */
  readonly logFile: string | undefined
  /** Keys that seal MCP session ids. */
  readonly sessionKeys: SessionKeys
  /** Keys of TLS session tickets; 48 bytes. */
  readonly ticketKeys: Uint8Array
  /** Memory for the bodies that it gathers. */
  readonly bodyMemoryBytes: number
  readonly transport: TransportSetting
  /** One Int32 that the worker counts up every `turnMs`; see `watchdog.ts`. */
  readonly turns: SharedArrayBuffer
  readonly turnMs: number
}
