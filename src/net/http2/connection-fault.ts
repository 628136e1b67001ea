import type { ConnectionFault } from '../stream.ts'

/** nghttp2 errors that report a flood: NGHTTP2_ERR_FLOODED and NGHTTP2_ERR_TOO_MANY_CONTINUATIONS. */
const FLOOD_ERRORS: ReadonlySet<unknown> = new Set([-904, -905])

/**
 * The fault of the other side that an error of a session reports; undefined for errors of the socket and of the gateway itself. Node does not
 * report every fault: not streams that nghttp2 resets by itself, and nothing after a GOAWAY (docs/decisions/0121-http2.md).
 */
export function faultOf(error: Error): ConnectionFault | undefined {
  const { code, errno } = error as NodeJS.ErrnoException
  if (code === 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES') return 'http2-flood'
  if (code === 'ERR_HTTP2_SESSION_ERROR') return 'http2-client-error'
  if (code !== 'ERR_HTTP2_ERROR') return undefined
  return FLOOD_ERRORS.has(errno) ? 'http2-flood' : 'http2-protocol-error'
}
