import type { Exchange, PlanNames } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { BackendItem } from '#plan/item.ts'
import type { EndpointName, ProtocolRun } from '#protocols/backend-protocol.ts'
import type { EndpointHealth } from '#state/endpoint-health.ts'
import type { Chain } from '../merge/chain.ts'
import type { Reader } from '../merge/readers.ts'
import type { Place, RequestedPlaces } from './place.ts'

/** A backend as used by one route rule, with its merged policies. */
export interface LiveBackend {
  readonly item: BackendItem
  readonly names: PlanNames
  /** The targets outside of the backend whose policies apply to it, weakest first. */
  readonly targets: readonly string[]
  /** Set if the backend cannot be used; then every request is refused with it. */
  readonly refusal: Refusal | undefined
  /** Endpoints by priority; most backends have one group. */
  readonly groups: readonly (readonly LiveEndpoint[])[]
  /** Endpoints of each section (provider, MCP target) by the key of the section: `ProxyBackend/default/x/target`. */
  readonly sections: ReadonlyMap<string, readonly LiveEndpoint[]>
  /** Decides which backends get a copy of a request, as the filters of its `backendRef` say. */
  readonly chooseMirrors: ((exchange: Exchange) => void) | undefined
  /** How its protocol handles requests and responses. */
  readonly protocol: ProtocolRun
  /** Expressions of its policies and settings that decide about requests. */
  readonly readers: readonly Reader[]
}

/** One address of a backend, with its merged policies and its health. */
export interface LiveEndpoint extends EndpointName {
  /** Where it is; with `RequestedPlaces`, each request names a place. */
  readonly place: Place | RequestedPlaces
  /** Set if a connection setting cannot be applied; then nothing is sent. */
  readonly refusal: Refusal | undefined
  /** Written by an automatic host rewrite; undefined for IP addresses and Unix sockets (decision A-91). */
  readonly hostname: string | undefined
  /** `hostRewrite` is `Auto` unless a policy sets it. */
  readonly rewritesHost: boolean
  /** Path and query of every request; undefined: those of the request. */
  readonly target: string | undefined
  readonly chain: Chain
  readonly health: EndpointHealth
  /** Whether a response is unhealthy. A missing response is always unhealthy (decision A-99). */
  readonly isUnhealthy: (exchange: Exchange, status: number) => boolean
  /** Time limit from sending to the response head, set by a policy; 0: not set. */
  readonly requestTimeoutMs: number
  /** The limit for most requests if no policy sets one; 0: no limit. */
  readonly defaultTimeoutMs: number
}
