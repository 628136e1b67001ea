import type { PlanNames } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { chooseEndpoint } from '../backend/balance.ts'
import type { LiveBackend, LiveEndpoint } from '../backend/live-backend.ts'
import { findPlace, isRefusal, type Place } from '../backend/place.ts'
import type { PlanIndex } from '../lookups/plan-index.ts'
import { chooseBackend, type LiveRelayListener, type LiveRelayRule, refusalOf } from '../route/live-listener.ts'

/** Inputs in addition to the listener. */
export interface RelayInputs {
  readonly index: PlanIndex
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
}

/** The progress of a connection. */
interface Reached {
  readonly names: PlanNames
  readonly rule?: LiveRelayRule
  readonly backend?: LiveBackend
}

/** The destination of a connection, or the reason to close it. */
export type RelayDecision = Reached &
  (
    | { readonly endpoint: LiveEndpoint; readonly place: Place; readonly refusal?: undefined }
    | { readonly endpoint?: undefined; readonly place?: undefined; readonly refusal: Refusal }
  )

/**
 * Decides about a connection: the route by server name (exact before wildcard before any, then the oldest), the backend by weight, the
 * endpoint by health.
 * @param serverName lower case; empty if the client sent none
 */
export function decideRelay(
  { index, random }: RelayInputs,
  listener: LiveRelayListener,
  serverName: string,
): RelayDecision {
  const refusal = refusalOf(listener)
  if (refusal !== undefined) return { names: listener.names, refusal }
  const rule = listener.routes.first(serverName, (rule) => rule)
  if (rule === undefined) return { names: listener.names, refusal: reject('route-not-found') }
  const { names } = rule
  const chosen = chooseBackend(rule, random)
  if (chosen === undefined) return { names, rule, refusal: reject('no-valid-backends') }
  const backend = chosen.backend.get(index)
  if (backend === undefined) {
    return { names, rule, refusal: reject('backend-missing', { detail: chosen.reference.path }) }
  }
  const reached = { names: backend.names, rule, backend }
  if (backend.refusal !== undefined) return { ...reached, refusal: backend.refusal }
  const endpoint = chooseEndpoint(backend.groups, [], random)
  if (endpoint === undefined) return { ...reached, refusal: reject('no-healthy-backends') }
  if (endpoint.refusal !== undefined) return { ...reached, refusal: endpoint.refusal }
  const place = findPlace(endpoint.place, authorityOf(listener, serverName))
  return isRefusal(place) ? { ...reached, refusal: place } : { ...reached, endpoint, place }
}

/** A server name has no port. TLS that passes through the gateway goes to the port of HTTPS (decision A-97). */
function authorityOf({ item }: LiveRelayListener, serverName: string): string {
  return item.tlsMode === 'Passthrough' && serverName !== '' ? `${serverName}:443` : serverName
}
