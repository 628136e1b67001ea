import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink, BodySource } from '#net/stream.ts'
import type { CardPlace } from '#protocols/a2a/card-place.ts'
import { MAX_CARD_BYTES, rewriteCard } from '#protocols/a2a/rewrite-card.ts'
import { asBuffer } from './as-buffer.ts'

/** Holds an agent card back until it is whole and sends it rewritten; what is too large to be a card streams on as it is. */
export class CardFilter implements BodySink {
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #sink: BodySink
  readonly #head: Head
  readonly #place: CardPlace
  #parts: Buffer[] | undefined = []
  #length = 0

  constructor(sink: BodySink, head: Head, place: CardPlace) {
    this.#sink = sink
    this.#head = head
    this.#place = place
  }

  get backed(): boolean {
    return this.#parts === undefined && this.#sink.backed
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#parts === undefined) return this.#sink.bytes(buffer, start, end)
    this.#parts.push(Buffer.from(buffer.subarray(start, end)))
    this.#length += end - start
    if (this.#length > MAX_CARD_BYTES) this.#release()
  }

  end(): void {
    if (this.#parts !== undefined) this.#sendCard(Buffer.concat(this.#parts, this.#length))
    this.#sink.end()
  }

  abort(why: Abort): void {
    this.#sink.abort(why)
  }

  #release(): void {
    const parts = this.#parts ?? []
    this.#parts = undefined
    this.#sink.source = this.source
    for (const part of parts) this.#sink.bytes(part, 0, part.length)
  }

  #sendCard(body: Buffer): void {
    const head = this.#head
    const result = rewriteCard(
      {
        status: head.status,
        contentType: head.get('content-type'),
        contentEncoding: head.get('content-encoding'),
        body,
      },
      this.#place,
    )
    const sent = result.kind === 'rewritten' ? asBuffer(result.body) : body
    if (sent.length > 0) this.#sink.bytes(sent, 0, sent.length)
  }
}
