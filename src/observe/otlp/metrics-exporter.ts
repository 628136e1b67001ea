import { clock } from '#base/clock.ts'
import type { LogMessage } from '../log/application-log.ts'
import { encodeExport, encodeResource } from './encode-export.ts'
import type { CountedTime } from './encode-metric.ts'
import type { DropReason } from './export-queue.ts'
import { identityAttributes } from './identity-attributes.ts'
import { type MetricsDestination, sendMetrics } from './send-metrics.ts'

/** Settings of the process, by the environment variables of OpenTelemetry. */
export interface MetricsExport {
  readonly destination: MetricsDestination
  readonly intervalMs: number
  readonly identity: { readonly podName: string | undefined; readonly namespace: string | undefined }
}

export interface MetricsExporterOptions extends MetricsExport {
  readonly version: string
  /** All metrics as they are now, encoded. */
  readonly read: (time: CountedTime) => readonly Uint8Array[]
  readonly delivered: (metrics: number) => void
  readonly dropped: (reason: DropReason, metrics: number) => void
  readonly log: LogMessage
}

/** For the last export, at the end of the process. */
const LAST_MS = 2000

/**
 * Exports all metrics of the process again and again. Counts are cumulative, so a failed export loses nothing but its point in time: it is
 * not repeated.
 */
export class MetricsExporter {
  readonly #options: MetricsExporterOptions
  readonly #resource: Uint8Array
  readonly #startMs = clock.now()
  #timer: { cancel(): void } | undefined
  #sending: Promise<void> | undefined
  #failure: { readonly cause: string; readonly sinceMs: number } | undefined

  constructor(options: MetricsExporterOptions) {
    this.#options = options
    this.#resource = encodeResource(identityAttributes(options.version, options.identity))
    // As in `Exporters`.
    for (const reason of ['refused', 'undeliverable'] as const) options.dropped(reason, 0)
    this.#wait()
  }

  /** Why the last exports have failed. */
  get failure(): { readonly cause: string; readonly sinceMs: number } | undefined {
    return this.#failure
  }

  /** Exports once more, with what the last requests counted. */
  async close(): Promise<void> {
    this.#timer?.cancel()
    await this.#sending
    this.#timer?.cancel()
    await this.#export(Math.min(LAST_MS, this.#options.destination.timeoutMs))
  }

  #wait(): void {
    this.#timer = clock.after(this.#options.intervalMs, () => {
      this.#sending = this.#export(this.#options.destination.timeoutMs).then(() => this.#wait())
    })
  }

  async #export(timeoutMs: number): Promise<void> {
    const { read, version, destination, delivered, dropped } = this.#options
    const metrics = read({ startMs: this.#startMs, nowMs: clock.now() })
    const request = encodeExport(this.#resource, version, metrics)
    const result = await sendMetrics({ ...destination, timeoutMs }, request, `gatewright/${version}`)
    if (result.kind === 'accepted') {
      delivered(metrics.length)
      this.#tell(
        result.rejectedItems > 0
          ? `the server rejected ${result.rejectedItems} points: ${result.detail ?? ''}`
          : undefined,
      )
    } else {
      dropped(result.kind === 'refused' ? 'refused' : 'undeliverable', metrics.length)
      this.#tell(result.cause)
    }
  }

  /** One line when exports begin to fail, and one when they succeed again. */
  #tell(cause: string | undefined): void {
    const { log, destination } = this.#options
    if ((cause === undefined) === (this.#failure === undefined)) return
    this.#failure = cause === undefined ? undefined : { cause, sinceMs: clock.now() }
    const server = { signal: 'metrics', backend: destination.url.host }
    if (cause === undefined) log('observe', 'info', 'an OTLP server accepts telemetry again', server)
    else log('observe', 'warn', 'an OTLP server does not accept telemetry', { ...server, cause })
  }
}
