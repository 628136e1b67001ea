import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import { type MessageHandler, MessageReader } from '#net/websocket/message-reader.ts'
import type { AnswerFailure, TunnelFilter } from '../../backend-protocol.ts'
import { type EventReading, SessionEvents } from './session-events.ts'

export interface SessionFilterOptions extends EventReading {
  readonly facts: LlmFacts
  readonly claim: BodyClaim
  /** Of one message that is read. */
  readonly maxBytes: number
  /** Charges tokens when they arrive. */
  readonly charge: () => void
}

/** Reads what the provider says in a session while its bytes pass unchanged. */
export class SessionFilter implements TunnelFilter, MessageHandler {
  readonly changesLength = false
  readonly #options: SessionFilterOptions
  readonly #events: SessionEvents
  #missed = 0
  #problem: string | undefined
  #isClosed = false

  constructor(options: SessionFilterOptions) {
    this.#options = options
    this.#events = new SessionEvents(options.facts, options)
  }

  /** What could not be read. */
  get failure(): AnswerFailure | undefined {
    const missed = this.#missed === 0 ? undefined : `messages that exceeded a limit of memory: ${this.#missed}`
    const detail = this.#problem ?? missed
    if (detail === undefined) return undefined
    return { detail: `not all of the session was read: ${detail}`, unhealthy: false, status: undefined, cut: undefined }
  }

  into(sink: BodySink): BodySink {
    const { claim, maxBytes } = this.#options
    const reader = new MessageReader({ sender: 'server', claim, maxBytes }, this)
    const read = (buffer: Buffer, start: number, end: number) => {
      this.#problem = reader.read(buffer, start, end)
      if (this.#problem !== undefined) this.#fail('protocol-error')
    }
    return new ReadSink(sink, { read, broken: (why) => this.#fail(why) })
  }

  /** The session is over. */
  settle(): void {
    this.#events.settle()
  }

  text(message: Uint8Array): void {
    if (this.#events.read(message)) this.#options.charge()
  }

  missed(): void {
    this.#missed++
  }

  closed(code: number | undefined): void {
    this.#isClosed = true
    this.#options.facts.closeCode = code
  }

  /** An end of the connection after the close is no failure, and neither is one that the client causes. */
  #fail(why: Abort): void {
    if (!this.#isClosed && why !== 'cancelled') this.#options.facts.errorType = why
  }
}

interface Reading {
  readonly read: (buffer: Buffer, start: number, end: number) => void
  readonly broken: (why: Abort) => void
}

/** Bytes are passed on before they are read. */
class ReadSink extends ForwardingSink {
  readonly #reading: Reading

  constructor(sink: BodySink, reading: Reading) {
    super(sink)
    this.#reading = reading
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    super.bytes(buffer, start, end)
    this.#reading.read(buffer, start, end)
  }

  override abort(why: Abort): void {
    this.#reading.broken(why)
    super.abort(why)
  }
}
