import type { Attempt } from '#exchange/exchange.ts'

/** What the gateway decided about one request; never holds credentials, bodies or prompts. */
export interface DecisionRecord {
  id: string
  /** When it ended, milliseconds since the epoch. */
  time: number
  method: string
  authority: string
  target: string
  gateway: string
  listener: string
  route: string
  rule: string
  backend: string
  endpoint: string
  status: number
  /** Code of the refusal; empty when there was none. */
  code: string
  detail: string
  reason: string
  durationMs: number
  attempts: readonly Attempt[]
  inputTokens: number
  outputTokens: number
}

/** The last decisions of one worker. Records are made once and overwritten, so keeping them allocates nothing. */
export class DecisionRing {
  readonly #records: DecisionRecord[] = []
  readonly #capacity: number
  #next = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The record to fill for the next decision; the oldest one when the ring is full. */
  take(): DecisionRecord {
    const at = this.#next
    this.#next = (at + 1) % this.#capacity
    let record = this.#records[at]
    if (record === undefined) {
      record = emptyRecord()
      this.#records[at] = record
    }
    return record
  }

  /** Copies, newest first. */
  list(): DecisionRecord[] {
    return this.#records.map((record) => ({ ...record })).toSorted((a, b) => b.time - a.time)
  }
}

function emptyRecord(): DecisionRecord {
  return {
    id: '',
    time: 0,
    method: '',
    authority: '',
    target: '',
    gateway: '',
    listener: '',
    route: '',
    rule: '',
    backend: '',
    endpoint: '',
    status: 0,
    code: '',
    detail: '',
    reason: '',
    durationMs: 0,
    attempts: [],
    inputTokens: 0,
    outputTokens: 0,
  }
}
