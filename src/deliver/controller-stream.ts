import type { Failure } from '#net/failure.ts'
import { decodeGrpcMessage, grpcStatusName } from '#net/grpc/status-fields.ts'
import { Head } from '#net/http/head.ts'
import { type Abort, BODY_CHUNKED, type ClientHandler, type ClientPool, type ClientStream } from '#net/stream.ts'
import type { ControllerAccess } from './controller-access.ts'
import { DELTA_PATH } from './discovery-messages.ts'
import { type MessageReceiver, ReceivedMessages, SentMessages } from './message-bodies.ts'

/** Longest wait for the head of a response. A controller that starts answers when its plan is whole. */
const RESPONSE_MS = 120_000

/** Receives what the controller sends. */
export interface StreamOwner {
  message(bytes: Uint8Array): void
  /** The controller reads on. */
  drained?(): void
  /** Called once, last. @param why undefined: the controller ended the stream with status OK */
  over(why: string | undefined): void
}

/** The client side of one gRPC stream to a controller. */
export class ControllerStream implements ClientHandler, MessageReceiver {
  readonly #owner: StreamOwner
  readonly #sent = new SentMessages(false, () => this.#owner.drained?.())
  readonly #received = new ReceivedMessages(this)
  readonly #upstream: ClientStream
  #isOver = false

  constructor(
    pool: ClientPool,
    { destination, authority, authorization }: ControllerAccess,
    owner: StreamOwner,
    path = DELTA_PATH,
  ) {
    this.#owner = owner
    const head = Head.request('POST', path)
    head.set('host', authority)
    head.set('content-type', 'application/grpc')
    if (authorization !== undefined) head.set('authorization', authorization)
    head.takesTrailers = true
    const framing = { kind: BODY_CHUNKED, length: -1 } as const
    this.#upstream = pool.send(destination, head, framing, RESPONSE_MS, this, undefined)
    this.#sent.pipe(this.#upstream.request)
  }

  /** The controller does not read as fast as messages are sent. */
  get backed(): boolean {
    return this.#sent.backed
  }

  send(message: Uint8Array): void {
    if (!this.#isOver) this.#sent.send(message)
  }

  /** Gives the stream up. @param why for operators */
  cancel(why: string): void {
    if (this.#isOver) return
    this.#end(why)
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
    this.#end(detail === undefined ? code : `${code}: ${detail}`)
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
    this.#end(status === undefined ? 'its response has no grpc-status' : `${grpcStatusName(status)}: ${text}`)
  }

  aborted(why: Abort): void {
    this.#end(`the connection ended: ${why}`)
  }

  #end(why: string | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#received.stop()
    this.#owner.over(why)
  }
}
