import { BODY_CHUNKED, BODY_CLOSE, BODY_NONE, type BodyKind } from './framing.ts'
import type { Head } from './head.ts'
import { GRPC } from './request-rules.ts'

const EVENT_STREAM = /^text\/event-stream[ \t]*(?:;[^,]*)?$/i

/** Whether the body of a response is a stream of server-sent events. */
export function isEventStream(response: Head): boolean {
  return hasType(response, EVENT_STREAM)
}

const FRAME_STREAM = /^application\/vnd\.amazon\.eventstream[ \t]*(?:;[^,]*)?$/i

/** Whether the body is a stream of frames (`net/event-stream/`). */
export function isFrameStream(response: Head): boolean {
  return hasType(response, FRAME_STREAM)
}

/** Whether a response is gRPC, in the same sense as `isGrpcRequest`. */
export function isGrpcResponse(response: Head): boolean {
  return hasType(response, GRPC)
}

function hasType(response: Head, type: RegExp): boolean {
  const given = response.joined('content-type')
  return given !== undefined && type.test(given)
}

/** Whether a response has no body, independent of its framing fields (RFC 9112, 6.3). */
export function isBodiless(forHead: boolean, status: number): boolean {
  return forHead || status === 204 || status === 304
}

/** The framing of a forwarded body: chunked if the end would not be visible otherwise, unless the client is HTTP/1.0. */
export function sentKind(kind: BodyKind, bodiless: boolean, toHttp10: boolean): BodyKind {
  if (bodiless) return BODY_NONE
  if (kind !== BODY_CHUNKED && kind !== BODY_CLOSE) return kind
  return toHttp10 ? BODY_CLOSE : BODY_CHUNKED
}

/** The Content-Length of a response; negative: none (RFC 9110, 8.6). */
export function announcedLength(status: number, bodiless: boolean, kind: BodyKind, length: number): number {
  if (!bodiless) return kind === BODY_NONE ? 0 : length
  if (status === 204 || kind === BODY_CHUNKED || kind === BODY_CLOSE) return -1
  // The Content-Length of a 304 describes the body of the 200 response, which is not known to be empty.
  return status === 304 && length === 0 ? -1 : length
}
