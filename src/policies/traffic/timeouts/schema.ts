import { described, duration, object, optional, type Parsed } from '#schema/index.ts'

/** `traffic.timeouts` (specification 2, 2.2). */
export const trafficTimeouts = described(
  'Time limits.',
  object({
    request: optional(
      duration({ min: '100ms' }),
      'Time from the start of sending to the backend until the whole answer has arrived. For HTTPRoute only.',
    ),
  }),
)

export type TimeoutsSpec = Parsed<typeof trafficTimeouts>
