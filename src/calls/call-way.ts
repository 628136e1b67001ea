import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import type { Call, EndedCall } from '#exchange/call.ts'
import type { ClientSpan } from '#exchange/request-span.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { FailureCode } from '#net/failure.ts'
import type { ClientPool } from '#net/stream.ts'
import type { TimerWheel } from '#net/timer-wheel.ts'
import type { CallRoom } from './call-room.ts'
import type { Caller } from './caller.ts'

/** Everything that one call needs. */
export interface CallWay {
  readonly endpoint: LiveEndpoint
  readonly caller: Caller
  /** Memory for parts of bodies. */
  readonly claim: BodyClaim
  readonly pool: ClientPool
  readonly wheel: TimerWheel
  readonly room: CallRoom
  /** Purpose and destination; calls with the same key share the bound. */
  readonly roomKey: string
  /** Maximum number of concurrent calls with that key. */
  readonly atOnce: number
  readonly random: () => number
  /** For steps of the destination's own policies. */
  readonly call: Call
  readonly failed: (failure: FailureCode) => void
  readonly ended: (end: CallEnd) => void
  /** Set if the request that caused the call is traced. */
  readonly span: ClientSpan | undefined
}

/** How a call ended. */
export type CallEnd = Partial<Pick<EndedCall, 'status' | 'grpcStatus' | 'failure'>>
