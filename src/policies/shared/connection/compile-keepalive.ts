import { parseDuration } from '#base/duration.ts'
import type { KeepaliveSpec } from './keepalive.ts'

/** TCP keepalive (specification 2, 2.1). */
export interface KeepaliveSetting {
  readonly retries: number
  readonly timeMs: number
  readonly intervalMs: number
}

const DEFAULT_MS = 180_000

export function compileKeepalive(spec: KeepaliveSpec): KeepaliveSetting {
  return {
    retries: spec.retries,
    timeMs: parseDuration(spec.time) ?? DEFAULT_MS,
    intervalMs: parseDuration(spec.interval) ?? DEFAULT_MS,
  }
}
