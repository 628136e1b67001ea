import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { BackendTunnelSpec } from './schema.ts'

export interface BackendTunnelSetting {
  /** Refuses all requests: a backend behind a proxy server is never connected to directly. */
  readonly refusal: Refusal
}

const REFUSAL = reject('upstream-failed', { detail: 'backend.tunnel is not implemented yet' })

/** @returns undefined without the policy: direct connections */
export function compileBackendTunnel(
  sources: readonly PolicySource<BackendTunnelSpec>[],
  context: CompileContext,
): BackendTunnelSetting | undefined {
  const source = sources[0]
  if (source === undefined) return undefined
  reportNotImplemented(context, source, '', 'requests to the backend are refused')
  return { refusal: REFUSAL }
}
