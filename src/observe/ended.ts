import { REJECTIONS, type Reason } from '#base/rejections.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { Exemplar } from './metrics/exemplar.ts'
import type { Observed } from './observer.ts'

const NONE: readonly string[] = []

/** A completed request or relayed connection, from which `fields.ts` reads the fields of log, metrics and record. */
export class Ended {
  readonly request: Observed
  readonly exchange: Exchange
  /** Time of the end, in milliseconds since the epoch. */
  readonly timeMs: number
  readonly durationMs: number
  /** A failure that is not a refusal, for operators. */
  readonly note: string | undefined
  #customValues: readonly string[] | undefined
  #exemplar: Exemplar | undefined

  constructor(request: Observed, timeMs: number, durationMs: number, note: string | undefined) {
    this.request = request
    this.exchange = request.exchange
    this.timeMs = timeMs
    this.durationMs = durationMs
    this.note = note
  }

  /** Names of the custom labels of its listener. */
  get customNames(): readonly string[] {
    return this.request.settings?.metricLabels.names ?? NONE
  }

  /** Their values, evaluated once. A failing expression yields `unknown` (specification 2, 2.1). */
  get customValues(): readonly string[] {
    const expressions = this.request.settings?.metricLabels.expressions
    if (expressions === undefined || expressions.length === 0) return NONE
    this.#customValues ??= expressions.map((expression) => expression.text(this.exchange) ?? 'unknown')
    return this.#customValues
  }

  /** The span of the request, for its metrics; undefined: it is not traced. */
  get exemplar(): Exemplar | undefined {
    const { span } = this.exchange
    if (span !== undefined) this.#exemplar ??= new Exemplar(span, this.timeMs)
    return this.#exemplar
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

  /** The text of the catalogue with the detail. */
  get error(): string | undefined {
    const { refusal, refusalDetail } = this.exchange
    if (refusal === undefined) return this.note
    const { text } = REJECTIONS[refusal]
    return refusalDetail === undefined ? text : `${text}: ${refusalDetail}`
  }

  /** The additional detail of the decision record. */
  get detail(): string | undefined {
    const { refusal, refusalDetail } = this.exchange
    return refusal === undefined ? this.note : (refusalDetail ?? this.note)
  }
}
