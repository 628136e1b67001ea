/** Limits of accepted connections. All times in milliseconds. */
export interface ServerLimits {
  /** Bytes of a request head; also the limit of the request line alone (decision A-43). */
  readonly maxHeadBytes: number
  /** Field lines of a request (specification 2, 2.1 `http1MaxHeaders`). */
  readonly maxHeaders: number
  /** Time from the first to the last byte of a head (decision A-44). */
  readonly headTimeoutMs: number
  /** Time between two reads of a request body that has a consumer (decision A-44). */
  readonly bodyTimeoutMs: number
  /**
   * Maximum silence of both sides of an unfinished HTTP/2 request after its response has begun; before that `bodyTimeoutMs` applies.
   * gRPC calls and event streams may be silent for longer: the session then sends a PING to the client.
   */
  readonly silenceTimeoutMs: number
  /** Time from accept, or the end of a response, to the first byte of the next head (specification 2, 2.1 `http1IdleTimeout`). */
  readonly idleTimeoutMs: number
  /** Age after which a connection closes when its current request ends; 0: no limit (specification 2, 2.1 `maxConnectionDuration`). */
  readonly maxConnectionMs: number
  /** Maximum time between two reads of a client; each read may be 64 KiB. */
  readonly writeTimeoutMs: number
  /** Maximum silence towards a client that has ended its direction. */
  readonly endedTimeoutMs: number
  /** How long a closing connection waits for the client to stop sending, so that the client can read the last response. */
  readonly lingerTimeoutMs: number
  /** An unread rest of a request body up to this size is discarded; for a larger rest the connection is closed. */
  readonly maxDiscardBytes: number
  readonly http2: Http2Limits
}

/** Additional limits of HTTP/2 (specification 2, 2.1 `http2...`). */
export interface Http2Limits {
  /** Size of the decoded fields of a request; each field counts 32 bytes more (RFC 9113, 6.5.2). */
  readonly maxHeaderBytes: number
  /** Flow-control windows of a stream, and of a connection. */
  readonly windowBytes: number
  readonly connectionWindowBytes: number
  readonly maxFrameBytes: number
  /** Interval of PINGs; 0: none. */
  readonly keepaliveIntervalMs: number
  /** Time limit for the reply to a PING. */
  readonly keepaliveTimeoutMs: number
  /** Concurrent requests on one connection. */
  readonly maxStreams: number
  /** Rate limit of requests that a client resets before their response: burst, and per second. */
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

/** Limits of a head. */
export interface HeadLimits {
  /** Bytes of a whole head; also the limit of the request line alone. */
  readonly maxHeadBytes: number
  /** Field lines of a head. */
  readonly maxHeaders: number
}

/** No real method is longer. */
export const MAX_METHOD_BYTES = 64

/** Limits of a response head. Servers are trusted more than clients, but their heads must be limited too. */
export const RESPONSE_LIMITS: HeadLimits = { maxHeadBytes: 131_072, maxHeaders: 1000 }

/**
 * The largest head that is sent over HTTP/2, in the size of RFC 9113, 6.5.2. nghttp2 rejects larger ones, and Node then closes the whole
 * connection.
 */
export const MAX_SENT_HEAD_BYTES = 65_536

/** Maximum number of interim responses before the final one. */
export const MAX_INTERIM_RESPONSES = 100
