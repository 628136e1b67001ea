import type { ConnectionFault } from '../stream.ts'

/** Errors of nghttp2 that are about quantity: NGHTTP2_ERR_FLOODED and NGHTTP2_ERR_TOO_MANY_CONTINUATIONS. */
const TOO_MUCH: ReadonlySet<unknown> = new Set([-904, -905])

/**
 * What an error of a session says about its client; undefined for errors of the socket, and for our own. Node does not tell of all:
 * not of streams that nghttp2 resets by itself, and not of what comes behind a GOAWAY (docs/decisions/0121-http2.md).
 */
export function faultOf(error: Error): ConnectionFault | undefined {
  const { code, errno } = error as NodeJS.ErrnoException
  if (code === 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES') return 'http2-flood'
  if (code === 'ERR_HTTP2_SESSION_ERROR') return 'http2-client-error'
  if (code !== 'ERR_HTTP2_ERROR') return undefined
  return TOO_MUCH.has(errno) ? 'http2-flood' : 'http2-protocol-error'
}
