import type { Http2Stream } from 'node:http2'
import { addAbortSignal } from 'node:stream'

const ABORTED = AbortSignal.abort()
const CUT = new Error('the response was cut short')

/** Resets a stream with CANCEL: its request is not wanted any more. */
export function cancelStream(stream: Http2Stream): void {
  inNextTurn(stream, abort)
}

/** Resets a stream with INTERNAL_ERROR: its response will not be whole. */
export function cutStream(stream: Http2Stream): void {
  inNextTurn(stream, cut)
}

/**
 * While nghttp2 tells of a reset by the peer, another one of the same session makes it free some memory twice; and a stream that is
 * destroyed while Node tells of its response is told its trailers. Either ends the process (docs/decisions/0121-http2.md).
 */
function inNextTurn(stream: Http2Stream, reset: (stream: Http2Stream) => void): void {
  if (stream.destroyed) return
  setImmediate(() => {
    if (!stream.destroyed) reset(stream)
  })
}

/** `stream.close(NGHTTP2_CANCEL)` will not do: it ends an open body in order before the reset, so that the peer may take it for whole. */
function abort(stream: Http2Stream): void {
  addAbortSignal(ABORTED, stream)
}

/** Node resets a stream that is destroyed with an error; a stream that is closed may end normally first. */
function cut(stream: Http2Stream): void {
  stream.destroy(CUT)
}
