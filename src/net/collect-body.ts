import type { Abort, BodySink, BodySource } from './stream.ts'

/** What became of a body: all its bytes, or why there are none. */
export type Collected = Buffer | 'too-large' | Abort

const EMPTY = Buffer.alloc(0)

/**
 * Gathers a body of at most `maxBytes`. `done` is called once, possibly before this returns. A body that is too large is left
 * where it is: nothing more is read of it until somebody pipes it elsewhere or ends the exchange.
 */
export function collectBody(source: BodySource, maxBytes: number, done: (result: Collected) => void): void {
  if (source.length > maxBytes) return done('too-large')
  source.pipe(new Collector(maxBytes, done))
}

class Collector implements BodySink {
  backed = false
  source: BodySource | null = null
  readonly takesFramed = false
  readonly #maxBytes: number
  readonly #done: (result: Collected) => void
  readonly #parts: Buffer[] = []
  #length = 0

  constructor(maxBytes: number, done: (result: Collected) => void) {
    this.#maxBytes = maxBytes
    this.#done = done
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.backed) return
    this.#length += end - start
    if (this.#length > this.#maxBytes) {
      this.backed = true
      this.#done('too-large')
      return
    }
    this.#parts.push(Buffer.from(buffer.subarray(start, end)))
  }

  end(): void {
    if (this.backed) return
    const [first = EMPTY, ...more] = this.#parts
    this.#done(more.length === 0 ? first : Buffer.concat(this.#parts, this.#length))
  }

  abort(why: Abort): void {
    if (!this.backed) this.#done(why)
  }
}
