import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { BodySink } from '#net/stream.ts'
import { type MessageHandler, MessageReader } from '#net/websocket/message-reader.ts'
import type { AnswerFailure, TunnelFilter } from '../../backend-protocol.ts'
import { SessionEvents } from './session-events.ts'

export interface SessionFilterOptions {
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

  constructor(options: SessionFilterOptions) {
    this.#options = options
    this.#events = new SessionEvents(options.facts)
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
    return new ReadSink(sink, (buffer, start, end) => {
      this.#problem = reader.read(buffer, start, end)
    })
  }

  text(message: Uint8Array): void {
    if (this.#events.read(message)) this.#options.charge()
  }

  missed(): void {
    this.#missed++
  }

  closed(code: number | undefined): void {
    this.#options.facts.closeCode = code
  }
}

/** Bytes are passed on before they are read. */
class ReadSink extends ForwardingSink {
  readonly #read: (buffer: Buffer, start: number, end: number) => void

  constructor(sink: BodySink, read: (buffer: Buffer, start: number, end: number) => void) {
    super(sink)
    this.#read = read
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    super.bytes(buffer, start, end)
    this.#read(buffer, start, end)
  }
}
