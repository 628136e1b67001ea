import { latin1 } from '../transport/latin1.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'
import { deliver } from '../transport/turn.ts'

/** A transport without a socket: a test plays the peer by hand and reads what was written. */
export class MemoryTransport implements Transport {
  readonly usable = true
  backed = false
  unsentBytes = 0
  /** What was written, one entry per write. */
  readonly writes: string[] = []
  paused = false
  endedByUs = false
  destroyed = false
  wasReset = false
  owner: TransportOwner | undefined
  #arrived = ''

  /** Everything written so far. */
  get text(): string {
    return this.writes.join('')
  }

  /** The peer sends this; it waits while reading is paused. */
  receive(text: string): void {
    this.#arrived += text
    if (this.paused || this.destroyed) return
    const bytes = Buffer.from(this.#arrived, 'latin1')
    this.#arrived = ''
    if (this.owner !== undefined) deliver(this.owner, bytes, 0, bytes.length)
    // What is kept of memory that belongs to the transport shows as rubbish.
    bytes.fill(0xff)
  }

  /** The peer ends its direction. */
  receiveEnd(): void {
    this.owner?.ended()
  }

  /** The peer has taken what was queued. */
  drain(): void {
    this.backed = false
    this.owner?.drained()
  }

  writeText(text: string): void {
    if (!this.destroyed && !this.endedByUs) this.writes.push(text)
  }

  writeBytes(buffer: Buffer, start: number, end: number): void {
    this.writeText(latin1(buffer, start, end))
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
    this.endedByUs = true
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    queueMicrotask(() => this.owner?.closed())
  }

  reset(): void {
    this.wasReset = true
    this.destroy()
  }
}
