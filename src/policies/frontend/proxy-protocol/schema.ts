import { defaulted, described, enumOf, object, type Parsed } from '#schema/index.ts'

/** `frontend.proxyProtocol` (specification 2, 2.1). */
export const frontendProxyProtocol = described(
  'PROXY protocol for client connections.',
  object({
    version: defaulted(enumOf('V1', 'V2', 'All'), 'V2', 'Accepted version of the PROXY header.'),
    mode: defaulted(
      enumOf('Strict', 'Optional'),
      'Strict',
      'Strict: every connection must begin with a valid PROXY header. Optional: connections without a header are accepted too.',
    ),
  }),
)

export type ProxyProtocolSpec = Parsed<typeof frontendProxyProtocol>
