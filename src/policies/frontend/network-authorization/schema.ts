import { described } from '#schema/index.ts'
import { authorization } from '../../shared/authorization/authorization.ts'

/** `frontend.networkAuthorization` (specification 2, 2.1): authorization rules for connections. */
export const frontendNetworkAuthorization = described(
  'CEL authorization rules for client connections, for example on source.address. They run before any protocol is handled.',
  authorization,
)

export type { AuthorizationSpec as NetworkAuthorizationSpec } from '../../shared/authorization/authorization.ts'
