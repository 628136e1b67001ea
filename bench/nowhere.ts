import type { BodySink, BodySource } from '#net/stream.ts'

/** A client that takes everything at once, and keeps nothing. */
export class Nowhere implements BodySink {
  readonly backed = false
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #ended = Promise.withResolvers<void>()
  /** Resolves when all has been sent. */
  readonly ended: Promise<void> = this.#ended.promise

  bytes(): void {}

  end(): void {
    this.#ended.resolve()
  }

  abort(): void {}
}
