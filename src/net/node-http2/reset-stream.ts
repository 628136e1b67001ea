import type { Http2Stream } from 'node:http2'
import { addAbortSignal } from 'node:stream'

const ABORTED = AbortSignal.abort()
const CUT = new Error('the response was cut short')

/** Resets a stream with CANCEL: the request is no longer needed. */
export function cancelStream(stream: Http2Stream): void {
  inNextTurn(stream, abort)
}

/** Resets a stream with INTERNAL_ERROR: the response cannot be completed. */
export function cutStream(stream: Http2Stream): void {
  inNextTurn(stream, cut)
}

/**
 * Defers a reset to the next turn, because resetting inside a callback crashes Node: nghttp2 frees memory twice if another stream of the
 * session is reset while it reports a reset by the peer, and a stream that is destroyed during its 'response' event still gets its
 * trailers (docs/decisions/0121-http2.md).
 */
function inNextTurn(stream: Http2Stream, reset: (stream: Http2Stream) => void): void {
  if (stream.destroyed) return
  setImmediate(() => {
    if (!stream.destroyed) reset(stream)
  })
}

/** Does not use `stream.close(NGHTTP2_CANCEL)`, which ends an open body normally before the reset, so that it may look complete. */
function abort(stream: Http2Stream): void {
  addAbortSignal(ABORTED, stream)
}

/** Destroys the stream with an error, so that Node resets it; `close` may end it normally first. */
function cut(stream: Http2Stream): void {
  stream.destroy(CUT)
}
