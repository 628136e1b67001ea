import type { Abort, BodyKind, BodySink, BodySource } from '../stream.ts'
import { ForwardingSink } from './forwarding-sink.ts'

/** What became of a body: all its bytes, or why there are none. */
export type Collected = Buffer | 'too-large' | Abort

const EMPTY = Buffer.alloc(0)

/**
 * Gathers a body of at most `maxBytes`. `done` is called once, possibly before this returns. A body that is too large is left
 * where it is: nothing more is read of it until somebody pipes it elsewhere or ends the exchange.
 */
export function collectBody(source: BodySource, maxBytes: number, done: (result: Collected) => void): void {
  if (source.length > maxBytes) return done('too-large')
  source.pipe(new Collector(maxBytes, () => done('too-large'), done))
}

/** As `collectBody`; of a larger body at least the first `maxBytes` are read, and it can go on from there. */
export function collectStart(
  source: BodySource,
  maxBytes: number,
  done: (result: Buffer | Abort | PartialBody) => void,
): void {
  const collector = new Collector(maxBytes, () => done(new PartialBody(source, collector, maxBytes)), done)
  source.pipe(collector)
}

/** A body of which the beginning was read. `pipe` gives all of it. */
export class PartialBody {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  /** The first bytes, as many as were asked for. */
  readonly prefix: Buffer
  readonly #source: BodySource
  readonly #collector: Collector

  constructor(source: BodySource, collector: Collector, maxBytes: number) {
    this.kind = source.kind
    this.length = source.length
    this.trails = source.trails === true
    this.prefix = collector.collected().subarray(0, maxBytes)
    this.#source = source
    this.#collector = collector
  }

  pipe(sink: BodySink): void {
    // More may have come since: what one read brought is given to the end.
    const start = this.#collector.collected()
    sink.source = this.#source
    sink.bytes(start, 0, start.length)
    // What was read already has lost its chunk framing, so the rest goes without it.
    this.#source.pipe(new ForwardingSink(sink))
  }
}

class Collector implements BodySink {
  backed = false
  source: BodySource | null = null
  readonly takesFramed = false
  readonly #maxBytes: number
  readonly #tooLarge: () => void
  readonly #done: (result: Buffer | Abort) => void
  readonly #parts: Buffer[] = []
  #length = 0

  constructor(maxBytes: number, tooLarge: () => void, done: (result: Buffer | Abort) => void) {
    this.#maxBytes = maxBytes
    this.#tooLarge = tooLarge
    this.#done = done
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    this.#length += end - start
    const part = Buffer.allocUnsafe(end - start)
    buffer.copy(part, 0, start, end)
    this.#parts.push(part)
    if (this.backed || this.#length <= this.#maxBytes) return
    this.backed = true
    this.#tooLarge()
  }

  end(): void {
    if (!this.backed) this.#done(this.collected())
  }

  abort(why: Abort): void {
    if (!this.backed) this.#done(why)
  }

  collected(): Buffer {
    const [first = EMPTY, ...more] = this.#parts
    return more.length === 0 ? first : Buffer.concat(this.#parts, this.#length)
  }
}
