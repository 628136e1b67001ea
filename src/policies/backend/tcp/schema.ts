import { described, duration, object, optional, type Parsed } from '#schema/index.ts'
import { keepalive } from '../../shared/connection/keepalive.ts'

/** `backend.tcp` (specification 2, 2.3). */
export const backendTcp = described(
  'TCP settings for connections to the backend.',
  object({
    keepalive: optional(keepalive, 'TCP keepalive for connections to the backend.'),
    connectTimeout: optional(duration({ min: '100ms' }), 'Timeout for establishing a connection. When unset, 10s.'),
  }),
)

export type BackendTcpSpec = Parsed<typeof backendTcp>
