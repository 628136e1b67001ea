import { FixedBody } from '../body/fixed-body.ts'
import type { Destination } from '../destination.ts'
import type { Failure, ReplayCause } from '../failure.ts'
import { Head } from '../http/head.ts'
import type { Peer } from '../peer.ts'
import {
  type Abort,
  BODY_LENGTH,
  type ClientHandler,
  type ClientPool,
  type ClientStream,
  type ServerStream,
  type StreamHandler,
  type TrailerGate,
  type WireRefusal,
} from '../stream.ts'

const EVERYTHING: TrailerGate = { admits: () => true }

/** A minimal proxy: forwards everything to one destination without policies. */
export class ForwardingHandler implements StreamHandler, ClientHandler {
  readonly pool: Pick<ClientPool, 'send'>
  readonly destination: Destination
  responseTimeoutMs = 0
  readonly events: string[] = []

  constructor(pool: Pick<ClientPool, 'send'>, destination: Destination) {
    this.pool = pool
    this.destination = destination
  }

  request(stream: ServerStream): void {
    const { head, body } = stream
    const framing = {
      kind: body.kind,
      length: body.length,
      upgrade: head.upgrade,
      trailers: body.trails === true ? EVERYTHING : undefined,
    }
    const upstream = this.pool.send(this.destination, head, framing, this.responseTimeoutMs, this, stream)
    stream.context = upstream
    body.pipe(upstream.request)
  }

  finished(stream: ServerStream, sentBytes: number): void {
    this.events.push(`finished ${stream.head.target} ${sentBytes}`)
    const upstream = stream.context as ClientStream | undefined
    stream.context = undefined
    upstream?.release()
  }

  aborted(stream: ServerStream, why: Abort): void {
    this.events.push(`aborted ${why}`)
    const upstream = stream.context as ClientStream | undefined
    stream.context = undefined
    upstream?.cancel()
  }

  broken(): void {}

  refused(_peer: Peer, code: WireRefusal): undefined {
    this.events.push(`refused ${code}`)
  }

  response(upstream: ClientStream): void {
    const stream = upstream.context as ServerStream
    stream.respond(upstream.head, upstream.body.kind, upstream.body.length)
    upstream.body.pipe(stream.response)
  }

  informed(upstream: ClientStream, head: Head): void {
    const stream = upstream.context as ServerStream
    stream.inform(head)
  }

  upgraded(upstream: ClientStream): void {
    const stream = upstream.context as ServerStream
    if (upstream.head.upgrade.toLowerCase() === stream.head.upgrade.toLowerCase())
      stream.tunnel(upstream.head, upstream)
    else this.#answer(stream, 502, 'request upgrade failed')
  }

  replayed(_: ClientStream, cause: ReplayCause): void {
    this.events.push(`replayed ${cause}`)
  }

  failed(upstream: ClientStream, { code, maybeProcessed }: Failure): void {
    this.events.push(`failed ${code} ${maybeProcessed ? 'sent' : 'unsent'}`)
    const stream = upstream.context as ServerStream
    this.#answer(stream, code === 'timeout' ? 504 : 503, 'upstream call failed')
  }

  #answer(stream: ServerStream, status: number, text: string): void {
    ;(stream.context as ClientStream | undefined)?.cancel()
    stream.context = undefined
    stream.respond(Head.response(status), BODY_LENGTH, text.length)
    new FixedBody(text).pipe(stream.response)
  }
}
