import { authorization } from '../../shared/authorization.ts'

/** `frontend.networkAuthorization` (specification 2, 2.1): the same rules, asked about connections. */
export const networkAuthorization = authorization

export type { AuthorizationSpec as NetworkAuthorizationSpec } from '../../shared/authorization.ts'
