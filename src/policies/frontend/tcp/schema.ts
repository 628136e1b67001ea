import { described, notEmpty, object, optional, type Parsed } from '#schema/index.ts'
import { keepalive } from '../../shared/connection/keepalive.ts'

/** `frontend.tcp` (specification 2, 2.1). */
export const frontendTcp = described(
  'TCP settings for client connections.',
  notEmpty(
    object({
      keepalive: optional(keepalive, 'TCP keepalive for client connections. When unset, keepalive is off.'),
    }),
  ),
)

export type FrontendTcpSpec = Parsed<typeof frontendTcp>
