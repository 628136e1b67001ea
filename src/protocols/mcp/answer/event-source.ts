import type { MessageReader, TargetMessage } from '../message/target-reply.ts'
import { TargetEvents } from '../target/target-events.ts'

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
export class EventSource implements MessageReader {
  readonly #messages: AsyncIterator<TargetMessage>
  readonly #toEvent: (received: TargetMessage) => StreamEvent | undefined
  #receiver: EventReceiver | undefined
  #isWanted = false
  #isReading = false

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

  /** Reads up to the next event. Thousands may have arrived, so one that is taken at once must not call the next. */
  read(): void {
    this.#isWanted = true
    if (this.#isReading) return
    this.#isReading = true
    while (this.#isWanted) {
      this.#isWanted = false
      this.#readMessage()
    }
    this.#isReading = false
  }

  /** Reads no further. Called once. */
  close(): void {
    this.#receiver = undefined
    this.#messages.return?.().catch(() => {})
  }

  message(received: TargetMessage): void {
    if (this.#receiver === undefined) return
    try {
      const event = this.#toEvent(received)
      if (event === undefined) this.read()
      else this.#receiver.arrived(event, this)
    } catch (error) {
      this.failed(error)
    }
  }

  ended(): void {
    this.#receiver?.ended()
  }

  failed(error: unknown): void {
    this.#receiver?.failed(error)
  }

  #readMessage(): void {
    if (this.#messages instanceof TargetEvents) return this.#messages.read(this)
    this.#messages.next().then(
      ({ done, value }) => (done === true ? this.ended() : this.message(value)),
      (error: unknown) => this.failed(error),
    )
  }
}
