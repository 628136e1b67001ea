import { described, enumOf, object, type Parsed, required } from '#schema/index.ts'

/** `traffic.hostRewrite` (specification 2, 2.2.4). */
export const trafficHostRewrite = described(
  'Host header of requests to the backend.',
  object({
    mode: required(
      enumOf('Auto', 'None'),
      "Auto: set the Host header to the destination. None: keep the client's Host header. " +
        'When unset, Auto for destinations with a host name and None for Services and IP addresses.',
    ),
  }),
)

export type HostRewriteSpec = Parsed<typeof trafficHostRewrite>
