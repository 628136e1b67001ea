/** `traffic.authorization` (specification 2, 2.2.2). */
export { type AuthorizationSpec, authorization } from '../../shared/authorization.ts'
