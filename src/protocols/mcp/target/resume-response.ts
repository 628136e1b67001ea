import { CallError } from '#exchange/call.ts'
import { isAnswerTo, type MessageId } from '../message/json-rpc.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import { abandon } from './abandon.ts'
import { pauseBefore } from './stream-timing.ts'

type Messages = Extract<TargetReply, { kind: 'messages' }>

export interface Resumption {
  readonly id: MessageId
  readonly first: Messages
  /** Opens the stream again, after an event. */
  readonly open: (lastEventId: string) => Promise<TargetReply>
  readonly signal: AbortSignal
  /** The client gets the event ids, and continues a stream that ends early itself: only one that breaks is opened again here. */
  readonly clientContinues?: boolean
}

/** How often a stream is opened again that breaks without a message in between. */
const MAX_BREAKS = 3

/**
 * The messages of a response. A target may end the stream before the response (revision 2025-11-25), and the stream may break: the gateway opens it again
 * from the last event on, after the time that the target wants. A stream without event ids cannot be continued.
 */
export class ResumedResponse implements AsyncIterable<TargetMessage> {
  readonly #resumption: Resumption
  #current: Messages
  #lastEventId: string | undefined
  #retryMs: number | undefined
  #breaks = 0
  #isOver = false

  constructor(resumption: Resumption) {
    this.#resumption = resumption
    this.#current = resumption.first
  }

  abort(): void {
    this.#isOver = true
    this.#current.abort()
  }

  /** @throws CallError the stream broke, and could not be continued */
  async *[Symbol.asyncIterator](): AsyncGenerator<TargetMessage> {
    const { id, signal, clientContinues = false } = this.#resumption
    try {
      for (;;) {
        let broken: CallError | undefined
        try {
          for await (const received of this.#current.messages) {
            this.#note(received)
            if (received.message === undefined && !clientContinues) continue
            yield clientContinues ? received : { ...received, eventId: undefined, retryMs: undefined }
            if (isAnswerTo(received.message, id)) return
          }
        } catch (error) {
          broken = this.#resumable(error)
        }
        if (signal.aborted) return
        if (broken === undefined && (this.#lastEventId === undefined || clientContinues)) return
        if (!(await this.#reopen(broken))) return
      }
    } finally {
      this.#current.abort()
    }
  }

  #note({ eventId, retryMs }: TargetMessage): void {
    this.#breaks = 0
    this.#lastEventId = eventId ?? this.#lastEventId
    this.#retryMs = retryMs ?? this.#retryMs
  }

  /** @throws the error, if the stream cannot be continued after it: the target has broken the protocol, or a deadline has passed */
  #resumable(error: unknown): CallError {
    const isBreak = error instanceof CallError && error.failure !== 'timeout' && !this.#isOver
    if (!isBreak || this.#lastEventId === undefined || this.#breaks >= MAX_BREAKS) throw error
    this.#breaks++
    return error
  }

  /** @returns false: nobody wants the rest, or the target does not have it */
  async #reopen(broken: CallError | undefined): Promise<boolean> {
    const { open, signal } = this.#resumption
    await pauseBefore(this.#retryMs, signal, Math.max(0, this.#breaks - 1))
    if (signal.aborted) return false
    if (this.#isOver) return fail(broken)
    const next = await open(this.#lastEventId!)
    if (next.kind === 'messages') {
      this.#current = next
      return true
    }
    abandon(next)
    return signal.aborted ? false : fail(broken)
  }
}

/** A stream that has ended in good order is over then; one that broke has failed. */
function fail(broken: CallError | undefined): false {
  if (broken !== undefined) throw broken
  return false
}
