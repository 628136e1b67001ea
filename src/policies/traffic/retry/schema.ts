import { described, duration, integer, list, object, optional, type Parsed } from '#schema/index.ts'

/** `traffic.retry`: the fields of the platform's HTTPRouteRetry (decision A-93). */
export const trafficRetry = described(
  'Retries.',
  object({
    codes: optional(
      list(integer({ min: 400, max: 599 })),
      'Response status codes to retry. Connection failures are always retried.',
    ),
    attempts: optional(integer({ min: 0, max: 255 }), 'Maximum number of retries. When unset, 1.'),
    backoff: optional(duration(), 'Minimum time between two attempts.'),
  }),
)

export type RetrySpec = Parsed<typeof trafficRetry>
