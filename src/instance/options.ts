import type { TransportSetting } from '#net/transport/choose-transports.ts'
import type { LogFormat } from '#observe/log/line-formats.ts'
import type { MetricsExport } from '#observe/otlp/metrics-exporter.ts'
import type { ListeningSocket } from '#plan/socket.ts'
import type { PriceFile } from '#store/price-file.ts'
import type { ObjectStore } from '#store/store.ts'
import type { SessionKeys } from '#workers/sealer.ts'
import type { StartThread } from '#workers/worker-pool.ts'
import type { StateFolder } from './state-folder.ts'

/** Settings of a gateway in one process; the command line and tests set them. */
export interface InstanceOptions extends DataPlaneOptions {
  /** The objects. The instance closes it. */
  readonly store: ObjectStore
  /** Address for listeners and for the metrics and readiness servers. */
  readonly bind: string
  /** A range of loopback addresses; each Gateway gets its own. */
  readonly addressPool: string | undefined
  /** Addresses of the main thread's own servers. */
  readonly admin: HostPort
  readonly metrics: HostPort
  readonly readiness: HostPort
  /** Address of the Kubernetes-style API; undefined: it is not served. It needs `state`, and a `ServedStore`. */
  readonly api?: HostPort | undefined
  /** Whether names of servers in Services and EndpointSlices are used, even in objects of the API. */
  readonly allowsExternalNames?: boolean
}

/** Settings of a data plane. */
export interface DataPlaneOptions {
  /** Prices of the operator. Who runs the data plane closes it. */
  readonly prices?: PriceFile | undefined
  /** Proxy workers. */
  readonly workers: number
  readonly logFormat: LogFormat
  /** File that access-log lines are appended to; undefined: standard output. */
  readonly logFile: string | undefined
  /** Minimum and maximum duration of a shutdown, which take precedence over those of the Gateways; undefined: those of the Gateways. */
  readonly shutdown: { readonly minMs: number | undefined; readonly maxMs: number | undefined }
  /** Keys that seal MCP session ids. */
  readonly sessionKeys: SessionKeys
  /** Where decision records are written, with the limit of all files together; undefined: nowhere. */
  readonly records?: { readonly folder: string; readonly limitBytes: number } | undefined
  /** The process that this one replaces. */
  readonly predecessor?: Predecessor | undefined
  /** Keeps the levels of local rate limits across restarts; undefined: they start unused. */
  readonly state: StateFolder | undefined
  /** Memory for the bodies that a worker buffers, in bytes; undefined: a share of the available memory. */
  readonly bodyMemoryBytes: number | undefined
  /** Bytes of each body that decision records have; undefined: they have none. */
  readonly recordBodyBytes?: number | undefined
  /** Where metrics are exported to; undefined: nowhere. */
  readonly metricsExport?: MetricsExport | undefined
  /** Networks that clients may choose destinations in whatever they are. */
  readonly forwardTo?: readonly string[]
  /** Transport for connections without TLS. */
  readonly transport: TransportSetting
  /** Starts a proxy worker; undefined: in a thread of its own. */
  readonly startThread?: StartThread | undefined
}

/** A process that serves until this one does, in the same state folder. */
export interface Predecessor {
  /** Its sockets for traffic, which this process has inherited. */
  readonly traffic: readonly ListeningSocket[]
  /** Those of its servers for operators; the key is the name of the server and its address. */
  readonly operators: readonly ListeningSocket[]
  /** It is ready for traffic. */
  readonly isReady: boolean
  /** Tells it that this process serves. Resolves when it has let go of the state folder, and has only its open connections left. */
  takeOver(): Promise<void>
  /** Tells it that this process ends, so that it keeps serving. Only the first cause counts. */
  failed(cause: string): void
}

export interface HostPort {
  readonly host: string
  readonly port: number
}
