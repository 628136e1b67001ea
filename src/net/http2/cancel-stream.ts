import type { Http2Stream } from 'node:http2'
import { addAbortSignal } from 'node:stream'

const ABORTED = AbortSignal.abort()

/**
 * Resets a stream with CANCEL. `stream.close(NGHTTP2_CANCEL)` will not do: it ends an open body in order before the reset, so that
 * the peer may take it for whole.
 */
export function cancelStream(stream: Http2Stream): void {
  if (!stream.destroyed) addAbortSignal(ABORTED, stream)
}
