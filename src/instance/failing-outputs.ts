import type { OutputReport } from '#admin/status-report.ts'
import { clock } from '#base/clock.ts'
import type { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { backendKey } from '#plan/backend-key.ts'
import type { PlanItem } from '#plan/item.ts'
import type { ExportState, LogState } from '#workers/messages.ts'
import type { InstanceEvents } from './events.ts'

/** Why an output cannot be written at the moment. */
export interface OutputFailure {
  readonly cause: string
  /** Since the epoch. */
  readonly sinceMs: number
}

/** Outputs of the main thread, with the plan that says what workers export. */
export interface MainOutputs {
  readonly records: OutputFailure | undefined
  readonly metrics: OutputFailure | undefined
  readonly items: Iterable<PlanItem>
}

interface ExportFailure extends OutputFailure, Omit<ExportState, 'cause'> {
  readonly worker: string
}

/** The outputs that cannot be written at the moment, for `/status`. */
export class FailingOutputs {
  readonly #metrics: MetricsReader
  readonly #events: Pick<InstanceEvents, 'message' | 'accessLog'>
  /** Of the access log, by worker. */
  readonly #ofLog = new Map<string, OutputFailure>()
  readonly #ofExports = new Map<string, ExportFailure>()

  constructor(metrics: MetricsReader, events: Pick<InstanceEvents, 'message' | 'accessLog'>) {
    this.#metrics = metrics
    this.#events = events
  }

  /** The access log of a worker has failed, or works again. */
  logChanged(worker: string, state: LogState): void {
    if (state.kind === 'failing') this.#ofLog.set(worker, { cause: state.cause, sinceMs: clock.now() })
    else this.#ofLog.delete(worker)
    this.#events.accessLog(worker, state)
  }

  /** An OTLP server has begun to refuse what a worker exports, or takes it again. */
  exportChanged(worker: string, { signal, backend, cause }: ExportState): void {
    const key = `${worker} ${signal} ${backend}`
    const fields = { worker, signal, backend }
    if (cause === undefined) {
      this.#ofExports.delete(key)
      this.#events.message('observe', 'info', 'an OTLP server accepts telemetry again', fields)
    } else {
      this.#ofExports.set(key, { ...fields, cause, sinceMs: clock.now() })
      this.#events.message('observe', 'warn', 'an OTLP server does not accept telemetry', { ...fields, cause })
    }
  }

  /** The worker has ended, and its queues with it. */
  forget(worker: string): void {
    this.#ofLog.delete(worker)
    for (const [key, failure] of this.#ofExports) if (failure.worker === worker) this.#ofExports.delete(key)
  }

  /** Of the failures of several workers the oldest. */
  report({ records, metrics, items }: MainOutputs): OutputReport[] {
    const lostOf = (signal: string) => this.#sum('telemetryDropped', (labels) => labels.signal === signal)
    const log = oldestFirst(this.#ofLog.values()).slice(0, 1)
    const exports = new Map<string, OutputReport>()
    const isUsed = this.#ofExports.size === 0 ? undefined : exportTargets(items)
    for (const failure of oldestFirst(this.#ofExports.values())) {
      const { signal, backend } = failure
      const output = `${signal} to ${backend}`
      // A policy that is gone exports nothing more, so nothing would end its failure.
      if (isUsed?.has(output) !== true || exports.has(output)) continue
      exports.set(output, describe(output, failure, lostOf(signal)))
    }
    return [
      ...log.map((failure) => describe('access log', failure, this.#sum('lostLines'))),
      ...(records === undefined ? [] : [describe('decision records', records, this.#sum('recordsDropped'))]),
      ...exports.values(),
      ...(metrics === undefined ? [] : [describe('metrics over OTLP', metrics, lostOf('metrics'))]),
    ]
  }

  #sum(
    id: 'lostLines' | 'recordsDropped' | 'telemetryDropped',
    isCounted: (labels: Readonly<Record<string, string>>) => boolean = () => true,
  ): number {
    return [...this.#metrics.read(id)].reduce((sum, { labels, cells }) => sum + (isCounted(labels) ? cells[0]! : 0), 0)
  }
}

/** `<signal> to <backend>` of all policies in force. */
function exportTargets(items: Iterable<PlanItem>): ReadonlySet<string> {
  const targets = new Set<string>()
  for (const item of items) {
    if (item.kind !== 'policy' || item.section !== 'frontend') continue
    const { namespace } = item.origin
    if (item.field === 'tracing') targets.add(`traces to ${backendKey(item.spec.backendRef, namespace)}`)
    if (item.field === 'accessLog' && item.spec.otlp !== undefined)
      targets.add(`logs to ${backendKey(item.spec.otlp.backendRef, namespace)}`)
  }
  return targets
}

function oldestFirst<Failure extends OutputFailure>(failures: Iterable<Failure>): Failure[] {
  return [...failures].toSorted((a, b) => a.sinceMs - b.sinceMs)
}

function describe(output: string, { cause, sinceMs }: OutputFailure, lost: number): OutputReport {
  return { output, cause, since: new Date(sinceMs).toISOString(), lost }
}
