import { described } from '#schema/index.ts'
import { authorization as rules } from '../../shared/authorization/authorization.ts'

export type { AuthorizationSpec } from '../../shared/authorization/authorization.ts'

/** `traffic.authorization` (specification 2, 2.2.2). */
export const trafficAuthorization = described(
  'CEL authorization rules for requests. The rules of all policies that apply are combined.',
  rules,
)
