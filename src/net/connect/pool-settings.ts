import type { BodyMemory } from '../body/body-memory.ts'
import type { MeshMember } from '../hbone/mesh-member.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import type { PlainTransports } from '../transport/plain-transports.ts'
import type { ForwardRules } from './forward-rules.ts'
import type { Lookup } from './names.ts'

/** How a connection reaches its server. `tunnel`: through a proxy server. `hbone`: through a tunnel of a service mesh. */
export type ConnectTransport = 'plaintext' | 'tls' | 'tunnel' | 'tunnel-tls' | 'hbone' | 'hbone-tls'

/** Settings of a pool of upstream connections. */
export interface PoolSettings {
  /** How long an idle connection is kept. */
  readonly idleTimeoutMs: number
  /** Maximum number of idle HTTP/1 connections per destination. */
  readonly maxIdle: number
  readonly wheel: TimerWheel
  /** Resolves names. */
  readonly lookup: Lookup
  /** This gateway in its service mesh. */
  readonly mesh: MeshMember
  /** Which addresses destinations that clients choose may have. */
  readonly forwardRules: ForwardRules
  /** Transport of connections without TLS. */
  readonly transports: PlainTransports
  /** Memory for bodies that are kept for a retry. */
  readonly bodyMemory: BodyMemory
  /** A connection was opened. @param durationMs with name resolution, proxy server and TLS handshake */
  connected(transport: ConnectTransport, durationMs: number): void
  /** A connection failed with `resources-exhausted`. @param cause of the system */
  exhausted(cause: string | undefined): void
}
