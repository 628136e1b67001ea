import { flushAll } from '#base/turn.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'
import { TurnTransport } from '../transport/turn-transport.ts'

/** A transport without a socket: the test acts as the peer and reads what was written. */
export class MemoryTransport extends TurnTransport implements Transport {
  usable = true
  backed = false
  unsentBytes = 0
  paused = false
  endedByUs = false
  destroyed = false
  wasReset = false
  owner: TransportOwner | undefined
  #arrived = ''
  readonly #writes: string[] = []

  /** The written data, one entry per write. Reading this ends the turn. */
  get writes(): readonly string[] {
    flushAll()
    return this.#writes
  }

  /** Everything written so far. */
  get text(): string {
    return this.writes.join('')
  }

  /** The peer sends bytes, in a separate turn; they wait while reading is paused. */
  receive(text: string): void {
    this.#arrived += text
    if (this.paused || this.destroyed) return
    const bytes = Buffer.from(this.#arrived, 'latin1')
    this.#arrived = ''
    this.owner?.bytes(bytes, 0, bytes.length)
    flushAll()
    // Overwrites the shared memory, so that code that keeps a reference to it fails.
    bytes.fill(0xff)
  }

  /** The peer ends its direction. */
  receiveEnd(): void {
    this.owner?.ended()
  }

  /** The peer has read the queued bytes. */
  drain(): void {
    this.backed = false
    this.owner?.drained()
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (this.#arrived !== '') queueMicrotask(() => this.receive(''))
  }

  end(): void {
    this.flush()
    this.endedByUs = true
  }

  destroy(): void {
    if (this.destroyed) return
    this.forget()
    this.destroyed = true
    queueMicrotask(() => this.owner?.closed())
  }

  reset(): void {
    this.wasReset = true
    this.destroy()
  }

  protected sendText(text: string): void {
    if (!this.destroyed && !this.endedByUs) this.#writes.push(text)
  }

  protected sendBytes(bytes: Buffer): boolean {
    this.sendText(bytes.toString('latin1'))
    return true
  }
}
