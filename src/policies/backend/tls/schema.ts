import {
  atMostOne,
  type ConfigProblem,
  configMapReference,
  described,
  enumOf,
  fieldPath,
  list,
  object,
  optional,
  type Parsed,
  problem,
  secretReference,
  shortString,
  sni,
  withRule,
} from '#schema/index.ts'
import { alpnProtocols, keyExchangeGroups } from '../../shared/connection/tls-lists.ts'

interface Verification {
  readonly insecureSkipVerify?: 'All' | 'Hostname'
  readonly caCertificateRefs?: unknown
}

function checkTrustHasMeaning(spec: Verification, path: string): readonly ConfigProblem[] {
  if (spec.insecureSkipVerify !== 'All' || spec.caCertificateRefs === undefined) return []
  const message = 'caCertificateRefs cannot be set with insecureSkipVerify All, which disables verification'
  return [problem(fieldPath(path, 'caCertificateRefs'), 'not-together', message)]
}

/** `backend.tls` (specification 2, 2.3): TLS towards the backend. */
export const backendTls = described(
  'TLS for connections to the backend. Setting this field, even empty, enables TLS.',
  withRule(
    atMostOne(
      ['verifySubjectAltNames', 'insecureSkipVerify'],
      object({
        mtlsCertificateRef: optional(
          list(secretReference(['tls.crt'], ['tls.key']), { max: 1 }),
          'A Secret with the client certificate in "tls.crt" and "tls.key". If it has an entry "ca.cert", that CA verifies the server.',
        ),
        caCertificateRefs: optional(
          list(configMapReference(['ca.crt']), { max: 1 }),
          'A ConfigMap with CA certificates that verify the server. When unset, the CA certificates of the system.',
        ),
        insecureSkipVerify: optional(
          enumOf('All', 'Hostname'),
          'Insecure. All: do not verify the server certificate. Hostname: verify its CA but not its names.',
        ),
        sni: optional(sni(), 'Server name (SNI) to send. When unset, the host name of the destination.'),
        verifySubjectAltNames: optional(
          list(shortString(), { min: 1, max: 16 }),
          'Accepted names. The certificate must contain at least one of them. When unset, the host name of the destination.',
        ),
        alpnProtocols: optional(
          alpnProtocols(),
          'ALPN protocols to offer, in order of preference. When unset, h2 and http/1.1.',
        ),
        keyExchangeGroups: optional(keyExchangeGroups(), 'Key exchange groups, in order of preference.'),
      }),
    ),
    {
      reads: ['insecureSkipVerify'],
      description: 'caCertificateRefs cannot be set with insecureSkipVerify All.',
      check: checkTrustHasMeaning,
      onServer: "!has(self.caCertificateRefs) || !has(self.insecureSkipVerify) || self.insecureSkipVerify != 'All'",
    },
  ),
)

export type BackendTlsSpec = Parsed<typeof backendTls>
