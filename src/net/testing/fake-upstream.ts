import { Head } from '../http/head.ts'
import { type Abort, BODY_CLOSE, type BodySink, type BodySource, type ClientStream } from '../stream.ts'
import { TextSink } from './recording-handler.ts'

/** A connected upstream without a socket: the test controls what it sends and reads what it received. */
export class FakeUpstream implements ClientStream, BodySource {
  head: Head = Head.response(101)
  readonly body: BodySource = this
  readonly request: TextSink = new TextSink()
  readonly kind = BODY_CLOSE
  readonly length = -1
  context: unknown
  readonly trailers = undefined
  awaitsRoom = false
  cancelled = false
  paused = false
  #sink: BodySink | undefined

  pipe(sink: BodySink): void {
    this.#sink = sink
    sink.source = this
  }

  send(text: string): void {
    const bytes = Buffer.from(text, 'latin1')
    this.#sink?.bytes(bytes, 0, bytes.length)
    if (this.#sink?.backed === true) this.pause()
  }

  end(): void {
    this.#sink?.end()
  }

  break(why: Abort): void {
    this.#sink?.abort(why)
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  cancel(): void {
    this.cancelled = true
  }

  release(): boolean {
    return false
  }
}
