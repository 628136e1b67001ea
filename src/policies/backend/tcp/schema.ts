import { described, duration, object, optional, type Parsed } from '#schema/index.ts'
import { keepalive } from '../../shared/keepalive.ts'

/** `backend.tcp` (specification 2, 2.3). */
export const backendTcp = described(
  'TCP connections.',
  object({
    keepalive: optional(keepalive, 'TCP keepalive on connections to the backend.'),
    connectTimeout: optional(duration({ min: '100ms' }), 'Deadline to establish a connection; 10s when unset.'),
  }),
)

export type BackendTcpSpec = Parsed<typeof backendTcp>
