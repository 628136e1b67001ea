import type { GuardLoad } from '#exchange/guard-load.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import { countPassed, type EventPiece, type GuardedEvent, type HeldEvent } from './held-event.ts'
import { HeldText } from './held-text.ts'

/** Events that are held at the same time share buffers of this size. */
const SHARED_BYTES = 4096

/** The events of one stream that wait, in their order. */
export class HeldEvents {
  readonly #queue: HeldEvent[] = []
  readonly #held: HeldText
  /** Where the next event is kept. */
  #buffer: Buffer | undefined
  #used = 0

  constructor(load: GuardLoad) {
    this.#held = new HeldText(load)
  }

  /** The bytes of all events. */
  get bytes(): number {
    return this.#held.bytes
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  get first(): HeldEvent | undefined {
    return this.#queue[0]
  }

  /** The first text that has not passed. */
  get firstPiece(): EventPiece | undefined {
    const { first } = this
    return first?.pieces[countPassed(first)]
  }

  /** Keeps an event with a copy of its bytes. @returns false if there is no room */
  hold({ buffer: lent, start: from, end: to, dataStart, dataLength, pieces }: GuardedEvent): boolean {
    const length = to - from
    if (!this.#held.take(length)) return false
    if (this.#buffer === undefined || this.#used + length > this.#buffer.length) {
      this.#buffer = asBuffer(new Uint8Array(Math.max(SHARED_BYTES, length)))
      this.#used = 0
    }
    const [buffer, start] = [this.#buffer, this.#used]
    lent.copy(buffer, start, from, to)
    this.#used += length
    this.#queue.push({ buffer, start, end: this.#used, dataStart, dataLength, pieces, passed: 0 })
    return true
  }

  takeFirst(): HeldEvent {
    const event = this.#queue.shift()!
    this.#held.give(event.end - event.start)
    return event
  }

  drop(): void {
    this.#queue.length = 0
    this.#buffer = undefined
    this.#held.drop()
  }
}
