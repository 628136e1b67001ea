import { asBuffer } from '#net/body/as-buffer.ts'
import { frameMessage } from '#net/grpc/message-frame.ts'
import { BODY_CHUNKED, type BodySink, type BodySource } from '#net/stream.ts'
import type { Call, CallPurpose } from './call.ts'
import { type FailedCall, failedCall } from './failed-call.ts'
import { GRPC_REQUEST, readMessages } from './grpc-answer.ts'
import { MessageDeadline } from './message-deadline.ts'

/** Messages that wait for a connection, above which more should not be sent. */
const MAX_QUEUED_BYTES = 65_536

/** A gRPC call with any number of messages in both directions. */
export interface StreamedCall {
  readonly purpose: CallPurpose
  /** `/package.Service/Method`. */
  readonly path: string
  /** Time limit while `CallStream.deadline` runs; a request timeout in the destination's own policies replaces it. */
  readonly defaultMessageMs: number
}

/** Receives what the server sends; nothing after `CallStream.cancel`. */
export interface MessageReceiver {
  /** @returns a promise if the next message must wait */
  message(bytes: Uint8Array): Promise<void> | undefined
  /** `CallStream.backed` is false again. */
  drained(): void
  /** Called once, last. @param failure undefined: the server ended the call with status OK */
  ended(failure: FailedCall | undefined): void
  /** A bug: `message` threw. */
  broke(error: unknown): void
}

/** The sending side of such a call. */
export class CallStream implements BodySource {
  readonly kind = BODY_CHUNKED
  readonly length = -1
  readonly deadline: MessageDeadline
  readonly #receiver: MessageReceiver
  readonly #cancelled = new AbortController()
  #sink: BodySink | undefined
  /** Frames that are not written yet. */
  readonly #queue: Uint8Array[] = []
  #queuedBytes = 0
  #ended = false

  /** Begins the call. */
  constructor(call: Call, destination: string, streamed: StreamedCall, receiver: MessageReceiver) {
    this.deadline = new MessageDeadline(streamed.defaultMessageMs)
    this.#receiver = receiver
    void this.#run(call, destination, streamed)
  }

  /** The server does not read as fast as messages are sent. */
  get backed(): boolean {
    return this.#sink === undefined ? this.#queuedBytes >= MAX_QUEUED_BYTES : this.#sink.backed
  }

  send(message: Uint8Array): void {
    const frame = frameMessage(message)
    if (this.#sink !== undefined && this.#queue.length === 0 && !this.#sink.backed) return this.#write(frame)
    this.#queue.push(frame)
    this.#queuedBytes += frame.length
  }

  /** No more messages follow. */
  end(): void {
    this.#ended = true
    this.#flush()
  }

  /** Resets the call, unless it has ended. */
  cancel(): void {
    this.deadline.stop()
    this.#cancelled.abort()
  }

  /** For the connection. */
  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    this.#flush()
  }

  pause(): void {}

  resume(): void {
    this.#flush()
    if (!this.#isCancelled && !this.backed) this.#receiver.drained()
  }

  #flush(): void {
    const sink = this.#sink
    if (sink === undefined) return
    let written = 0
    while (written < this.#queue.length && !sink.backed) this.#write(this.#queue[written++]!)
    for (const frame of this.#queue.splice(0, written)) this.#queuedBytes -= frame.length
    if (!this.#ended || this.#queue.length > 0) return
    this.#sink = undefined
    sink.end()
  }

  #write(frame: Uint8Array): void {
    this.#sink!.bytes(asBuffer(frame), 0, frame.length)
  }

  get #isCancelled(): boolean {
    return this.#cancelled.signal.aborted
  }

  async #run(call: Call, destination: string, { purpose, path }: StreamedCall): Promise<void> {
    let failure: FailedCall | undefined
    try {
      const response = await call(destination, {
        ...GRPC_REQUEST,
        purpose,
        path,
        body: this,
        messageDeadline: this.deadline,
        signal: this.#cancelled.signal,
      })
      failure = await readMessages(response, (message) =>
        this.#isCancelled ? undefined : this.#receiver.message(message),
      )
    } catch (error) {
      failure = failedCall(error)
      if (failure === undefined && !this.#isCancelled) this.#receiver.broke(error)
      if (failure === undefined) return this.cancel()
    }
    this.deadline.stop()
    if (this.#isCancelled) return
    this.#receiver.ended(failure)
    // What of the call is left on the connection.
    this.cancel()
  }
}
