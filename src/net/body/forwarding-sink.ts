import type { Head } from '../http/head.ts'
import type { Abort, BodySink, BodySource } from '../stream.ts'

/** Forwards a body unchanged, without its chunk framing. Subclasses override methods to inspect or change it. */
export class ForwardingSink implements BodySink {
  readonly takesFramed = false
  protected sink: BodySink

  constructor(sink: BodySink) {
    this.sink = sink
  }

  get backed(): boolean {
    return this.sink.backed
  }

  get source(): BodySource | null {
    return this.sink.source
  }

  set source(source: BodySource | null) {
    this.sink.source = source
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    this.sink.bytes(buffer, start, end)
  }

  end(trailers?: Head): void {
    this.sink.end(trailers)
  }

  abort(why: Abort): void {
    this.sink.abort(why)
  }
}
