import {
  type ConfigProblem,
  described,
  duration,
  enumOf,
  fieldPath,
  list,
  notEmpty,
  object,
  optional,
  type Parsed,
  problem,
  withRule,
} from '#schema/index.ts'
import { alpnProtocols, keyExchangeGroups } from '../../shared/connection/tls-lists.ts'

const tlsVersion = () => enumOf('1.2', '1.3')

const SUITES_1_3 = ['TLS13_AES_256_GCM_SHA384', 'TLS13_AES_128_GCM_SHA256', 'TLS13_CHACHA20_POLY1305_SHA256'] as const
const SUITES_1_2 = [
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
] as const

const cipherSuite = enumOf(...SUITES_1_3, ...SUITES_1_2)

interface Versions {
  readonly minProtocolVersion?: '1.2' | '1.3'
  readonly maxProtocolVersion?: '1.2' | '1.3'
}

function checkVersionOrder(spec: Versions, path: string): readonly ConfigProblem[] {
  if (spec.minProtocolVersion !== '1.3' || spec.maxProtocolVersion !== '1.2') return []
  const message = 'minProtocolVersion must not be greater than maxProtocolVersion'
  return [problem(fieldPath(path, 'minProtocolVersion'), 'inconsistent', message)]
}

/** Refuses a list whose suites all belong to excluded versions: no handshake could succeed. */
function checkSuitesUsable(
  spec: Versions & { readonly cipherSuites?: readonly string[] },
  path: string,
): readonly ConfigProblem[] {
  const suites = spec.cipherSuites ?? []
  if (suites.length === 0) return []
  const for13 = suites.filter((suite) => suite.startsWith('TLS13_')).length
  const excluded =
    (spec.minProtocolVersion === '1.3' && for13 === 0) || (spec.maxProtocolVersion === '1.2' && for13 === suites.length)
  if (!excluded) return []
  const version = for13 === 0 ? '1.2' : '1.3'
  const message = `all listed suites are for TLS ${version}, which minProtocolVersion or maxProtocolVersion excludes; add a suite of an allowed version`
  return [problem(fieldPath(path, 'cipherSuites'), 'inconsistent', message)]
}

const MIN_IS_1_3 = "has(self.minProtocolVersion) && self.minProtocolVersion == '1.3'"
const MAX_IS_1_2 = "has(self.maxProtocolVersion) && self.maxProtocolVersion == '1.2'"

/** Whether the list has one of these suites, for API servers. */
function hasOneOf(suites: readonly string[]): string {
  return `[${suites.map((suite) => `'${suite}'`).join(', ')}].exists(suite, suite in self.cipherSuites)`
}

const fields = notEmpty(
  object({
    handshakeTimeout: optional(duration({ min: '100ms' }), 'Timeout for the TLS handshake. When unset, 15s.'),
    alpnProtocols: optional(
      alpnProtocols(),
      'ALPN protocols to accept, in order of preference. When unset, h2 and http/1.1.',
    ),
    minProtocolVersion: optional(tlsVersion(), 'Lowest accepted TLS version.'),
    maxProtocolVersion: optional(tlsVersion(), 'Highest accepted TLS version.'),
    cipherSuites: optional(list(cipherSuite), 'Cipher suites, in order of preference.'),
    keyExchangeGroups: optional(keyExchangeGroups(), 'Key exchange groups, in order of preference.'),
  }),
)

/** `frontend.tls` (specification 2, 2.1). */
export const frontendTls = described(
  'TLS settings for client connections.',
  withRule(
    withRule(fields, {
      reads: ['minProtocolVersion', 'maxProtocolVersion'],
      description: 'minProtocolVersion must not be greater than maxProtocolVersion.',
      check: checkVersionOrder,
      onServer: `!(${MIN_IS_1_3} && ${MAX_IS_1_2})`,
    }),
    {
      reads: ['minProtocolVersion', 'maxProtocolVersion', 'cipherSuites'],
      description: 'cipherSuites must contain a suite for an allowed TLS version.',
      check: checkSuitesUsable,
      onServer:
        '!has(self.cipherSuites) || self.cipherSuites.size() == 0 || ' +
        `(!(${MIN_IS_1_3}) || ${hasOneOf(SUITES_1_3)}) && (!(${MAX_IS_1_2}) || ${hasOneOf(SUITES_1_2)})`,
    },
  ),
)

export type CipherSuite = Parsed<typeof cipherSuite>

export type FrontendTlsSpec = Parsed<typeof frontendTls>
