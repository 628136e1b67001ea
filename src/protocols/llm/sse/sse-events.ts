import { SseBlock } from './sse-block.ts'
import { type SseBlockReceiver, type SseLimits, SseSplitter } from './sse-splitter.ts'

/** Receives the events of a stream. */
export interface SseEventReceiver {
  /**
   * @param name from its event line; empty if it has none
   * @param data its data lines, joined by line feeds; valid during the call
   */
  event(name: string, data: Uint8Array): void
  /** An event is longer than the limit, or there is no memory for it. It is skipped; the stream goes on. */
  overlong(): void
}

/** Reads the events of a stream that arrives in arbitrary pieces (WHATWG HTML, 9.2.6). Blocks without data are skipped. */
export class SseEvents implements SseBlockReceiver {
  readonly #receiver: SseEventReceiver
  readonly #splitter: SseSplitter
  readonly #block = new SseBlock()
  #isOverlong = false

  constructor(receiver: SseEventReceiver, limits: SseLimits) {
    this.#receiver = receiver
    this.#splitter = new SseSplitter(this, limits)
  }

  push(buffer: Buffer, start = 0, end = buffer.length): void {
    this.#splitter.push(buffer, start, end)
  }

  /** The stream has ended. An event without the empty line after it counts, because some servers omit it after the last one. */
  end(): void {
    const { rest } = this.#splitter
    this.block(rest, 0, rest.length)
  }

  block(buffer: Buffer, start: number, end: number): void {
    const block = this.#block.read(buffer, start, end)
    if (block.dataStart >= 0) this.#receiver.event(block.name, block.data)
  }

  part(_buffer: Buffer, _start: number, _end: number, isLast: boolean): void {
    if (!this.#isOverlong) this.#receiver.overlong()
    this.#isOverlong = !isLast
  }
}
