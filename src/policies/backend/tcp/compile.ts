import { parseDuration } from '#base/duration.ts'
import type { PolicySource } from '../../policy.ts'
import { compileKeepalive, type KeepaliveSetting } from '../../shared/connection/compile-keepalive.ts'
import type { BackendTcpSpec } from './schema.ts'

export interface BackendTcpSetting {
  /** Includes TCP, tunnel and TLS handshake (decision A-107). */
  readonly connectTimeoutMs: number
  readonly keepalive: KeepaliveSetting
}

const CONNECT_TIMEOUT_MS = 10_000

/** TCP keepalive towards backends is enabled by default (decision A-41). */
const KEEPALIVE: KeepaliveSetting = { retries: 9, timeMs: 180_000, intervalMs: 180_000 }

export function compileBackendTcp(sources: readonly PolicySource<BackendTcpSpec>[]): BackendTcpSetting {
  const { connectTimeout, keepalive } = sources[0]?.spec ?? {}
  return {
    connectTimeoutMs: (connectTimeout === undefined ? undefined : parseDuration(connectTimeout)) ?? CONNECT_TIMEOUT_MS,
    keepalive: keepalive === undefined ? KEEPALIVE : compileKeepalive(keepalive),
  }
}
