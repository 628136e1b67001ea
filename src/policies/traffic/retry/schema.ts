import { described, duration, integer, list, object, optional, type Parsed } from '#schema/index.ts'

/** `traffic.retry`: the fields of the platform's HTTPRouteRetry (decision A-93). */
export const trafficRetry = described(
  'Sending a request again.',
  object({
    codes: optional(
      list(integer({ min: 400, max: 599 })),
      'Statuses after which a request is sent again; connection failures always count.',
    ),
    attempts: optional(integer({ min: 0, max: 255 }), 'How often a request is sent again at most; once when unset.'),
    backoff: optional(duration(), 'Least time between two attempts.'),
  }),
)

export type RetrySpec = Parsed<typeof trafficRetry>
