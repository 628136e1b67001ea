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
import { alpnProtocols, keyExchangeGroups } from '../../shared/tls-lists.ts'

interface Verification {
  readonly insecureSkipVerify?: 'All' | 'Hostname'
  readonly caCertificateRefs?: unknown
}

function checkTrustHasMeaning(spec: Verification, path: string): readonly ConfigProblem[] {
  if (spec.insecureSkipVerify !== 'All' || spec.caCertificateRefs === undefined) return []
  const message = 'insecureSkipVerify: All and caCertificateRefs may not be set together'
  return [problem(fieldPath(path, 'caCertificateRefs'), 'not-together', message)]
}

/** `backend.tls` (specification 2, 2.3): TLS towards the backend. */
export const backendTls = described(
  'TLS; when set, connections use it.',
  withRule(
    atMostOne(
      ['verifySubjectAltNames', 'insecureSkipVerify'],
      object({
        mtlsCertificateRef: optional(
          list(secretReference(['tls.crt'], ['tls.key']), { max: 1 }),
          'A Secret with "tls.crt" and "tls.key", the client certificate; its "ca.cert", if any, verifies the server.',
        ),
        caCertificateRefs: optional(
          list(configMapReference(['ca.crt']), { max: 1 }),
          'A ConfigMap of CA certificates that verify the server; the certificates of the system when unset.',
        ),
        insecureSkipVerify: optional(
          enumOf('All', 'Hostname'),
          'Insecure. All: the certificate of the server is not verified. Hostname: its CA is verified, its names are not.',
        ),
        sni: optional(sni(), 'Server name sent; the hostname of the destination when unset.'),
        verifySubjectAltNames: optional(
          list(shortString(), { min: 1, max: 16 }),
          'Names of which the certificate must carry one; the hostname of the destination when unset.',
        ),
        alpnProtocols: optional(alpnProtocols(), 'Protocols offered, in order; h2 and http/1.1 when unset.'),
        keyExchangeGroups: optional(keyExchangeGroups(), 'Key exchange groups, in order of preference.'),
      }),
    ),
    {
      reads: ['insecureSkipVerify'],
      description: 'insecureSkipVerify: All leaves no use for caCertificateRefs.',
      check: checkTrustHasMeaning,
    },
  ),
)

export type BackendTlsSpec = Parsed<typeof backendTls>
