import type { Attempt } from '#exchange/exchange.ts'
import type { DecisionIds } from './decision-ids.ts'

/** The decision about one request; never contains credentials, bodies or prompts. */
export interface DecisionRecord {
  /** The id that a refusal shows to its client (`DecisionIds`). */
  id: string
  /** Name of the worker that decided. */
  worker: string
  /** Time of its end, milliseconds since the epoch. */
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
  /** Code of the refusal; empty without a refusal. */
  code: string
  detail: string
  reason: string
  durationMs: number
  attempts: readonly Attempt[]
  inputTokens: number
  outputTokens: number
}

/** Decision records of the workers that responded in time. */
export interface GatheredRecords {
  /** Newest first. */
  readonly records: readonly DecisionRecord[]
  /** Names of the workers that did not respond. */
  readonly unanswered: readonly string[]
}

/** A record in the ring; its id is computed only when it is read. */
interface KeptRecord extends DecisionRecord {
  number: number
}

/** The last decisions of one worker. Records are created once and then overwritten, so that recording allocates nothing. */
export class DecisionRing {
  readonly #records: KeptRecord[] = []
  readonly #worker: string
  readonly #ids: DecisionIds
  readonly #capacity: number
  #next = 0

  constructor(worker: string, ids: DecisionIds, capacity: number) {
    this.#worker = worker
    this.#ids = ids
    this.#capacity = capacity
  }

  /** Records a decision about something that is not a request; absent values are empty. */
  keep(decision: Partial<KeptRecord>): void {
    Object.assign(this.take(), emptyRecord(), decision)
  }

  /** The record to fill for the next decision; the oldest one if the ring is full. */
  take(): KeptRecord {
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
    return this.#records
      .toSorted((a, b) => b.number - a.number)
      .map(({ number, ...record }) => ({ ...record, id: this.#ids.idOf(number), worker: this.#worker }))
  }
}

function emptyRecord(): KeptRecord {
  return {
    number: 0,
    id: '',
    worker: '',
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
