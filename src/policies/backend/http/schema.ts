import { described, duration, enumOf, object, optional, type Parsed } from '#schema/index.ts'

/** `backend.http` (specification 2, 2.3). */
export const backendHttp = described(
  'HTTP.',
  object({
    version: optional(
      enumOf('HTTP1', 'HTTP2'),
      'HTTP version towards the backend. Unset: the appProtocol of the Service port decides; else HTTP2 for gRPC, ' +
        'the version of the client for plaintext traffic, HTTP1 for HTTPS traffic.',
    ),
    requestTimeout: optional(duration({ min: '1ms' }), 'Deadline for receiving a response.'),
  }),
)

export type BackendHttpSpec = Parsed<typeof backendHttp>
