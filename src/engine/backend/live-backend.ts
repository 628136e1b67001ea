import type { Exchange, PlanNames } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { BackendItem } from '#plan/item.ts'
import type { EndpointName, ProtocolRun } from '#protocols/backend-protocol.ts'
import type { EndpointHealth } from '#state/endpoint-health.ts'
import type { Chain } from '../request/chain.ts'
import type { Reader } from '../request/readers.ts'
import type { Destinations } from './destinations.ts'

/** A backend as one route rule reaches it, with everything that policies say about the way there. */
export interface LiveBackend {
  readonly item: BackendItem
  readonly names: PlanNames
  /** Set when it cannot be used; every request is refused with it. */
  readonly refusal: Refusal | undefined
  /** Endpoints by priority; most backends have one group. */
  readonly groups: readonly (readonly LiveEndpoint[])[]
  /** What its protocol does with requests and answers. */
  readonly protocol: ProtocolRun
  /** The expressions of its policies and settings. */
  readonly readers: readonly Reader[]
}

/** One address that requests can be sent to. */
export interface LiveEndpoint extends EndpointName {
  readonly destinations: Destinations
  /** The connection is configured in a way that cannot be honoured: nothing is sent. */
  readonly refusal: Refusal | undefined
  /** What an automatic host rewrite writes; undefined for addresses and sockets (decision A-91). */
  readonly hostname: string | undefined
  /** `Auto` unless a policy says otherwise. */
  readonly rewritesHost: boolean
  readonly chain: Chain
  readonly health: EndpointHealth
  /** Judges a response. One that never came is unhealthy whatever this says (decision A-99). */
  readonly isUnhealthy: (exchange: Exchange, status: number) => boolean
  /** From sending to the response head, as a policy says; 0: none says. */
  readonly requestTimeoutMs: number
  /** What holds then for most requests; 0: no limit. */
  readonly defaultTimeoutMs: number
}
