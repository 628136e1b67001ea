import { defaulted, described, enumOf, object, type Parsed } from '#schema/index.ts'

/** `frontend.proxyProtocol` (specification 2, 2.1). */
export const frontendProxyProtocol = described(
  'PROXY protocol on incoming connections.',
  object({
    version: defaulted(enumOf('V1', 'V2', 'All'), 'V2', 'Which version of the PROXY header is accepted.'),
    mode: defaulted(
      enumOf('Strict', 'Optional'),
      'Strict',
      'Strict: a connection must begin with a valid PROXY header. Optional: plain traffic is accepted too.',
    ),
  }),
)

export type ProxyProtocolSpec = Parsed<typeof frontendProxyProtocol>
