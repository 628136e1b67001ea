import { pause } from '#base/clock.ts'
import type { DecisionRecord, NewRecords } from '#observe/decision-ring.ts'

/** How often the workers are asked while somebody reads. */
const PERIOD_MS = 200
/** A worker with more new decisions than this is asked again without a wait, before it forgets some. */
const MANY = 64

/** What a reader of the feed gets. */
export interface FeedReader {
  /** Those of one question in the order of their times. */
  records(records: readonly DecisionRecord[]): void
  /** So many decisions were forgotten before they could be read: a worker keeps only its last ones. */
  lost(count: number): void
}

/** The decisions of all workers, as they happen. Workers are asked only while somebody reads, so it costs nothing otherwise. */
export class DecisionFeed {
  readonly #ask: (known: ReadonlyMap<string, number> | undefined) => Promise<readonly NewRecords[]>
  readonly #readers = new Set<FeedReader>()
  /** Decisions that were read, by worker; undefined: there is no reader. */
  #known: Map<string, number> | undefined
  /** Workers that have ended, and how many decisions they have made. */
  readonly #ended = new Map<string, number>()

  /** @param ask some decisions of each worker after the number that is known of it; of undefined: only the number */
  constructor(ask: (known: ReadonlyMap<string, number> | undefined) => Promise<readonly NewRecords[]>) {
    this.#ask = ask
  }

  /** The reader gets decisions that end from now on. @returns call it when they are wanted no more */
  read(reader: FeedReader): () => void {
    this.#readers.add(reader)
    if (this.#known === undefined) void this.#run()
    return () => void this.#readers.delete(reader)
  }

  /** A worker has ended after so many decisions. If it died, it has not told the last ones. */
  ended(worker: string, decisions: number): void {
    // Its answer to the question that is open may have come, but waits for those of the others.
    if (this.#known !== undefined) this.#ended.set(worker, decisions)
  }

  /** What workers have told: as their answers, or before they end. */
  take(...answers: readonly NewRecords[]): void {
    for (const { worker, count } of answers) this.#known?.set(worker, count)
    const lost = answers.reduce((sum, answer) => sum + answer.lost, 0)
    // Workers are asked together, and a person reads the records in the order of their times.
    const records = answers.flatMap((answer) => answer.records).toSorted((a, b) => a.time - b.time)
    for (const reader of this.#readers) {
      if (lost > 0) reader.lost(lost)
      if (records.length > 0) reader.records(records)
    }
  }

  async #run(): Promise<void> {
    const known = new Map<string, number>()
    this.#known = known
    // What ended before is not new.
    for (const { worker, count } of await this.#ask(undefined)) known.set(worker, count)
    let isBusy = false
    while (this.#readers.size > 0) {
      if (!isBusy) await pause(PERIOD_MS)
      const answers = await this.#ask(known)
      isBusy = answers.some(({ records }) => records.length > MANY)
      this.take(...answers)
      this.#countUntold(known)
    }
    this.#known = undefined
    this.#ended.clear()
  }

  /** The decisions of workers that have ended without telling them. */
  #countUntold(known: Map<string, number>): void {
    for (const [worker, decisions] of this.#ended) {
      const lost = decisions - (known.get(worker) ?? 0)
      known.delete(worker)
      if (lost > 0) for (const reader of this.#readers) reader.lost(lost)
    }
    this.#ended.clear()
  }
}
