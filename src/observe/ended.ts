import { REJECTIONS, type Reason } from '#base/rejections.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Observed } from './observer.ts'

/** A request or relayed connection that has ended, as the fields of log, metrics and record are read from it (`fields.ts`). */
export class Ended {
  readonly request: Observed
  readonly exchange: Exchange
  /** When, in milliseconds since the epoch. */
  readonly timeMs: number
  readonly durationMs: number
  /** What went wrong although nothing was refused, in words for operators. */
  readonly note: string | undefined

  constructor(request: Observed, timeMs: number, durationMs: number, note: string | undefined) {
    this.request = request
    this.exchange = request.exchange
    this.timeMs = timeMs
    this.durationMs = durationMs
    this.note = note
  }

  get status(): number {
    return this.request.status
  }

  get code(): string | undefined {
    return this.exchange.refusal
  }

  get reason(): Reason {
    return this.exchange.reason
  }

  get decisionId(): string {
    return this.request.decisionId
  }

  /** What the catalogue says, and the detail behind it. */
  get error(): string | undefined {
    const { refusal, refusalDetail } = this.exchange
    if (refusal === undefined) return this.note
    const { text } = REJECTIONS[refusal]
    return refusalDetail === undefined ? text : `${text}: ${refusalDetail}`
  }

  /** What the decision record says besides. */
  get detail(): string | undefined {
    const { refusal, refusalDetail } = this.exchange
    return refusal === undefined ? this.note : (refusalDetail ?? this.note)
  }
}
