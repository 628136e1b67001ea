import type { ServerSessionOptions } from 'node:http2'
import type { ServerLimits } from '../limits.ts'

/**
 * A head is read up to this many times its bounds, so that what is too large can be answered 431 (decision A-43); beyond that its
 * stream is reset.
 */
const READ_OVER = 8
/** MiB that a session may hold in node:http2, among them heads that are being read. */
const MAX_SESSION_MEMORY = 32
/** Frames that mean nothing (RFC 9113, 10.5): empty data, data for streams that are gone. */
const MAX_INVALID_FRAMES = 200
/** Requests beyond the announced number. */
const MAX_REJECTED_STREAMS = 200

/**
 * What node:http2 goes by on a connection. It bounds floods by itself: settings and pings by acknowledgements that wait to be
 * sent, CONTINUATION by frames in a row. Resets are counted by the session, which says why it ends.
 */
export function sessionOptions({ http2, maxHeaders }: ServerLimits): ServerSessionOptions {
  return {
    settings: {
      maxConcurrentStreams: http2.maxStreams,
      initialWindowSize: http2.windowBytes,
      maxFrameSize: http2.maxFrameBytes,
      maxHeaderListSize: READ_OVER * http2.maxHeaderBytes,
    },
    maxHeaderListPairs: READ_OVER * Math.max(maxHeaders, 32),
    maxSessionMemory: MAX_SESSION_MEMORY,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
    streamResetBurst: READ_OVER * http2.maxResets,
    streamResetRate: READ_OVER * http2.resetsPerSecond,
    strictSingleValueFields: false,
  }
}
