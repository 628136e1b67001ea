import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink, BodySource } from '#net/stream.ts'
import type { CardLocation } from './card-location.ts'
import { MAX_CARD_BYTES, rewriteCard } from './rewrite-card.ts'

/**
 * Buffers an agent card and sends it rewritten. A response that is too large for a card, or for which no memory is left, streams unchanged.
 */
export class CardFilter implements BodySink {
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #sink: BodySink
  readonly #head: Head
  readonly #location: CardLocation
  #held: HeldBytes | undefined

  constructor(
    sink: BodySink,
    head: Head,
    { location, claim }: { readonly location: CardLocation; readonly claim: BodyClaim },
  ) {
    this.#sink = sink
    this.#held = new HeldBytes(claim, MAX_CARD_BYTES)
    this.#head = head
    this.#location = location
  }

  get backed(): boolean {
    return this.#held === undefined && this.#sink.backed
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    const held = this.#held
    if (held === undefined) return this.#sink.bytes(buffer, start, end)
    if (held.appendWithin(buffer, start, end)) return
    this.#letGo(held)
    this.#sink.bytes(buffer, start, end)
  }

  end(): void {
    if (this.#held !== undefined) this.#sendCard(this.#held.bytes)
    this.#sink.end()
  }

  abort(why: Abort): void {
    this.#sink.abort(why)
  }

  #letGo(held: HeldBytes): void {
    this.#held = undefined
    this.#sink.source = this.source
    if (held.length > 0) this.#sink.bytes(held.bytes, 0, held.length)
    held.drop()
  }

  #sendCard(body: Buffer): void {
    const head = this.#head
    const result = rewriteCard(
      {
        status: head.status,
        contentType: head.get('content-type'),
        contentEncoding: head.joined('content-encoding'),
        body,
      },
      this.#location,
    )
    const sent = result.kind === 'rewritten' ? asBuffer(result.body) : body
    if (sent.length > 0) this.#sink.bytes(sent, 0, sent.length)
  }
}
