import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { ProxyProtocolSpec } from './schema.ts'

export interface ProxyProtocolSetting {
  readonly version: ProxyProtocolSpec['version']
  readonly mode: ProxyProtocolSpec['mode']
  /** `Strict` needs a header that this version cannot read: no connection can be accepted. */
  readonly closesConnections: boolean
}

/** @returns undefined without the policy: no PROXY header is expected */
export function compileProxyProtocol(
  sources: readonly PolicySource<ProxyProtocolSpec>[],
  context: CompileContext,
): ProxyProtocolSetting | undefined {
  const source = sources[0]
  if (source === undefined) return undefined
  const { version, mode } = source.spec
  const closesConnections = mode === 'Strict'
  const effect = closesConnections ? 'connections are closed' : 'only plain traffic is accepted'
  reportNotImplemented(context, source, '', effect)
  return { version, mode, closesConnections }
}
