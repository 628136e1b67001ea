import type { ServerSessionOptions } from 'node:http2'
import type { ServerLimits } from '../limits.ts'

/**
 * A head is read up to this multiple of its limits, so that a larger one can get status 431 (decision A-43); beyond that the stream is
 * reset.
 */
const READ_OVER = 8
/** Memory limit of a session in node:http2 in MiB, including heads that are being read. */
const MAX_SESSION_MEMORY = 32
/** Limit of frames without effect (RFC 9113, 10.5): empty DATA, or DATA for closed streams. */
const MAX_INVALID_FRAMES = 200
/** Limit of requests beyond the announced stream limit. */
const MAX_REJECTED_STREAMS = 200

/**
 * Options of node:http2 for a connection. It limits some floods itself: SETTINGS and PING by the number of queued acknowledgements,
 * CONTINUATION by the number of consecutive frames. The session counts resets, so that it can report the reason.
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
