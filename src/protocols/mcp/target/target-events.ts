import type { BodyClaim } from '#net/body/body-memory.ts'
import { type SseEvent, SseParser } from '#protocols/http/sse.ts'
import { holdPiece, MAX_MESSAGE_BYTES, readMessage } from './read-message.ts'
import type { TargetMessage } from './target-reply.ts'

const NO_EVENTS: readonly SseEvent[] = []
const DONE = { done: true, value: undefined } as const

/** The messages of an event stream of a target. Most streams are silent for long, so one that waits has plain state and no generator. */
export class TargetEvents implements AsyncIterableIterator<TargetMessage> {
  readonly #body: AsyncIterator<Uint8Array>
  readonly #claim: BodyClaim
  /** Created with the first piece. */
  #parser: SseParser | undefined
  /** Events of the last piece, and how many of them have been taken. */
  #events = NO_EVENTS
  #taken = 0
  #heldBytes = 0
  #keptBytes = 0
  /** Takes the result of the read that waits. */
  #settle: ((result: IteratorResult<TargetMessage> | Promise<never>) => void) | undefined
  #isOver = false

  constructor(body: AsyncIterable<Uint8Array>, claim: BodyClaim) {
    this.#body = body[Symbol.asyncIterator]()
    this.#claim = claim
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The result of one read must be known before the next. */
  next(): Promise<IteratorResult<TargetMessage>> {
    if (this.#isOver) return Promise.resolve(DONE)
    return new Promise((resolve) => {
      this.#settle = resolve
      this.#goOn()
    })
  }

  /** Gives the rest up, also while a message is awaited. */
  async return(): Promise<IteratorResult<TargetMessage>> {
    this.#end(DONE)
    await this.#body.return?.()
    return DONE
  }

  #goOn(): void {
    const event = this.#events[this.#taken]
    if (event !== undefined) return this.#deliver(event)
    if (this.#taken > 0) {
      this.#events = NO_EVENTS
      this.#taken = 0
      // All pieces of an unfinished event are still held.
      this.#giveBack(this.#parser!.held)
    }
    this.#body.next().then(this.#read, this.#fail)
  }

  #deliver({ data, id, retryMs }: SseEvent): void {
    try {
      const message = data === '' ? undefined : readMessage(data)
      this.#taken++
      const keep = () => {
        this.#keptBytes += data.length
      }
      this.#settleWith({ done: false, value: { message, eventId: id, retryMs, keep } })
    } catch (error) {
      this.#breakOff(error)
    }
  }

  readonly #read = ({ done, value }: IteratorResult<Uint8Array>): void => {
    if (this.#isOver) return
    if (done === true) return this.#end(DONE)
    try {
      this.#heldBytes += holdPiece(this.#claim, value)
      this.#parser ??= new SseParser(MAX_MESSAGE_BYTES)
      this.#events = this.#parser.push(value)
    } catch (error) {
      return this.#breakOff(error)
    }
    this.#goOn()
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#isOver) this.#end(Promise.reject(error))
  }

  /** The target broke the protocol, or a limit is exceeded: nobody reads the rest. */
  #breakOff(error: unknown): void {
    this.#fail(error)
    this.#body.return?.().catch(() => {})
  }

  #end(result: typeof DONE | Promise<never>): void {
    this.#isOver = true
    this.#giveBack(0)
    this.#settleWith(result)
  }

  #settleWith(result: IteratorResult<TargetMessage> | Promise<never>): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(result)
  }

  /** Releases all memory that is no longer needed. */
  #giveBack(neededBytes: number): void {
    const needed = Math.min(this.#heldBytes, neededBytes + this.#keptBytes)
    this.#claim.give(this.#heldBytes - needed)
    this.#heldBytes = needed
  }
}
