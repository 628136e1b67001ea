import type { ClientHttp2Stream } from 'node:http2'

/**
 * Tells whether the peer has ended a stream (END_STREAM). Node emits 'end' also when the peer resets it, even with NO_ERROR: a
 * response cut short would pass for a whole one. What differs is whether the stream is closed already when its end is pushed.
 * @returns asked in and after 'end'
 */
export function watchEndOfStream(stream: ClientHttp2Stream): () => boolean {
  let seen = false
  const { push } = stream
  stream.push = (chunk, encoding) => {
    if (chunk === null && !stream.closed) seen = true
    return push.call(stream, chunk, encoding)
  }
  return () => seen
}
