import type { PlanNames } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { chooseEndpoint } from '../backend/balance.ts'
import type { LiveBackend, LiveEndpoint } from '../backend/live-backend.ts'
import type { PlanIndex } from '../plan/plan-index.ts'
import { chooseBackend, type LiveRelayListener, type LiveRelayRule } from '../route/live-listener.ts'

/** What the engine needs besides the listener. */
export interface RelayInputs {
  readonly index: PlanIndex
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
}

/** How far a connection came. */
interface Reached {
  readonly names: PlanNames
  readonly rule?: LiveRelayRule
  readonly backend?: LiveBackend
}

/** Where a connection goes, or why it is closed. */
export type RelayDecision = Reached &
  (
    | { readonly endpoint: LiveEndpoint; readonly refusal?: undefined }
    | { readonly endpoint?: undefined; readonly refusal: Refusal }
  )

/**
 * The way of a connection: route by server name (exact before wildcards before any, then the oldest), backend by weight, endpoint by
 * health.
 * @param serverName lower case; empty when the client named none
 */
export function decideRelay(
  { index, random }: RelayInputs,
  listener: LiveRelayListener,
  serverName: string,
): RelayDecision {
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
  return endpoint.refusal === undefined ? { ...reached, endpoint } : { ...reached, refusal: endpoint.refusal }
}
