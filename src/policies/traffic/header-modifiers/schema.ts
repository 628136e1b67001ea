import { described, notEmpty, object, optional, type Parsed } from '#schema/index.ts'
import { httpHeaderFilter } from '../../shared/fields/header-filter.ts'

/** `traffic.headerModifiers` (specification 2, 2.2). */
export const trafficHeaderModifiers = described(
  'Static changes to headers.',
  notEmpty(
    object({
      request: optional(httpHeaderFilter, 'Changes to request headers.'),
      response: optional(httpHeaderFilter, 'Changes to response headers.'),
    }),
  ),
)

export type HeaderModifiersSpec = Parsed<typeof trafficHeaderModifiers>
