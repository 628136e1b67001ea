import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Destination } from '#net/stream.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { EvictionSettings } from '#state/endpoint-health.ts'
import type { Address } from './find-addresses.ts'
import type { MergedField } from './merge.ts'

/** How one address is connected to and judged: the settings of `backend` that are no steps. */
export interface Connection {
  readonly destination: Destination
  /** A setting that this version cannot honour: nothing is sent. */
  readonly refusal: Refusal | undefined
  readonly requestTimeoutMs: number
  readonly eviction: EvictionSettings | undefined
  readonly isUnhealthy: (exchange: Exchange, status: number | undefined) => boolean
}
