import { parseDuration } from '#base/duration.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { compileKeepalive, type KeepaliveSetting } from '../../shared/compile-keepalive.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { BackendTcpSpec } from './schema.ts'

export interface BackendTcpSetting {
  /** TCP, tunnel and TLS together (decision A-107). */
  readonly connectTimeoutMs: number
  readonly keepalive: KeepaliveSetting
}

const CONNECT_TIMEOUT_MS = 10_000

/** Towards backends keepalive is on with its defaults (decision A-41). */
const KEEPALIVE: KeepaliveSetting = { retries: 9, timeMs: 180_000, intervalMs: 180_000 }

export function compileBackendTcp(
  sources: readonly PolicySource<BackendTcpSpec>[],
  context: CompileContext,
): BackendTcpSetting {
  const source = sources[0]
  const { connectTimeout, keepalive } = source?.spec ?? {}
  if (source !== undefined && keepalive !== undefined) {
    reportNotImplemented(context, source, '.keepalive', 'connections to backends keep the settings of the system')
  }
  return {
    connectTimeoutMs: (connectTimeout === undefined ? undefined : parseDuration(connectTimeout)) ?? CONNECT_TIMEOUT_MS,
    keepalive: keepalive === undefined ? KEEPALIVE : compileKeepalive(keepalive),
  }
}
