import { asBuffer } from '#net/body/as-buffer.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodyKind, BodySink, BodySource } from '#net/stream.ts'

/** Bytes without a receiver above which no more should be written. */
const MAX_QUEUED_BYTES = 65_536

/** Kind, length and possible trailers of a body. */
export type BodyShape = Pick<BodySource, 'kind' | 'length' | 'trails'>

/** A body that is written while it is sent. A second `pipe` delivers the rest. */
export class BodyOutput implements BodySource {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly #hold: (bytes: number) => void
  readonly #drained: () => void
  #sink: BodySink | undefined
  readonly #queue: Uint8Array[] = []
  #queuedBytes = 0
  #end: { readonly trailers: Head | undefined } | undefined
  #failure: Abort | undefined

  /**
   * @param hold counts the bytes of the queue as memory; negative: they are released
   * @param drained called when it is not `full` any more
   */
  constructor({ kind, length, trails }: BodyShape, hold: (bytes: number) => void, drained: () => void) {
    this.#hold = hold
    this.kind = kind
    this.length = length
    this.trails = trails === true
    this.#drained = drained
  }

  get full(): boolean {
    return this.#queuedBytes >= MAX_QUEUED_BYTES
  }

  get queuedBytes(): number {
    return this.#queuedBytes
  }

  /** @param bytes must not change later */
  write(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#queue.push(bytes)
    this.#queuedBytes += bytes.length
    this.#hold(bytes.length)
    this.#give()
  }

  end(trailers?: Head): void {
    this.#end ??= { trailers }
    this.#give()
  }

  abort(why: Abort): void {
    this.#failure ??= why
    this.#sink?.abort(why)
  }

  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    if (this.#failure !== undefined) return sink.abort(this.#failure)
    this.resume()
  }

  pause(): void {}

  resume(): void {
    const wasFull = this.full
    this.#give()
    if (wasFull && !this.full) this.#drained()
  }

  /** What the sink does not accept now waits, and the end with it: another sink may get the rest. */
  #give(): void {
    const sink = this.#sink
    while (sink !== undefined && sink === this.#sink && this.#queue.length > 0 && !sink.backed) {
      const bytes = this.#queue.shift()!
      this.#queuedBytes -= bytes.length
      this.#hold(-bytes.length)
      sink.bytes(asBuffer(bytes), 0, bytes.length)
    }
    if (sink === undefined || sink !== this.#sink) return
    if (this.#queue.length > 0 || this.#end === undefined || sink.backed) return
    this.#sink = undefined
    sink.end(this.#end.trailers)
  }
}
