import { described, notEmpty, object, optional, type Parsed } from '#schema/index.ts'
import { keepalive } from '../../shared/keepalive.ts'

/** `frontend.tcp` (specification 2, 2.1). */
export const frontendTcp = described(
  'Incoming TCP connections.',
  notEmpty(
    object({
      keepalive: optional(keepalive, 'TCP keepalive on incoming connections; off when unset.'),
    }),
  ),
)

export type FrontendTcpSpec = Parsed<typeof frontendTcp>
