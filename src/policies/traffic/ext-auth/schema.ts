import type { Parsed } from '#schema/index.ts'
import { described } from '#schema/index.ts'
import { orConditional } from '../../shared/conditional.ts'
import { extAuth } from '../../shared/ext-auth/ext-auth.ts'

/** `traffic.extAuth` (specification 2, 2.2.6). */
export const trafficExtAuth = described('External authorization.', orConditional(extAuth))

export type { ExtAuthSpec } from '../../shared/ext-auth/ext-auth.ts'
export type ExtAuthSection = Parsed<typeof trafficExtAuth>
