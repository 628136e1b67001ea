import { FixedBody } from '../body/fixed-body.ts'
import { Head } from '../http/head.ts'
import type { Peer } from '../peer.ts'
import {
  type Abort,
  BODY_LENGTH,
  type BodySink,
  type BodySource,
  type ConnectionFault,
  type ResponseField,
  type ServerStream,
  type StreamHandler,
  type WireRefusal,
} from '../stream.ts'

/** Keeps what it gets as text. */
export class TextSink implements BodySink {
  backed = false
  source: BodySource | null = null
  takesFramed = false
  framed = false
  text = ''
  ended = false
  /** What followed the last byte. */
  trailers: Head | undefined
  aborted: Abort | undefined
  onEnd: () => void = () => {}

  bytes(buffer: Buffer, start: number, end: number): void {
    this.text += buffer.latin1Slice(start, end)
  }

  end(trailers?: Head): void {
    this.ended = true
    this.trailers = trailers?.clone()
    this.onEnd()
  }

  abort(why: Abort): void {
    this.aborted = why
  }
}

/** Writes down what it is told, and does with a request what the test says. */
export class RecordingHandler implements StreamHandler {
  readonly events: string[] = []
  onRequest: (stream: ServerStream) => void

  constructor(onRequest: (stream: ServerStream) => void = (stream) => answerWith(stream, 'ok')) {
    this.onRequest = onRequest
  }

  request(stream: ServerStream): void {
    this.events.push(`request ${stream.head.method} ${stream.head.target}`)
    this.onRequest(stream)
  }

  finished(_stream: ServerStream, sentBytes: number): void {
    this.events.push(`finished ${sentBytes}`)
  }

  aborted(_stream: ServerStream, why: Abort, cut: boolean): void {
    this.events.push(cut ? `cut ${why}` : `aborted ${why}`)
  }

  broken(_peer: Peer, fault: ConnectionFault, detail: string): void {
    this.events.push(`broken ${fault}: ${detail}`)
  }

  refused(_peer: Peer, code: WireRefusal): ResponseField {
    const event = `refused ${code}`
    this.events.push(event)
    return ['x-refusal', event]
  }
}

/** Answers with a body that is in memory. */
export function answerWith(stream: ServerStream, text: string, status = 200): void {
  stream.respond(Head.response(status), BODY_LENGTH, text.length)
  new FixedBody(text).pipe(stream.response)
}
