import { described, duration, enumOf, object, optional, type Parsed } from '#schema/index.ts'

/** `backend.http` (specification 2, 2.3). */
export const backendHttp = described(
  'HTTP settings for requests to the backend.',
  object({
    version: optional(
      enumOf('HTTP1', 'HTTP2'),
      'HTTP version for the backend. When unset, the appProtocol of the Service port decides; otherwise HTTP2 for gRPC, ' +
        "the client's version for plaintext traffic, and HTTP1 for HTTPS traffic.",
    ),
    requestTimeout: optional(duration({ min: '1ms' }), 'Timeout for the response.'),
  }),
)

export type BackendHttpSpec = Parsed<typeof backendHttp>
