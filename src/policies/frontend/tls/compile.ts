import { parseDuration } from '#base/duration.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { FrontendTlsSpec } from './schema.ts'

/** How incoming TLS is spoken (specification 2, 2.1). */
export interface FrontendTlsSetting {
  readonly handshakeTimeoutMs: number
  readonly alpnProtocols: readonly string[]
  readonly minVersion: FrontendTlsSpec['minProtocolVersion']
  readonly maxVersion: FrontendTlsSpec['maxProtocolVersion']
  readonly cipherSuites: FrontendTlsSpec['cipherSuites']
  readonly keyExchangeGroups: FrontendTlsSpec['keyExchangeGroups']
  /** A restriction that this version cannot enforce: TLS connections are closed rather than served with a weaker one. */
  readonly closesConnections: boolean
}

const HANDSHAKE_TIMEOUT_MS = 15_000
const ALPN: readonly string[] = ['h2', 'http/1.1']

const RESTRICTIONS = ['minProtocolVersion', 'maxProtocolVersion', 'cipherSuites', 'keyExchangeGroups'] as const
const OTHERS = ['handshakeTimeout', 'alpnProtocols'] as const

export function compileFrontendTls(
  sources: readonly PolicySource<FrontendTlsSpec>[],
  context: CompileContext,
): FrontendTlsSetting {
  const source = sources[0]
  const spec = source?.spec ?? {}
  const restrictions = RESTRICTIONS.filter((field) => spec[field] !== undefined)
  if (source !== undefined) {
    for (const field of restrictions) reportNotImplemented(context, source, `.${field}`, 'TLS connections are closed')
    for (const field of OTHERS) {
      if (spec[field] !== undefined) reportNotImplemented(context, source, `.${field}`, 'the setting has no effect')
    }
  }
  return {
    handshakeTimeoutMs: parseDuration(spec.handshakeTimeout ?? '') ?? HANDSHAKE_TIMEOUT_MS,
    alpnProtocols: spec.alpnProtocols ?? ALPN,
    minVersion: spec.minProtocolVersion,
    maxVersion: spec.maxProtocolVersion,
    cipherSuites: spec.cipherSuites,
    keyExchangeGroups: spec.keyExchangeGroups,
    closesConnections: restrictions.length > 0,
  }
}
