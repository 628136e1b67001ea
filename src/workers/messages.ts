import type { MessagePort } from 'node:worker_threads'
import type { Level, Module } from '#base/log-levels.ts'
import type { PriceList } from '#models/price-book.ts'
import type { OperatorSocket } from '#net/connect/own-machine.ts'
import type { MeshMaterial } from '#net/hbone/mesh-material.ts'
import type { TransportSetting } from '#net/transport/choose-transports.ts'
import type { NewRecords } from '#observe/decision-ring.ts'
import type { LogFields } from '#observe/log/application-log.ts'
import type { LogFormat } from '#observe/log/line-formats.ts'
import type { MetricsUpdate } from '#observe/metrics/metrics-writer.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { ListeningSocket } from '#plan/socket.ts'
import type { ThreadShare } from '#policies/shared/ext-auth/verdict-cache.ts'
import type { KeptKind, KeptUpdate } from '#policies/shared/kept/kept-copies.ts'
import type { ChannelText } from '#state/channels.ts'
import type { TableEntry } from '#state/shared-table.ts'
import type { SlotBuffers, SlotChange } from '#state/slots.ts'
import type { ProfileRequest, ProfileResult } from './profiles.ts'
import type { Question, QuestionAnswer } from './questions.ts'
import type { SessionKeys } from './sealer.ts'

/** Some items of the next `PlanMessage`. A message is in memory several times, so a big change is sent in parts. */
export interface PlanPart {
  readonly kind: 'plan-part'
  /** JSON of a list of `PlanItem`. */
  readonly items: string
}

/** A change of the plan. It is sent as JSON text, which is cheaper to copy than object graphs. */
export interface PlanMessage {
  readonly kind: 'plan'
  /** JSON of a `PlanDelta`, without the items of the parts. */
  readonly delta: string
  /** Changes of the slots in shared memory. */
  readonly slots: SlotChange
  /** `address:port` of every socket to listen on; all other sockets are drained. */
  readonly sockets: readonly string[]
  /** Those that the process inherited; the workers share their descriptors. */
  readonly inherited: readonly ListeningSocket[]
  /** Sockets of the servers of the main thread. */
  readonly operatorSockets: readonly OperatorSocket[]
  readonly secrets: SecretChange
}

/** Messages from the main thread to a proxy worker. */
export type ToWorker =
  | PlanPart
  | PlanMessage
  | Question
  /** The file of the access log was renamed or must be checked again. */
  | { readonly kind: 'reopen-log' }
  /** New keys for TLS session tickets. */
  | { readonly kind: 'ticket-keys'; readonly keys: Uint8Array }
  /** A new certificate of the mesh; undefined: the one before has expired. */
  | { readonly kind: 'mesh-material'; readonly material: MeshMaterial | undefined }
  /** Another worker has set a value. */
  | SetValue
  /** A text for channels of the worker. */
  | { readonly kind: 'channel-text'; readonly id: number; readonly name: string; readonly text: string }
  /** Whether another worker has received the text with that number. */
  | { readonly kind: 'channel-answer'; readonly number: number; readonly taken: boolean }
  /** A value was fetched, could not be fetched, or must not be fetched again yet. */
  | { readonly kind: 'kept'; readonly update: KeptUpdate }
  /** No policy refers to that value any more. */
  | { readonly kind: 'kept-dropped'; readonly of: KeptKind; readonly id: string }
  /** Record a profile, and answer. */
  | ({ readonly kind: 'record-profile' } & ProfileRequest)
  /** The prices of models have changed. */
  | { readonly kind: 'prices'; readonly list: PriceList }
  /** Close the sockets after `minMs`, and answer. */
  | { readonly kind: 'stop-accepting'; readonly minMs: number }
  /** Follows `stop-accepting`: cut off the rest after `drainMs`, and end. */
  | { readonly kind: 'drain'; readonly drainMs: number }

/** Messages from a proxy worker to the main thread. */
export type FromWorker =
  | {
      readonly kind: 'applied'
      readonly version: number
      /** Sockets that could not be opened. */
      readonly failed: readonly { readonly socket: string; readonly message: string }[]
    }
  | QuestionAnswer
  /** The profile that was asked for. */
  | { readonly kind: 'profile-recorded'; readonly result: ProfileResult }
  /** The decisions after those that were told; the worker ends. Sent only if somebody follows them. */
  | { readonly kind: 'last-records'; readonly records: NewRecords }
  /** Location of metrics of this worker. */
  | { readonly kind: 'metrics'; readonly update: MetricsUpdate }
  | SetValue
  | { readonly kind: 'send-text'; readonly sent: SentText }
  /** Whether the worker has a channel for the text with that id. */
  | { readonly kind: 'text-answer'; readonly id: number; readonly taken: boolean }
  | { readonly kind: 'log'; readonly state: LogState }
  /** The heap of the worker is nearly full, and it refuses new requests; or it is free again. */
  | { readonly kind: 'heap'; readonly isFull: boolean }
  | { readonly kind: 'export'; readonly state: ExportState }
  /** A message for the log. */
  | {
      readonly kind: 'message'
      readonly module: Module
      readonly level: Level
      readonly message: string
      readonly fields: LogFields
    }
  | { readonly kind: 'bug'; readonly decisionId: string; readonly stack: string }
  /** A fact from traffic about a backend of the plan of that version. */
  | { readonly kind: 'fact'; readonly version: number; readonly fact: BackendFact }
  /** Requests wait for a value that the worker does not have. */
  | { readonly kind: 'ask-kept'; readonly of: KeptKind; readonly id: string; readonly fetchedMs: number }
  /** Tokens are to be counted; questions come over this port. */
  | { readonly kind: 'count-tokens'; readonly port: MessagePort }
  /** The sockets are closed; open connections are still served. */
  | { readonly kind: 'stopped-accepting' }
  /** All connections are closed; the number of requests and relayed connections that the maximum of the shutdown ended. */
  | { readonly kind: 'drained'; readonly cutOff: number }

/** Changed secrets, as byte text, by the item that contains them. No output shows them. */
export type SecretChange = readonly (readonly [key: string, secrets: readonly string[]])[]

/** Whether an OTLP server takes what a worker exports to it. */
export interface ExportState {
  readonly signal: 'logs' | 'traces'
  /** Key of the backend in the plan. */
  readonly backend: string
  /** Undefined: it does. */
  readonly cause: string | undefined
}

/** State of the access log of a worker. */
export type LogState =
  | { readonly kind: 'failing'; readonly cause: string }
  /** `lines`: the number of lost lines. */
  | { readonly kind: 'resumed'; readonly lines: number }
  /** The worker ends and still cannot write. */
  | { readonly kind: 'ended'; readonly lines: number }

/** A text of a worker for channels of others; the sender awaits the answer under its number. */
export interface SentText extends ChannelText {
  readonly number: number
}

/** A value that all workers know was set; see `state/shared-table.ts`. */
export interface SetValue {
  readonly kind: 'set-value'
  readonly entry: TableEntry
}

/** Settings of a new worker. */
export interface WorkerStart {
  readonly name: string
  /** A replacement takes the place of the worker before it. */
  readonly share: ThreadShare
  /** Shared by all workers of the instance. */
  readonly slots: SlotBuffers
  /** Requests and retries in flight of all workers; `createLoadMemory`. */
  readonly load: SharedArrayBuffer
  readonly logFormat: LogFormat
  /** Of the gateway. */
  readonly version: string
  /** Undefined: standard output. */
  readonly logFile: string | undefined
  /** Keys that seal MCP session ids. */
  readonly sessionKeys: SessionKeys
  /** Keys of TLS session tickets; 48 bytes. */
  readonly ticketKeys: Uint8Array
  /** The values that the workers have set so far. */
  readonly table: readonly TableEntry[]
  /** Shared by all workers of the instance; `createInstantMemory`. */
  readonly instant: ArrayBufferLike
  /** Memory for the bodies that the worker buffers. */
  readonly bodyMemoryBytes: number
  /** Bytes of each body that decision records have; 0: they have none. */
  readonly recordBodyBytes: number
  /** Decision records are written to files. */
  readonly writesRecords: boolean
  /** Networks that clients may choose destinations in whatever they are. */
  readonly forwardTo: readonly string[]
  readonly transport: TransportSetting
  /** One Int32 that the worker increments every `turnMs`; see `watchdog.ts`. */
  readonly turns: SharedArrayBuffer
  readonly turnMs: number
  /** One Float64, the number of its decisions so far, which is still known after it has died. */
  readonly decisions: SharedArrayBuffer
}
