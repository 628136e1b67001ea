import { type Flushable, flushLater } from '#base/turn.ts'
import { giveBlockBack, takeBlock } from './block.ts'
import { latin1 } from './latin1.ts'
import { COALESCE_BYTES, TEXT_BYTES } from './transport.ts'

/**
 * The writing half of a transport: collects output until the end of the turn, or until it is large enough for a write. It collects text,
 * which is cheapest for heads and small bodies; after a larger piece, it collects bytes in a block, where each is copied once.
 */
export abstract class TurnTransport implements Flushable {
  #text = ''
  #block: Buffer | null = null
  #filled = 0

  /** Bytes that wait for the end of the turn. */
  protected get gatheredBytes(): number {
    return this.#text.length + this.#filled
  }

  writeText(text: string): void {
    if (this.#block !== null) return this.#joinBlock(text)
    if (this.#text === '') {
      if (text === '') return
      flushLater(this)
      this.#text = text
    } else this.#text += text
    if (this.#text.length > COALESCE_BYTES) this.flush()
  }

  writeBytes(buffer: Buffer, start: number, end: number): void {
    const length = end - start
    if (length <= TEXT_BYTES && this.#block === null) return this.writeText(latin1(buffer, start, end))
    if (this.gatheredBytes + length > COALESCE_BYTES) {
      this.flush()
      if (length > COALESCE_BYTES) {
        this.sendBytes(Buffer.from(buffer.subarray(start, end)))
        return
      }
    }
    const block = this.#block ?? this.#openBlock()
    buffer.copy(block, this.#filled, start, end)
    this.#filled += length
  }

  flush(): void {
    const block = this.#block
    if (block !== null) {
      const bytes = block.subarray(0, this.#filled)
      this.#block = null
      this.#filled = 0
      if (this.sendBytes(bytes)) giveBlockBack(block)
      return
    }
    const text = this.#text
    if (text === '') return
    this.#text = ''
    this.sendText(text)
  }

  /** Discards the gathered output. */
  protected forget(): void {
    this.#text = ''
    if (this.#block === null) return
    giveBlockBack(this.#block)
    this.#block = null
    this.#filled = 0
  }

  /** Hands latin-1 text to the kernel or to the layer above it. */
  protected abstract sendText(text: string): void

  /** The same with bytes, whose memory the transport owns until they are sent. @returns whether they have been sent */
  protected abstract sendBytes(bytes: Buffer): boolean

  /** Starts a block with the queued text. */
  #openBlock(): Buffer {
    const block = takeBlock()
    this.#block = block
    if (this.#text === '') flushLater(this)
    else this.#filled = block.latin1Write(this.#text, 0)
    this.#text = ''
    return block
  }

  #joinBlock(text: string): void {
    if (this.#filled + text.length > COALESCE_BYTES) {
      this.flush()
      return this.writeText(text)
    }
    this.#filled += this.#block!.latin1Write(text, this.#filled)
  }
}
