import { CallError, type CallFailure, type CallResponse } from '#exchange/call.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Abort, BodySink, BodySource, ClientStream } from '#net/stream.ts'

/** Unread bytes above which reading from the upstream connection pauses. */
const MAX_QUEUED_BYTES = 262_144

/**
 * The response to a call. Its body is read piece by piece; the upstream connection pauses if the reader is slow. All bytes received since the
 * last read form one piece, so that a response of many tiny chunks needs no object per chunk.
 */
export class CallAnswer implements CallResponse, BodySink {
  readonly status: number
  readonly endpoint: string
  readonly headers: [name: string, value: string][] = []
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #stream: ClientStream
  readonly #ended: (failure: CallFailure | undefined) => void
  /** Bytes received and not read yet. */
  readonly #held: HeldBytes
  #over = false
  #failure: Abort | undefined
  #wake: (() => void) | undefined

  /** @param ended called once, with the failure if the response is incomplete */
  constructor(
    stream: ClientStream,
    endpoint: string,
    claim: BodyClaim,
    ended: (failure: CallFailure | undefined) => void,
  ) {
    const { head, body } = stream
    this.status = head.status
    this.endpoint = endpoint
    head.each((name, value) => this.headers.push([name, value]))
    // A read may bring more than the bound.
    this.#held = new HeldBytes(claim, 2 * MAX_QUEUED_BYTES)
    this.#stream = stream
    this.#ended = ended
    body.pipe(this)
  }

  header(lowerName: string): string | undefined {
    return this.headers.find(([name]) => name === lowerName)?.[1]
  }

  trailer(lowerName: string): string | undefined {
    return this.#stream.trailers?.get(lowerName)
  }

  get backed(): boolean {
    return this.#held.length >= MAX_QUEUED_BYTES
  }

  /** Keeps the bytes even above the memory limit: the reader of the body checks the limit and gives up. */
  bytes(buffer: Buffer, start: number, end: number): void {
    this.#held.appendAnyway(buffer, start, end)
    this.#wake?.()
  }

  end(): void {
    this.#close(undefined)
  }

  abort(why: Abort): void {
    if (this.#over) return
    this.#failure = why
    this.#close(why)
    this.#stream.cancel()
  }

  #close(why: Abort | undefined): void {
    this.#over = true
    this.#ended(why)
    this.#wake?.()
  }

  /** Ending it early gives the upstream connection up, also when nothing was read yet. */
  get body(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#next(), return: () => this.#giveUp() }) }
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      if (this.#held.length > 0) {
        const wasBacked = this.backed
        const piece = this.#held.bytes
        this.#held.drop()
        if (wasBacked) this.source!.resume()
        return { done: false, value: piece }
      }
      if (this.#failure !== undefined) throw new CallError(this.#failure)
      if (this.#over) return { done: true, value: undefined }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async #giveUp(): Promise<IteratorResult<Uint8Array>> {
    this.abort('cancelled')
    this.#held.drop()
    return { done: true, value: undefined }
  }
}
