import { BODY_CHUNKED, type BodyKind, type BodySink, type BodySource } from '../stream.ts'

/** A body that the test delivers piece by piece. */
export class Giver implements BodySource {
  readonly kind: BodyKind
  readonly length: number
  readonly trails = true
  paused = false
  sink!: BodySink

  constructor(kind: BodyKind = BODY_CHUNKED, length = -1) {
    this.kind = kind
    this.length = length
  }

  pipe(sink: BodySink): void {
    sink.source = this
    this.sink = sink
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  give(text: string): void {
    this.sink.bytes(Buffer.from(text), 0, text.length)
    if (this.sink.backed) this.pause()
  }
}
