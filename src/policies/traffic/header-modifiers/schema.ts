import { described, notEmpty, object, optional, type Parsed } from '#schema/index.ts'
import { httpHeaderFilter } from '../../shared/header-filter.ts'

/** `traffic.headerModifiers` (specification 2, 2.2). */
export const trafficHeaderModifiers = described(
  'Fixed changes to headers.',
  notEmpty(
    object({
      request: optional(httpHeaderFilter, 'Changes to the headers of the request.'),
      response: optional(httpHeaderFilter, 'Changes to the headers of the response.'),
    }),
  ),
)

export type HeaderModifiersSpec = Parsed<typeof trafficHeaderModifiers>
