import { parseDuration } from '#base/duration.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { BackendHttpSpec } from './schema.ts'

export interface BackendHttpSetting {
  /** Undefined: derived from the destination and the request (decision A-106). */
  readonly version: BackendHttpSpec['version']
  /** Per attempt, from sending to the response head (decision A-107); 0: none. */
  readonly requestTimeoutMs: number
  /** Set when the destination cannot be used as configured. */
  readonly refusal: Refusal | undefined
}

export function compileBackendHttp(
  sources: readonly PolicySource<BackendHttpSpec>[],
  context: CompileContext,
): BackendHttpSetting {
  const source = sources[0]
  const { version, requestTimeout = '0s' } = source?.spec ?? {}
  const requestTimeoutMs = parseDuration(requestTimeout) ?? 0
  if (source === undefined || version !== 'HTTP2') return { version, requestTimeoutMs, refusal: undefined }
  reportNotImplemented(context, source, '.version', 'HTTP2 towards backends; requests to it are refused')
  const refusal = reject('policy-invalid', { detail: 'HTTP2 towards backends is not implemented yet' })
  return { version, requestTimeoutMs, refusal }
}
