import { latin1 } from './latin1.ts'
import type { Transport } from './transport.ts'

/** A substitute for a transport that is not connected yet; it queues writes. */
export class EarlyTransport implements Transport {
  readonly usable = true
  /** Writers are paused from the beginning. */
  readonly backed = true
  readonly #texts: string[] = []

  get unsentBytes(): number {
    return this.#texts.reduce((sum, text) => sum + text.length, 0)
  }

  writeText(text: string): void {
    this.#texts.push(text)
  }

  writeBytes(buffer: Buffer, start: number, end: number): void {
    this.#texts.push(latin1(buffer, start, end))
  }

  /** Repeats the queued writes on the transport. */
  moveTo(transport: Transport): void {
    for (const text of this.#texts) transport.writeText(text)
  }

  pause(): void {}
  resume(): void {}
  end(): void {}
  destroy(): void {}
  reset(): void {}
}
