import { type Flushable, flushLater } from '#base/turn.ts'
import { latin1 } from './latin1.ts'
import { COALESCE_BYTES } from './transport.ts'

/** The writing half of a transport: gathers text until the turn ends, or until it is worth a write. */
export abstract class TurnTransport implements Flushable {
  #text = ''

  /** Bytes that wait for the end of the turn. */
  protected get gatheredBytes(): number {
    return this.#text.length
  }

  writeText(text: string): void {
    if (this.#text === '') {
      if (text === '') return
      flushLater(this)
      this.#text = text
    } else this.#text += text
    if (this.#text.length > COALESCE_BYTES) this.flush()
  }

  writeBytes(buffer: Buffer, start: number, end: number): void {
    if (end - start <= COALESCE_BYTES) return this.writeText(latin1(buffer, start, end))
    this.flush()
    this.sendBytes(Buffer.from(buffer.subarray(start, end)))
  }

  flush(): void {
    const text = this.#text
    if (text === '') return
    this.#text = ''
    this.sendText(text)
  }

  /** Nobody will read what was gathered. */
  protected forget(): void {
    this.#text = ''
  }

  /** Hands latin-1 text to the kernel, or whatever stands before it. */
  protected abstract sendText(text: string): void

  /** The same with bytes, whose memory now belongs to the transport. */
  protected abstract sendBytes(bytes: Buffer): void
}
