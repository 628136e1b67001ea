import { defaulted, duration, integer, object, type Parsed } from '#schema/index.ts'

/** TCP keepalive (specification 2, 2.1), the same on both sides of the proxy. */
export const keepalive = object({
  retries: defaulted(
    integer({ min: 1, max: 64 }),
    9,
    'Number of unacknowledged probes after which the connection is closed.',
  ),
  time: defaulted(duration({ min: '1s' }), '180s', 'Idle time before the first probe.'),
  interval: defaulted(duration({ min: '1s' }), '180s', 'Interval between probes.'),
})

export type KeepaliveSpec = Parsed<typeof keepalive>
