import type { Http2Stream } from 'node:http2'
import { addAbortSignal } from 'node:stream'

const ABORTED = AbortSignal.abort()

/**
 * Resets a stream with CANCEL, in the next turn: while nghttp2 tells of a reset by the peer, another one of the same session makes it
 * free some memory twice, which ends the process (docs/decisions/0121-http2.md).
 */
export function cancelStream(stream: Http2Stream): void {
  if (!stream.destroyed) setImmediate(cancel, stream)
}

/** `stream.close(NGHTTP2_CANCEL)` will not do: it ends an open body in order before the reset, so that the peer may take it for whole. */
function cancel(stream: Http2Stream): void {
  if (!stream.destroyed) addAbortSignal(ABORTED, stream)
}
