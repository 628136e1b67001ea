import { type MessageReceiver, ReceivedMessages, SentMessages } from '#net/grpc/message-bodies.ts'
import { encodeGrpcMessage } from '#net/grpc/status-fields.ts'
import { Head } from '#net/http/head.ts'
import { BODY_CHUNKED, BODY_NONE, type ServerStream } from '#net/stream.ts'
import { MAX_MESSAGE_BYTES } from './discovery-messages.ts'

/** The statuses of gRPC that streams end with. */
const STATUS = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const
export type StatusName = keyof typeof STATUS

/** Why a stream ends, for the client. */
export interface StreamEnd {
  readonly status: StatusName
  readonly message: string
}

/** Answers a gRPC request without any message. */
export function refuseStream(stream: ServerStream, end: StreamEnd): void {
  const head = grpcHead()
  setStatus(head, end)
  stream.respond(head, BODY_NONE, 0)
  stream.response.end()
}

/** The server side of one gRPC stream with messages in both directions. */
export class ServedStream {
  readonly #stream: ServerStream
  readonly #sent: SentMessages
  readonly #received: ReceivedMessages

  /** Accepts the stream. @param drained called when the client reads on */
  constructor(stream: ServerStream, receiver: MessageReceiver, drained: () => void) {
    this.#stream = stream
    this.#sent = new SentMessages(true, drained)
    this.#received = new ReceivedMessages(receiver, MAX_MESSAGE_BYTES)
    stream.respond(grpcHead(), BODY_CHUNKED, -1)
    this.#sent.pipe(stream.response)
  }

  /** Reads what the client sends, from now on. */
  read(): void {
    this.#stream.body.pipe(this.#received)
  }

  get backed(): boolean {
    return this.#sent.backed
  }

  send(message: Uint8Array): void {
    this.#sent.send(message)
  }

  end(end: StreamEnd): void {
    this.#received.stop()
    const trailers = new Head()
    setStatus(trailers, end)
    this.#sent.end(trailers)
  }

  /** Ends a stream whose client does not read, without a status. */
  abort(): void {
    this.#received.stop()
    this.#stream.abort()
  }
}

function grpcHead(): Head {
  const head = Head.response(200)
  head.set('content-type', 'application/grpc')
  return head
}

function setStatus(head: Head, { status, message }: StreamEnd): void {
  head.set('grpc-status', String(STATUS[status]))
  if (message !== '') head.set('grpc-message', encodeGrpcMessage(message))
}
