import type { Head } from '../http/head.ts'
import type { Abort, BodyKind, BodySink, BodySource } from '../stream.ts'
import type { CollectLimits } from './collect-body.ts'
import { HeldBytes } from './held-bytes.ts'

/**
 * A body that is copied while it is forwarded. Only its receiver determines the speed: a copy whose receiver is slower is held in memory, and
 * given up when there is no room. Copies have no trailers.
 */
export class TeedBody implements BodySource, BodySink {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #from: BodySource
  readonly #copies: BodyCopy[] = []
  #sink!: BodySink

  constructor(from: BodySource) {
    this.kind = from.kind
    this.length = from.length
    this.trails = from.trails === true
    this.#from = from
  }

  /** Adds a copy, before the body is delivered. @param givenUp called when the copy will not be complete */
  copy(limits: CollectLimits, givenUp: () => void): BodySource {
    const copy = new BodyCopy(this, limits, givenUp)
    this.#copies.push(copy)
    return copy
  }

  /** No more bytes will arrive: gives up copies that are not complete. */
  close(): void {
    for (const copy of this.#copies) copy.giveUp()
  }

  pipe(sink: BodySink): void {
    this.#sink = sink
    sink.source = this
    this.#from.pipe(this)
  }

  pause(): void {
    this.source?.pause()
  }

  resume(): void {
    this.source?.resume()
  }

  get backed(): boolean {
    return this.#sink.backed
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    for (const copy of this.#copies) copy.take(buffer, start, end)
    this.#sink.bytes(buffer, start, end)
  }

  end(trailers?: Head): void {
    for (const copy of this.#copies) copy.complete()
    this.#sink.end(trailers)
  }

  abort(why: Abort): void {
    this.close()
    this.#sink.abort(why)
  }
}

/** One copy of a body, on its way to a receiver that may not exist yet. */
class BodyCopy implements BodySource {
  readonly kind: BodyKind
  readonly length: number
  readonly #held: HeldBytes
  readonly #givenUp: () => void
  #sink: BodySink | undefined
  #state: 'arriving' | 'complete' | 'over' = 'arriving'

  constructor({ kind, length }: BodySource, { maxBytes, claim }: CollectLimits, givenUp: () => void) {
    this.kind = kind
    this.length = length
    this.#held = new HeldBytes(claim, maxBytes)
    this.#givenUp = givenUp
  }

  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    this.resume()
  }

  pause(): void {}

  resume(): void {
    const sink = this.#sink
    if (sink === undefined || sink.backed || this.#state === 'over') return
    if (this.#held.length > 0) {
      const { bytes } = this.#held
      this.#held.drop()
      sink.bytes(bytes, 0, bytes.length)
    }
    if (this.#state !== 'complete') return
    this.#state = 'over'
    sink.end()
  }

  take(buffer: Buffer, start: number, end: number): void {
    if (this.#state !== 'arriving') return
    if (this.#sink !== undefined && !this.#sink.backed) this.#sink.bytes(buffer, start, end)
    else if (!this.#held.appendWithin(buffer, start, end)) this.giveUp()
  }

  complete(): void {
    if (this.#state !== 'arriving') return
    this.#state = 'complete'
    this.resume()
  }

  giveUp(): void {
    if (this.#state !== 'arriving') return
    this.#state = 'over'
    this.#held.drop()
    this.#givenUp()
  }
}
