import type { Failure } from '../failure.ts'
import { Head } from '../http/head.ts'
import { type Abort, BODY_CHUNKED, type ClientHandler, type ClientPool, type ClientStream } from '../stream.ts'
import type { GrpcAccess } from './grpc-access.ts'
import { type MessageReceiver, ReceivedMessages, SentMessages } from './message-bodies.ts'
import { decodeGrpcMessage, grpcStatusName } from './status-fields.ts'

/** A method of a gRPC service. */
export interface GrpcMethod {
  /** `/package.Service/Method` */
  readonly path: string
  /** Longest wait for the head of a response, in milliseconds. */
  readonly responseMs: number
  /** Of one message that the server sends. */
  readonly maxMessageBytes: number
}

/** Receives what the server sends. */
export interface StreamOwner {
  message(bytes: Uint8Array): void
  /** The server reads on. */
  drained?(): void
  /**
   * Called once, last.
   * @param why undefined: the server ended the stream with status OK
   * @param code of the failure of the connection, or the name of the status; undefined: the server does not speak gRPC
   */
  over(why: string | undefined, code?: string): void
}

/** The client side of one gRPC stream. */
export class GrpcStream implements ClientHandler, MessageReceiver {
  readonly #owner: StreamOwner
  readonly #sent = new SentMessages(false, () => this.#owner.drained?.())
  readonly #received: ReceivedMessages
  readonly #upstream: ClientStream
  #isOver = false

  constructor(
    pool: ClientPool,
    { destination, authority, authorization }: GrpcAccess,
    { path, responseMs, maxMessageBytes }: GrpcMethod,
    owner: StreamOwner,
  ) {
    this.#owner = owner
    this.#received = new ReceivedMessages(this, maxMessageBytes)
    const head = Head.request('POST', path)
    head.set('host', authority)
    head.set('content-type', 'application/grpc')
    if (authorization !== undefined) head.set('authorization', authorization)
    head.takesTrailers = true
    const framing = { kind: BODY_CHUNKED, length: -1 } as const
    this.#upstream = pool.send(destination, head, framing, responseMs, this, undefined)
    this.#sent.pipe(this.#upstream.request)
  }

  /** The server does not read as fast as messages are sent. */
  get backed(): boolean {
    return this.#sent.backed
  }

  send(message: Uint8Array): void {
    if (!this.#isOver) this.#sent.send(message)
  }

  /** No message follows. */
  finish(): void {
    if (!this.#isOver) this.#sent.end()
  }

  /** Gives the stream up. @param why for operators @param code see `StreamOwner` */
  cancel(why: string, code?: string): void {
    if (this.#isOver) return
    this.#end(why, code)
    this.#upstream.cancel()
  }

  // What the connection tells.

  response(stream: ClientStream): void {
    const { head } = stream
    if (head.status !== 200) return this.cancel(`it answered with status ${head.status}, not with gRPC`)
    if (!/^application\/grpc(?:[+;]|$)/i.test(head.get('content-type') ?? ''))
      return this.cancel('its response is not gRPC')
    stream.body.pipe(this.#received)
  }

  failed(_: ClientStream, { code, detail }: Failure): void {
    this.#end(detail === undefined ? code : `${code}: ${detail}`, code)
  }

  informed(): void {}

  replayed(): void {}

  upgraded(): void {
    this.cancel('it switched protocols')
  }

  message(bytes: Uint8Array): void {
    if (!this.#isOver) this.#owner.message(bytes)
  }

  malformed(fault: string): void {
    this.cancel(fault)
  }

  ended(): void {
    const { head, trailers } = this.#upstream
    const field = (name: string) => trailers?.get(name) ?? head.get(name)
    const status = field('grpc-status')
    if (status === '0') return this.#end(undefined)
    const text = decodeGrpcMessage(field('grpc-message') ?? '')
    if (status === undefined) return this.#end('its response has no grpc-status')
    const name = grpcStatusName(status)
    this.#end(`${name}: ${text}`, name)
  }

  aborted(why: Abort): void {
    this.#end(`the connection ended: ${why}`, why)
  }

  #end(why: string | undefined, code?: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#received.stop()
    this.#owner.over(why, code)
  }
}
