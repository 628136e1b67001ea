import type { PolicySource } from '../../policy.ts'
import { compileKeepalive, type KeepaliveSetting } from '../../shared/connection/compile-keepalive.ts'
import type { FrontendTcpSpec } from './schema.ts'

export interface FrontendTcpSetting {
  /** Undefined: off (decision A-41). */
  readonly keepalive: KeepaliveSetting | undefined
}

export function compileFrontendTcp(sources: readonly PolicySource<FrontendTcpSpec>[]): FrontendTcpSetting {
  const keepalive = sources[0]?.spec.keepalive
  return { keepalive: keepalive === undefined ? undefined : compileKeepalive(keepalive) }
}
