import { described } from '#schema/index.ts'
import { authorization } from '../../shared/authorization.ts'

/** `frontend.networkAuthorization` (specification 2, 2.1): the same rules, asked about connections. */
export const frontendNetworkAuthorization = described(
  'Rules on incoming connections, asked before any protocol is handled, for example on source.address.',
  authorization,
)

export type { AuthorizationSpec as NetworkAuthorizationSpec } from '../../shared/authorization.ts'
