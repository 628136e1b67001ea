import { described, enumOf, object, type Parsed, required } from '#schema/index.ts'

/** `traffic.hostRewrite` (specification 2, 2.2.4). */
export const trafficHostRewrite = described(
  'The Host header towards the backend.',
  object({
    mode: required(
      enumOf('Auto', 'None'),
      'Auto: the Host header names the destination. None: the Host header stays as the client sent it. ' +
        'Without this setting: Auto for destinations named by a hostname, None for Services and IP addresses.',
    ),
  }),
)

export type HostRewriteSpec = Parsed<typeof trafficHostRewrite>
