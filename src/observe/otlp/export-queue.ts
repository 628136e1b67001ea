import { clock } from '#base/clock.ts'
import { WaitingItems } from './waiting-items.ts'

/** Limit of waiting items. */
const MAX_ITEMS = 2048
const MAX_BYTES = 8 * 1024 * 1024
/** Of one export; servers accept 4 MiB by default. */
const MAX_EXPORT_BYTES = 1024 * 1024
/** So many waiting items are sent at once; fewer wait for others. */
const FULL_ITEMS = 512
const WAIT_MS = 1000
const FIRST_BACKOFF_MS = 1000
const MAX_BACKOFF_MS = 30_000
/** A server that asks for a longer wait is asked again after this time. */
const MAX_RETRY_AFTER_MS = 300_000
/** Items that have been sent for this long without success are dropped. */
const GIVE_UP_MS = 300_000

/** How a server answered an export. `failed`: the same export may succeed later. `refused`: it never will. */
export type ExportResult =
  | { readonly kind: 'accepted'; readonly rejectedItems: number; readonly detail: string | undefined }
  | { readonly kind: 'refused'; readonly cause: string }
  | { readonly kind: 'failed'; readonly cause: string; readonly retryAfterMs: number | undefined }

/**
 * Why items were not delivered. `queue-full`: the server was too slow; the oldest were dropped. `refused`: the server did not accept
 * them. `undeliverable`: it was not reached for too long. `too-large`: one item is larger than an export. `shutdown`: the gateway ended.
 */
export const DROP_REASONS = ['queue-full', 'refused', 'undeliverable', 'too-large', 'shutdown'] as const
export type DropReason = (typeof DROP_REASONS)[number]

export interface ExportQueueEvents {
  /** Sends one export. Never rejects. */
  send(items: readonly Uint8Array[], signal: AbortSignal): Promise<ExportResult>
  delivered(items: number): void
  dropped(reason: DropReason, items: number): void
  /** An export has failed; reported once until `resumed`. */
  failing(cause: string): void
  resumed(): void
}

/** Items that wait for their export: bounded, sent in batches, one export at a time. Adding never waits and never throws. */
export class ExportQueue {
  readonly #events: ExportQueueEvents
  readonly #random: () => number
  readonly #waiting = new WaitingItems()
  #timer: { cancel(): void } | undefined
  /** The export in progress. */
  #sending: Promise<unknown> | undefined
  /** A wait after a failed export; `#timer` ends it. */
  #isBackingOff = false
  #isDue = false
  /** A failure is reported. */
  #isFailing = false
  /** Exports since the server last answered, and when that began. */
  #attempts = 0
  #silentSinceMs = 0
  #isClosing = false
  /** When the last export began. */
  #usedMs = clock.monotonic()
  readonly #cancelled = new AbortController()

  /** @param random 0 (inclusive) to 1 (exclusive) */
  constructor(events: ExportQueueEvents, random: () => number) {
    this.#events = events
    this.#random = random
  }

  add(item: Uint8Array): void {
    if (item.length > MAX_EXPORT_BYTES) return this.#events.dropped('too-large', 1)
    this.#waiting.push(item)
    this.#trim()
    this.#schedule()
  }

  /** For how long nothing has waited; 0: something waits. */
  get idleMs(): number {
    return this.#waiting.length > 0 || this.#sending !== undefined ? 0 : clock.monotonic() - this.#usedMs
  }

  /** Sends what waits, once. What is not delivered after `limitMs` is dropped. */
  async close(limitMs: number): Promise<void> {
    this.#isClosing = true
    this.#timer?.cancel()
    const limit = clock.after(limitMs, () => this.#cancelled.abort())
    await this.#sending
    while (this.#waiting.length > 0 && !this.#cancelled.signal.aborted) {
      if (!(await this.#exportNext())) break
    }
    limit.cancel()
    if (this.#waiting.length > 0) this.#events.dropped('shutdown', this.#waiting.length)
    this.#waiting.clear()
  }

  #schedule(): void {
    if (this.#sending !== undefined || this.#isBackingOff || this.#isClosing) return
    const isFull = this.#waiting.length >= FULL_ITEMS || this.#waiting.bytes >= MAX_EXPORT_BYTES
    if (this.#timer !== undefined && (!isFull || this.#isDue)) return
    this.#timer?.cancel()
    this.#isDue = isFull
    // Not now: the caller is at the end of a request.
    this.#wait(isFull ? 0 : WAIT_MS)
  }

  #wait(ms: number): void {
    this.#timer = clock.after(ms, () => {
      this.#timer = undefined
      this.#isBackingOff = false
      this.#isDue = false
      this.#sending = this.#exportNext().then(() => this.#next())
    })
  }

  #next(): void {
    this.#sending = undefined
    if (this.#waiting.length > 0) this.#schedule()
  }

  /** @returns whether the server took the items, or will never do */
  async #exportNext(): Promise<boolean> {
    const batch = this.#waiting.take(MAX_EXPORT_BYTES)
    this.#usedMs = clock.monotonic()
    const result = await this.#events.send(batch, this.#cancelled.signal)
    if (result.kind === 'failed') {
      this.#report(result.cause)
      this.#putBack(batch, result.retryAfterMs)
      return false
    }
    this.#attempts = 0
    if (result.kind === 'refused') this.#refuse(batch.length, result.cause)
    else this.#accept(batch.length, result)
    return true
  }

  #accept(items: number, { rejectedItems, detail }: Extract<ExportResult, { kind: 'accepted' }>): void {
    const rejected = Math.min(rejectedItems, items)
    if (rejected < items) this.#events.delivered(items - rejected)
    if (rejected > 0) return this.#refuse(rejected, detail ?? 'the server rejected some items')
    if (!this.#isFailing) return
    this.#isFailing = false
    this.#events.resumed()
  }

  #refuse(items: number, cause: string): void {
    this.#events.dropped('refused', items)
    this.#report(cause)
  }

  #report(cause: string): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#events.failing(cause)
  }

  /** Items of a failed export are the oldest ones again. */
  #putBack(batch: readonly Uint8Array[], retryAfterMs: number | undefined): void {
    const now = clock.monotonic()
    if (this.#attempts++ === 0) this.#silentSinceMs = now
    if (now - this.#silentSinceMs >= GIVE_UP_MS) {
      this.#events.dropped('undeliverable', batch.length)
    } else {
      this.#waiting.putBack(batch)
      this.#trim()
    }
    if (this.#isClosing) return
    this.#isBackingOff = true
    this.#wait(retryAfterMs === undefined ? this.#backoffMs() : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS))
  }

  /** With a random part: the workers of an instance must not send at the same time. */
  #backoffMs(): number {
    return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (this.#attempts - 1)) * (0.5 + this.#random() / 2)
  }

  #trim(): void {
    let dropped = 0
    for (; this.#waiting.length > MAX_ITEMS || this.#waiting.bytes > MAX_BYTES; dropped++) this.#waiting.drop()
    if (dropped > 0) this.#events.dropped('queue-full', dropped)
  }
}
