import { byteSize, described, duration, integer, object, optional, type Parsed } from '#schema/index.ts'

/** Range of a flow-control window (RFC 9113, 6.9.1). */
const WINDOW = { min: 1, max: 2_147_483_647 }

/** `frontend.http` (specification 2, 2.1). */
export const frontendHttp = described(
  'HTTP settings for client connections.',
  object({
    maxBufferSize: optional(
      byteSize(),
      'Maximum size of a buffered body. A body is buffered only when a policy needs it. When unset, 2Mi.',
    ),
    http1MaxHeaders: optional(
      integer({ min: 1, max: 4096 }),
      'Maximum number of header fields in a request, for HTTP/2 as well. When unset, 100.',
    ),
    http1IdleTimeout: optional(
      duration({ min: '1s' }),
      'How long an idle connection stays open, for HTTP/2 as well. When unset, 10m.',
    ),
    http2WindowSize: optional(
      byteSize(WINDOW),
      'Initial flow-control window of a stream, for received data. When unset, 65535.',
    ),
    http2ConnectionWindowSize: optional(
      byteSize(WINDOW),
      'Initial flow-control window of a connection, for received data. When unset, 1Mi.',
    ),
    http2FrameSize: optional(byteSize({ min: 16_384, max: 16_777_215 }), 'Maximum frame size. When unset, 16Ki.'),
    http2MaxHeaderSize: optional(
      byteSize({ max: 16_777_216 }),
      'Maximum size of the decoded headers of a request. When unset, 16Ki.',
    ),
    http2KeepaliveInterval: optional(
      duration({ min: '1s' }),
      'Interval between PING frames. When unset, none are sent.',
    ),
    http2KeepaliveTimeout: optional(
      duration({ min: '1s' }),
      'Timeout for the reply to a PING frame. The connection is closed when it expires. Requires http2KeepaliveInterval. When unset, 20s.',
    ),
    maxConnectionDuration: optional(
      duration({ min: '1s' }),
      'Maximum age of a connection. An older connection is closed when its requests in flight are complete.',
    ),
  }),
)

export type FrontendHttpSpec = Parsed<typeof frontendHttp>
