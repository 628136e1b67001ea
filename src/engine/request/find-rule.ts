import type { Head } from '#net/http/head.ts'
import type { PlanIndex } from '../lookups/plan-index.ts'
import type { LiveRequestListener, LiveRule } from '../route/live-listener.ts'
import { announcedBy } from '../route/preflight.ts'
import type { RoutedPath } from '../route/request-path.ts'
import type { RouteHit } from '../route/route-table.ts'

/**
 * The rule for a request. A preflight gets the rule for the request that it announces, if a policy of that rule answers preflights, and no
 * match for OPTIONS takes it (docs/behaviour/http.md, "Finding a route").
 */
export function findRule(
  index: PlanIndex,
  { routes }: LiveRequestListener,
  host: string,
  request: Head,
  path: RoutedPath,
): RouteHit<LiveRule> | undefined {
  const hit = routes.find(host, request, path)
  if (request.method !== 'OPTIONS' || hit?.match.method === 'OPTIONS') return hit
  const announced = announcedBy(request)
  if (announced === undefined) return hit
  const answers = (rule: LiveRule) => rule.postRouting.get(index).answersPreflights
  return routes.findAnnounced(host, announced, path, answers) ?? hit
}
