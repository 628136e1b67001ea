import type { TargetMessage } from '../target/target-reply.ts'

/** An event for the client. */
export interface StreamEvent {
  /** '': it has only an id or a reconnection time. */
  readonly text: string
  readonly id?: string | undefined
  readonly retryMs?: number | undefined
  /** The whole stream ends after it. */
  readonly isLast?: boolean
}

export interface EventReceiver {
  /** @param from reads no further until `read` is called */
  arrived(event: StreamEvent, from: EventSource): void
  ended(): void
  failed(error: unknown): void
}

/** The events for the client that the messages of one target become. */
export class EventSource {
  readonly #messages: AsyncIterator<TargetMessage>
  readonly #toEvent: (received: TargetMessage) => StreamEvent | undefined
  #receiver: EventReceiver | undefined

  /** @param toEvent undefined: the message is not for the client */
  constructor(messages: AsyncIterable<TargetMessage>, toEvent: (received: TargetMessage) => StreamEvent | undefined) {
    this.#messages = messages[Symbol.asyncIterator]()
    this.#toEvent = toEvent
  }

  /** Begins to read. */
  start(receiver: EventReceiver): void {
    this.#receiver = receiver
    this.read()
  }

  /** Reads up to the next event. */
  read(): void {
    this.#messages.next().then(this.#take, this.#fail)
  }

  /** Reads no further. Called once. */
  close(): void {
    this.#receiver = undefined
    this.#messages.return?.().catch(() => {})
  }

  readonly #take = ({ done, value }: IteratorResult<TargetMessage>): void => {
    if (this.#receiver === undefined) return
    if (done === true) return this.#receiver.ended()
    try {
      const event = this.#toEvent(value)
      if (event === undefined) this.read()
      else this.#receiver.arrived(event, this)
    } catch (error) {
      this.#fail(error)
    }
  }

  readonly #fail = (error: unknown): void => this.#receiver?.failed(error)
}
