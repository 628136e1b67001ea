import { described } from '#schema/index.ts'
import { extAuth } from '../../shared/ext-auth/ext-auth.ts'

export type { ExtAuthSpec } from '../../shared/ext-auth/ext-auth.ts'

/** `backend.extAuth` (specification 2, 2.3): never conditional. */
export const backendExtAuth = described('External authorization.', extAuth)
