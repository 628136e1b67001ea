import http2, { type ClientHttp2Stream, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import type { ConnectFailure } from '../failure.ts'
import type { Carried, Carrier } from '../node-http2/carrier.ts'
import { watchEndOfStream } from '../node-http2/end-of-stream.ts'
import { cancelStream } from '../node-http2/reset-stream.ts'
import { TunnelSocket } from './tunnel-socket.ts'

const { NGHTTP2_REFUSED_STREAM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_STREAM_STATE_IDLE } = http2.constants

/** How often a tunnel is requested again that the pod did not begin to open. */
const MAX_REPEATS = 3

export interface TunnelRequestOptions {
  /** Address and port to connect to. */
  readonly authority: string
  readonly halfOpen: boolean
  /** Called once with the tunnel or the failure. */
  done(socket: TunnelSocket | null, failure: ConnectFailure | null): void
}

/** The sessions with a pod. */
interface TunnelRequestOwner {
  /** Assigns `request` to a session, now or as soon as there is room. */
  place(request: TunnelRequest): void
  /** `request` no longer waits for a session. */
  withdraw(request: TunnelRequest): void
}

/** One tunnel, from the request for it until its stream closes. */
export class TunnelRequest implements Carried {
  /** For the session. */
  previous: Carried | null = null
  next: Carried | null = null
  readonly #owner: TunnelRequestOwner
  /** Undefined when it was called, or must not be called any more. */
  #done: TunnelRequestOptions['done'] | undefined
  readonly #authority: string
  readonly #halfOpen: boolean
  #session: Carrier | undefined
  #stream: ClientHttp2Stream | undefined
  #repeats = 0

  constructor(owner: TunnelRequestOwner, { authority, halfOpen, done }: TunnelRequestOptions) {
    this.#owner = owner
    this.#authority = authority
    this.#halfOpen = halfOpen
    this.#done = done
  }

  start(session: Carrier): void {
    const stream = session.open([':method', 'CONNECT', ':authority', this.#authority], { endStream: false })
    this.#session = session
    this.#stream = stream
    watchEndOfStream(stream)
    stream.once('response', (fields, flags) => this.#answered(fields, flags))
    // 'close' follows every error.
    stream.on('error', () => {})
    stream.once('close', () => this.#closed(stream, session))
  }

  recall(): void {
    if (this.#done === undefined || this.#stream?.state.state !== NGHTTP2_STREAM_STATE_IDLE) return
    this.#leave()
    this.#owner.place(this)
  }

  /** Gives it up; `done` is not called. @param suspect the pod did not answer in time */
  cancel(suspect: boolean): void {
    if (this.#done === undefined) return
    this.#done = undefined
    if (suspect) this.#session?.suspect()
    if (this.#stream === undefined) this.#owner.withdraw(this)
    else this.#leave()
  }

  fail(failure: ConnectFailure): void {
    const done = this.#done
    this.#done = undefined
    done?.(null, failure)
  }

  #answered(fields: IncomingHttpHeaders & IncomingHttpStatusHeader, flags: number): void {
    const done = this.#done
    if (done === undefined) return
    const status = fields[':status']
    if (status !== 200) {
      this.#leave()
      return this.fail({ code: 'tunnel-refused', detail: `the pod answered ${status} to CONNECT` })
    }
    if ((flags & NGHTTP2_FLAG_END_STREAM) !== 0) {
      this.#leave()
      return this.fail({ code: 'tunnel-failed', detail: 'the pod ended the tunnel when it opened it' })
    }
    this.#done = undefined
    done(new TunnelSocket(this.#stream!, { halfOpen: this.#halfOpen }), null)
  }

  /** The stream is gone; until then the tunnel counts as one of its session. */
  #closed(stream: ClientHttp2Stream, session: Carrier): void {
    if (this.#stream !== stream) return
    this.#detach()
    if (this.#done === undefined) return
    const untouched = stream.rstCode === NGHTTP2_REFUSED_STREAM || session.leftAlone(stream.id)
    // Nothing was sent in the tunnel, so it can also be opened over another session if the pod closed this one, perhaps as idle.
    const repeats = untouched || (session.ended && session.reused)
    if (repeats && this.#repeats++ < MAX_REPEATS) this.#owner.place(this)
    else this.fail({ code: 'tunnel-failed', detail: 'the pod reset the tunnel before it was open' })
  }

  /** Resets the stream; its later events are ignored. */
  #leave(): void {
    const stream = this.#stream
    this.#detach()
    if (stream !== undefined) cancelStream(stream)
  }

  #detach(): void {
    const session = this.#session
    this.#stream = undefined
    this.#session = undefined
    session?.leave(this)
  }
}
