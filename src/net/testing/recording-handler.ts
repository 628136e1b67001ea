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

/** Records a body as text. */
export class TextSink implements BodySink {
  backed = false
  source: BodySource | null = null
  takesFramed = false
  framed = false
  text = ''
  ended = false
  /** The received trailers. */
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

/** Records all events, and handles requests as the test defines. */
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

  refused(_peer: Peer, code: WireRefusal, _stream?: ServerStream): ResponseField {
    const event = `refused ${code}`
    this.events.push(event)
    return ['x-refusal', event]
  }
}

/** Responds with a body in memory. */
export function answerWith(stream: ServerStream, text: string, status = 200): void {
  stream.respond(Head.response(status), BODY_LENGTH, text.length)
  new FixedBody(text).pipe(stream.response)
}
