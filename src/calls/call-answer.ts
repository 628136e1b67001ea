import { CallError, type CallFailure, type CallResponse } from '#exchange/call.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { Abort, BodySink, BodySource, ClientStream } from '#net/stream.ts'

/** What a piece costs besides its bytes: an answer may come in very many. */
const PIECE_BYTES = 64

/** More than this waits in memory for nobody: the upstream is paused. */
const MAX_QUEUED_BYTES = 262_144

/** An answer to a call; its body is read piece by piece, and the upstream waits while nobody reads. */
export class CallAnswer implements CallResponse, BodySink {
  readonly status: number
  readonly headers: [name: string, value: string][] = []
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #stream: ClientStream
  readonly #claim: BodyClaim
  readonly #ended: (failure: CallFailure | undefined) => void
  #queue: Uint8Array[] = []
  #queuedBytes = 0
  #over = false
  #failure: Abort | undefined
  #wake: (() => void) | undefined

  /** @param ended called once, with why the answer is not whole if it is not */
  constructor(stream: ClientStream, claim: BodyClaim, ended: (failure: CallFailure | undefined) => void) {
    const { head, body } = stream
    this.status = head.status
    head.each((name, value) => this.headers.push([name, value]))
    this.#claim = claim
    this.#stream = stream
    this.#ended = ended
    body.pipe(this)
  }

  header(lowerName: string): string | undefined {
    return this.headers.find(([name]) => name === lowerName)?.[1]
  }

  get backed(): boolean {
    return this.#queuedBytes >= MAX_QUEUED_BYTES
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    this.#queue.push(Uint8Array.prototype.slice.call(buffer, start, end))
    this.#count(end - start + PIECE_BYTES)
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
    if (this.#over) return
    this.#over = true
    this.#ended(why)
    this.#wake?.()
  }

  /** Ending it early gives the upstream connection up, also when nothing was read yet. */
  get body(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#next(), return: () => this.#giveUp() }) }
  }

  /** What has come is kept even where there is no room: whoever reads it asks for room, and gives up then. */
  #count(bytes: number): void {
    this.#queuedBytes += bytes
    if (bytes > 0) this.#claim.takeAnyway(bytes)
    else this.#claim.give(-bytes)
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const piece = this.#queue.shift()
      if (piece !== undefined) {
        const wasBacked = this.backed
        this.#count(-piece.length - PIECE_BYTES)
        if (wasBacked && !this.backed) this.source?.resume()
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
    this.#queue = []
    this.#count(-this.#queuedBytes)
    return { done: true, value: undefined }
  }
}
