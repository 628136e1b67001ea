import { BODY_LENGTH, BODY_NONE, type Framing } from './framing.ts'
import type { Head } from './head.ts'

/** Idempotent methods, whose requests may be sent again automatically (RFC 9110, 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** Whether a request may be sent again: by its method, or because its sender knows that it may. */
export function isIdempotent({ method, isRepeatable }: Pick<Head, 'method' | 'isRepeatable'>): boolean {
  return isRepeatable || IDEMPOTENT.has(method)
}

/** The media type of gRPC, in requests and responses. */
export const GRPC = /^application\/grpc(?:\+[^\s;,]*)?[ \t]*(?:;[^,]*)?$/i

/**
 * Whether a request is gRPC: `application/grpc` with any suffix. gRPC-Web is not, nor is a request with several content types, which
 * backends may interpret differently.
 */
export function isGrpcRequest(request: Head): boolean {
  return GRPC.test(request.joined('content-type') ?? '')
}

/**
 * The Content-Length of a request; -1: none. A request without body has length 0 if its method usually has a body (RFC 9110, 8.6).
 */
export function announcedLength(head: Head, framing: Framing): number {
  if (framing.kind === BODY_LENGTH) return framing.length
  if (framing.kind !== BODY_NONE) return -1
  if (head.contentLength === 0) return 0
  const { method } = head
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? 0 : -1
}
