import { parseDuration } from '#base/duration.ts'
import type { PolicySource } from '../../policy.ts'
import type { BackendHttpSpec } from './schema.ts'

export interface BackendHttpSetting {
  /** Undefined: derived from the destination and the request (decision A-106). */
  readonly version: BackendHttpSpec['version']
  /** Per attempt, from sending to the response head (decision A-107); 0: none. */
  readonly requestTimeoutMs: number
}

export function compileBackendHttp(sources: readonly PolicySource<BackendHttpSpec>[]): BackendHttpSetting {
  const { version, requestTimeout = '0s' } = sources[0]?.spec ?? {}
  return { version, requestTimeoutMs: parseDuration(requestTimeout) ?? 0 }
}
