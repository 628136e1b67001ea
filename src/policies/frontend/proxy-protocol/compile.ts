import type { PolicySource } from '../../policy.ts'
import type { ProxyProtocolSpec } from './schema.ts'

/** Which PROXY headers are read (specification 2, 2.1; decision A-47). */
export interface ProxyProtocolSetting {
  readonly version: ProxyProtocolSpec['version']
  /** A connection without a header is closed. */
  readonly required: boolean
}

/** @returns undefined without the policy: no PROXY header is expected */
export function compileProxyProtocol(
  sources: readonly PolicySource<ProxyProtocolSpec>[],
): ProxyProtocolSetting | undefined {
  const source = sources[0]
  if (source === undefined) return undefined
  const { version, mode } = source.spec
  return { version, required: mode === 'Strict' }
}
