import type { CompileContext, PolicySource } from '../../policy.ts'
import type { BackendTunnelSpec } from './schema.ts'

export interface BackendTunnelSetting {
  /** Key of the backend that is the proxy server; undefined: the reference is not permitted, and nothing is sent. */
  readonly proxy: string | undefined
  readonly source: PolicySource<BackendTunnelSpec>
}

/** @returns undefined without the policy: direct connections */
export function compileBackendTunnel(
  [source]: readonly PolicySource<BackendTunnelSpec>[],
  context: CompileContext,
): BackendTunnelSetting | undefined {
  return source && { proxy: context.calledBackend(source, source.spec.backendRef), source }
}
