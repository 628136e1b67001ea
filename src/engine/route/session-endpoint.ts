import type { Refusal } from '#exchange/outcome.ts'
import type { Session } from '#exchange/session.ts'
import { chooseEndpoint } from '../backend/balance.ts'
import type { LiveBackend, LiveEndpoint } from '../backend/live-backend.ts'
import type { PlanIndex } from '../lookups/plan-index.ts'
import { chooseBackend, type LiveReference, type LiveRule } from './live-listener.ts'

/** Identifies an endpoint of a backend in sessions. */
export function sessionNameOf({ section, label }: Pick<LiveEndpoint, 'section' | 'label'>): string {
  return section ?? label
}

/**
 * The backend reference of a request. A session takes precedence over weights, even over a weight of 0 (Gateway API, GEP-1619, "Traffic
 * Splitting"). If its endpoint is gone or evicted, the request stays at the backend unless the weight is 0. Weights choose between several
 * references to the backend, because their filters may differ, and a reference of weight 0 may lack those of the others.
 */
export function chooseReference(
  rule: LiveRule,
  session: Session | undefined,
  index: PlanIndex,
  random: () => number,
): LiveReference | undefined {
  if (session?.bound === undefined) return chooseBackend(rule, random)
  const { bound } = session
  const leading = rule.backends.filter(
    ({ reference, backend }) => reference.backend === bound.backend && isUsable(backend.get(index)),
  )
  const totalWeight = leading.reduce((sum, { reference }) => sum + reference.weight, 0)
  if (totalWeight > 0) return chooseBackend({ backends: leading, totalWeight }, random)
  // With several of them, it is unknown which one the session came by.
  const [only, ...others] = leading
  const backend = others.length === 0 ? only?.backend.get(index) : undefined
  const isThere = backend !== undefined && boundEndpoint(backend, session, []) !== undefined
  return isThere ? only : chooseBackend(rule, random)
}

function isUsable(backend: LiveBackend | undefined): boolean {
  return backend !== undefined && backend.refusal === undefined
}

/** An endpoint that cannot take a request, whatever its health. */
export interface UnfitEndpoint {
  readonly endpoint: LiveEndpoint
  readonly refusal: Refusal
}

/** Endpoints of earlier attempts. */
export interface EarlierAttempts {
  /** The request was sent to these, or could not be sent: they are chosen again if there is no other one. */
  readonly tried: readonly LiveEndpoint[]
  /** Never chosen. */
  readonly unfit: readonly UnfitEndpoint[]
}

/** The endpoint of an attempt: that of the session if it is there, not evicted and not tried, else one by load balancing. */
export function chooseForAttempt(
  backend: LiveBackend,
  session: Session | undefined,
  { tried, unfit }: EarlierAttempts,
  random: () => number,
): LiveEndpoint | undefined {
  const groups = unfit.length === 0 ? backend.groups : withoutUnfit(backend.groups, unfit)
  const bound = session === undefined ? undefined : boundEndpoint({ item: backend.item, groups }, session, tried)
  return bound ?? chooseEndpoint(groups, tried, random)
}

function withoutUnfit(groups: LiveBackend['groups'], unfit: readonly UnfitEndpoint[]): LiveBackend['groups'] {
  return groups.map((group) => group.filter((each) => unfit.every(({ endpoint }) => endpoint !== each)))
}

function boundEndpoint(
  { item, groups }: Pick<LiveBackend, 'item' | 'groups'>,
  { bound }: Session,
  tried: readonly LiveEndpoint[],
): LiveEndpoint | undefined {
  if (bound?.backend !== item.key) return undefined
  for (const group of groups) {
    for (const endpoint of group) {
      if (sessionNameOf(endpoint) !== bound.endpoint) continue
      return endpoint.health.evicted || tried.includes(endpoint) ? undefined : endpoint
    }
  }
  return undefined
}
