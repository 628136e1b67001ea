import type { Http2Stream } from 'node:http2'
import { Readable } from 'node:stream'

const END_SEEN = Symbol('end seen')

interface WatchedStream extends Http2Stream {
  [END_SEEN]?: boolean
}

/**
 * Detects whether the peer ends a stream (END_STREAM). Node emits 'end' also when the peer resets it, even with NO_ERROR, so a
 * truncated response would look complete. The difference is whether the stream is already closed when its end is pushed.
 */
export function watchEndOfStream(stream: WatchedStream): void {
  stream[END_SEEN] = false
  stream.push = pushAndNote
}

/** Valid in and after 'end' of a watched stream. */
export function sawEndOfStream(stream: WatchedStream): boolean {
  return stream[END_SEEN] === true
}

/** One function for all streams, which holds none of them. */
function pushAndNote(this: WatchedStream, chunk: unknown, encoding?: BufferEncoding): boolean {
  if (chunk === null && !this.closed) this[END_SEEN] = true
  return Readable.prototype.push.call(this, chunk, encoding)
}
