import { byteSize, duration, integer, notEmpty, object, optional, type Parsed } from '#schema/index.ts'

/** `frontend.http` (specification 2, 2.1). */
export const frontendHttp = notEmpty(
  object({
    maxBufferSize: optional(
      byteSize(),
      'Largest body held in memory; only bodies that a policy needs are held. 2Mi when unset.',
    ),
    http1MaxHeaders: optional(
      integer({ min: 1, max: 4096 }),
      'Most header fields in an HTTP/1.1 request; 100 when unset.',
    ),
    http1IdleTimeout: optional(
      duration({ min: '1s' }),
      'How long an unused HTTP/1.1 connection stays open; 10m when unset.',
    ),
    http2WindowSize: optional(byteSize(), 'Initial flow-control window of a stream, for data received.'),
    http2ConnectionWindowSize: optional(byteSize(), 'Initial flow-control window of a connection, for data received.'),
    http2FrameSize: optional(byteSize({ min: 16_384, max: 16_777_215 }), 'Largest frame; 16Ki when unset.'),
    http2MaxHeaderSize: optional(byteSize(), 'Largest decoded header block of a request; 16Ki when unset.'),
    http2KeepaliveInterval: optional(duration({ min: '1s' }), 'Time between pings; no pings when unset.'),
    http2KeepaliveTimeout: optional(
      duration({ min: '1s' }),
      'How long a ping may stay unanswered before the connection is closed; needs http2KeepaliveInterval.',
    ),
    maxConnectionDuration: optional(
      duration({ min: '1s' }),
      'Age at which a connection is closed, once the request in flight is complete.',
    ),
  }),
)

export type FrontendHttpSpec = Parsed<typeof frontendHttp>
