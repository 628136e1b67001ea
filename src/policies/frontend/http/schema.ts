import { byteSize, described, duration, integer, notEmpty, object, optional, type Parsed } from '#schema/index.ts'

/** What a window can be (RFC 9113, 6.9.1). */
const WINDOW = { min: 1, max: 2_147_483_647 }

/** `frontend.http` (specification 2, 2.1). */
export const frontendHttp = described(
  'Incoming HTTP.',
  notEmpty(
    object({
      maxBufferSize: optional(
        byteSize(),
        'Largest body held in memory; only bodies that a policy needs are held. 2Mi when unset.',
      ),
      http1MaxHeaders: optional(
        integer({ min: 1, max: 4096 }),
        'Most header fields in a request, of HTTP/2 too; 100 when unset.',
      ),
      http1IdleTimeout: optional(
        duration({ min: '1s' }),
        'How long an unused connection stays open, of HTTP/2 too; 10m when unset.',
      ),
      http2WindowSize: optional(
        byteSize(WINDOW),
        'Initial flow-control window of a stream, for data received; 65535 when unset.',
      ),
      http2ConnectionWindowSize: optional(
        byteSize(WINDOW),
        'Initial flow-control window of a connection, for data received; 1Mi when unset.',
      ),
      http2FrameSize: optional(byteSize({ min: 16_384, max: 16_777_215 }), 'Largest frame; 16Ki when unset.'),
      http2MaxHeaderSize: optional(
        byteSize({ max: 16_777_216 }),
        'Largest decoded header block of a request; 16Ki when unset.',
      ),
      http2KeepaliveInterval: optional(duration({ min: '1s' }), 'Time between pings; no pings when unset.'),
      http2KeepaliveTimeout: optional(
        duration({ min: '1s' }),
        'How long a ping may stay unanswered before the connection is closed; 20s when unset. Needs http2KeepaliveInterval.',
      ),
      maxConnectionDuration: optional(
        duration({ min: '1s' }),
        'Age at which a connection is closed, once the requests in flight are complete.',
      ),
    }),
  ),
)

export type FrontendHttpSpec = Parsed<typeof frontendHttp>
