/** Bounds of accepted connections. All times in milliseconds. */
export interface ServerLimits {
  /** Bytes of a request head; also of the request line alone (decision A-43). */
  readonly maxHeadBytes: number
  /** Field lines of a request (specification 2, 2.1 `http1MaxHeaders`). */
  readonly maxHeaders: number
  /** From the first byte of a head to its last (decision A-44). */
  readonly headTimeoutMs: number
  /** Between two reads of a request body that somebody waits for (decision A-44). */
  readonly bodyTimeoutMs: number
  /**
   * Silence of both sides of a request over HTTP/2 that has not ended, once its response has begun; before that `bodyTimeoutMs`
   * counts. Calls of gRPC and streams of events may be silent for longer: their client is asked for a sign of life then.
   */
  readonly silenceTimeoutMs: number
  /** From the end of a response, or accept, to the first byte of the next head (specification 2, 2.1 `http1IdleTimeout`). */
  readonly idleTimeoutMs: number
  /** Age at which a connection ends with the request in hand; 0: none (specification 2, 2.1 `maxConnectionDuration`). */
  readonly maxConnectionMs: number
  /** Maximum time between two reads of a client; each read may be 64 KiB. */
  readonly writeTimeoutMs: number
  /** How long a client that ended its direction is still answered while nothing is sent to it. */
  readonly endedTimeoutMs: number
  /** How long a closing connection waits for the client to stop sending, so that it can read the last response. */
  readonly lingerTimeoutMs: number
  /** Rest of an unwanted request body that is read over rather than answered by closing. */
  readonly maxDiscardBytes: number
  readonly http2: Http2Limits
}

/** Bounds that HTTP/2 has besides (specification 2, 2.1 `http2...`). */
export interface Http2Limits {
  /** Decoded fields of a request, each with 32 bytes more (RFC 9113, 6.5.2). */
  readonly maxHeaderBytes: number
  /** Body bytes that a client may send ahead on a stream, and on all streams of a connection. */
  readonly windowBytes: number
  readonly connectionWindowBytes: number
  readonly maxFrameBytes: number
  /** Between two pings; 0: none. */
  readonly keepaliveIntervalMs: number
  /** How long a ping may stay unanswered (decision A-45). */
  readonly keepaliveTimeoutMs: number
  /** Requests at work on one connection. */
  readonly maxStreams: number
  /** Requests that a client may give up before they are answered: at once, and in a second. */
  readonly maxResets: number
  readonly resetsPerSecond: number
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  maxHeadBytes: 65_536,
  maxHeaders: 100,
  headTimeoutMs: 30_000,
  bodyTimeoutMs: 60_000,
  silenceTimeoutMs: 3_600_000,
  idleTimeoutMs: 600_000,
  maxConnectionMs: 0,
  writeTimeoutMs: 300_000,
  endedTimeoutMs: 2000,
  lingerTimeoutMs: 2000,
  maxDiscardBytes: 65_536,
  http2: {
    maxHeaderBytes: 16_384,
    windowBytes: 65_535,
    connectionWindowBytes: 1_048_576,
    maxFrameBytes: 16_384,
    keepaliveIntervalMs: 0,
    keepaliveTimeoutMs: 20_000,
    maxStreams: 128,
    maxResets: 200,
    resetsPerSecond: 50,
  },
}

/** Bounds of a head. */
export interface HeadLimits {
  /** Bytes of a whole head; a request line alone may be as long. */
  readonly maxHeadBytes: number
  /** Field lines of a head. */
  readonly maxHeaders: number
}

/** No real method is longer. */
export const MAX_METHOD_BYTES = 64

/** Bounds of a response head. Servers are configured by people we trust more than clients, but not with our memory. */
export const RESPONSE_LIMITS: HeadLimits = { maxHeadBytes: 131_072, maxHeaders: 1000 }

/**
 * The largest head that leaves over HTTP/2, as RFC 9113, 6.5.2 counts it. nghttp2 takes none that is larger, and Node ends the whole
 * connection over one.
 */
export const MAX_SENT_HEAD_BYTES = 65_536

/** Interim responses before a final one. They pass whether or not the client takes them. */
export const MAX_INTERIM_RESPONSES = 100
