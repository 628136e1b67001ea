import { parseDuration } from '#base/duration.ts'
import type { TlsParameters } from '#net/tls-parameters.ts'
import type { PolicySource } from '../../policy.ts'
import { compileGroups } from '../../shared/connection/compile-groups.ts'
import type { CipherSuite, FrontendTlsSpec } from './schema.ts'

/** Settings for TLS from clients (specification 2, 2.1). */
export interface FrontendTlsSetting {
  /** From accept to the end of the handshake. */
  readonly handshakeTimeoutMs: number
  /** ALPN offer of HTTPS listeners. */
  readonly alpnProtocols: readonly string[]
  /** ALPN offer of listeners that relay decrypted bytes: only configured protocols, because the protocol of the backend is unknown. */
  readonly relayedAlpnProtocols: readonly string[]
  readonly parameters: TlsParameters
}

const HANDSHAKE_TIMEOUT_MS = 15_000
const ALPN: readonly string[] = ['h2', 'http/1.1']

/** The secure cipher suites, in default order of preference. */
const OPENSSL_NAMES: Readonly<Record<CipherSuite, string>> = {
  TLS13_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS13_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS13_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
}

export function compileFrontendTls(sources: readonly PolicySource<FrontendTlsSpec>[]): FrontendTlsSetting {
  const spec = sources[0]?.spec ?? {}
  return {
    handshakeTimeoutMs: parseDuration(spec.handshakeTimeout ?? '') ?? HANDSHAKE_TIMEOUT_MS,
    alpnProtocols: spec.alpnProtocols ?? ALPN,
    relayedAlpnProtocols: spec.alpnProtocols ?? [],
    parameters: compileParameters(spec),
  }
}

function compileParameters(spec: FrontendTlsSpec): TlsParameters {
  const written = spec.cipherSuites ?? []
  const suites = (written.length > 0 ? written : Object.keys(OPENSSL_NAMES)) as CipherSuite[]
  const newer = suites.filter((suite) => suite.startsWith('TLS13_'))
  return {
    // A version without a configured suite is disabled; otherwise OpenSSL would use its default suites.
    minVersion: spec.minProtocolVersion === '1.3' || newer.length === suites.length ? 'TLSv1.3' : 'TLSv1.2',
    maxVersion: spec.maxProtocolVersion === '1.2' || newer.length === 0 ? 'TLSv1.2' : 'TLSv1.3',
    ciphers: suites.map((suite) => OPENSSL_NAMES[suite]).join(':'),
    groups: compileGroups(spec.keyExchangeGroups),
  }
}
