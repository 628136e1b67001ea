import type { OutputReport } from '#admin/status-report.ts'
import { clock } from '#base/clock.ts'
import type { MetricId } from '#observe/metrics/metrics.ts'
import type { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import type { LogState } from '#workers/messages.ts'
import type { RecordFolder } from './record-folder.ts'

interface Failure {
  readonly cause: string
  readonly sinceMs: number
}

/** The outputs that cannot be written at the moment, for `/status`. */
export class FailingOutputs {
  readonly #metrics: MetricsReader
  /** Of the access log, by worker. */
  readonly #ofLog = new Map<string, Failure>()

  constructor(metrics: MetricsReader) {
    this.#metrics = metrics
  }

  /** The access log of a worker has failed, or works again. */
  logChanged(worker: string, state: LogState): void {
    if (state.kind === 'failing') this.#ofLog.set(worker, { cause: state.cause, sinceMs: clock.now() })
    else this.#ofLog.delete(worker)
  }

  /** The worker has ended, and its queue with it. */
  forget(worker: string): void {
    this.#ofLog.delete(worker)
  }

  report(records: RecordFolder | undefined): OutputReport[] {
    const [oldest] = [...this.#ofLog.values()].toSorted((a, b) => a.sinceMs - b.sinceMs)
    return [
      ...this.#describe('access log', oldest, 'lostLines'),
      ...this.#describe('decision records', records?.failure, 'recordsDropped'),
    ]
  }

  #describe(output: OutputReport['output'], failure: Failure | undefined, lost: MetricId): OutputReport[] {
    if (failure === undefined) return []
    const { cause, sinceMs } = failure
    const count = [...this.#metrics.read(lost)].reduce((sum, { cells }) => sum + cells[0]!, 0)
    return [{ output, cause, since: new Date(sinceMs).toISOString(), lost: count }]
  }
}
