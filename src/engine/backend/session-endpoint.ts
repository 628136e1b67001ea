import type { Session } from '#exchange/session.ts'
import type { PlanIndex } from '../plan/plan-index.ts'
import { chooseBackend, type LiveReference, type LiveRule } from '../route/live-listener.ts'
import { chooseEndpoint } from './balance.ts'
import type { LiveBackend, LiveEndpoint } from './live-backend.ts'

/** Identifies an endpoint of a backend in sessions. */
export function sessionNameOf({ section, label }: Pick<LiveEndpoint, 'section' | 'label'>): string {
  return section ?? label
}

/**
 * The backend reference of a request. A session takes precedence over weights, even over a weight of 0 (Gateway API, GEP-1619, "Traffic
 * Splitting"). If its endpoint is gone or evicted, the request stays at the backend unless the weight is 0.
 */
export function chooseReference(
  rule: LiveRule,
  session: Session | undefined,
  index: PlanIndex,
  random: () => number,
): LiveReference | undefined {
  if (session?.bound === undefined) return chooseBackend(rule, random)
  for (const reference of rule.backends) {
    if (reference.reference.backend !== session.bound.backend) continue
    const backend = reference.backend.get(index)
    if (backend === undefined || backend.refusal !== undefined) continue
    if (reference.reference.weight > 0 || boundEndpoint(backend, session, []) !== undefined) return reference
  }
  return chooseBackend(rule, random)
}

/** The endpoint of an attempt: that of the session if it is there, not evicted and not tried, else one by load balancing. */
export function chooseForAttempt(
  backend: LiveBackend,
  session: Session | undefined,
  tried: readonly LiveEndpoint[],
  random: () => number,
): LiveEndpoint | undefined {
  const bound = session === undefined ? undefined : boundEndpoint(backend, session, tried)
  return bound ?? chooseEndpoint(backend.groups, tried, random)
}

function boundEndpoint(
  { item, groups }: LiveBackend,
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
