import type { ClientHttp2Stream } from 'node:http2'

/**
 * Detects whether the peer has ended a stream (END_STREAM). Node emits 'end' also when the peer resets it, even with NO_ERROR, so a
 * truncated response would look complete. The difference is whether the stream is already closed when its end is pushed.
 * @returns a function that is valid in and after 'end'
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
