import { described, duration, object, optional, type Parsed } from '#schema/index.ts'

/** `traffic.timeouts` (specification 2, 2.2). */
export const trafficTimeouts = described(
  'Timeouts.',
  object({
    request: optional(
      duration({ min: '100ms' }),
      'Timeout from the start of sending to the backend until the response is complete. Only for HTTPRoute.',
    ),
  }),
)

export type TimeoutsSpec = Parsed<typeof trafficTimeouts>
