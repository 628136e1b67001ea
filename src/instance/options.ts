import type { TransportSetting } from '#net/transport/choose-transports.ts'
import type { SessionKeys } from '#workers/sealer.ts'

/** How one instance is set up; the command line and tests fill it in. */
export interface InstanceOptions {
  /** Files and folders with objects. */
  readonly files: readonly string[]
  /** Proxy workers. */
  readonly workers: number
  /** Where listeners and the metrics and readiness servers bind. */
  readonly bind: string
  /** A range of loopback addresses; every Gateway gets one of its own. */
  readonly addressPool: string | undefined
  readonly logFormat: 'text' | 'json'
  /** File that access-log lines are appended to; undefined: standard output. */
  readonly logFile: string | undefined
  /** Addresses of the main thread's own servers. */
  readonly admin: HostPort
  readonly metrics: HostPort
  readonly readiness: HostPort
  /** How long a shutdown waits at least and at most, whatever the Gateways say; undefined: as they say. */
  readonly shutdown: { readonly minMs: number | undefined; readonly maxMs: number | undefined }
  /** Keys that seal MCP session ids. */
  readonly sessionKeys: SessionKeys
  /** Memory for the bodies that a worker gathers, in bytes; undefined: a share of what there is. */
  readonly bodyMemoryBytes: number | undefined
  /** How workers read and write connections without TLS. */
  readonly transport: TransportSetting
}

export interface HostPort {
  readonly host: string
  readonly port: number
}
