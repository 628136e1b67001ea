import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { RouteMatch } from '#plan/item.ts'
import type { AiPlan } from '#protocols/llm/ai-plan.ts'
import { routeTypeOf } from '#protocols/llm/prepare-request.ts'
import type { RequestListenerPlace, RulePlace } from './places.ts'
import type { RequestPath } from './route/request-path.ts'
import type { RouteHit } from './route/route-table.ts'

// A path that servers may take for another one passes only where that cannot matter (docs/behaviour/http.md, "Paths").

/** Refuses it where an expression in force reads the path. @param reader that expression, in words; undefined: none does */
export function refuseReader(
  path: RequestPath,
  match: RouteMatch | undefined,
  reader: string | undefined,
): Refusal | undefined {
  if (reader === undefined) return undefined
  const [reading] = path.otherReadings(match)
  return reading === undefined ? undefined : ambiguous(path, reading, `and ${reader} reads the path`)
}

/** Refuses it where another rule would take it in another reading. */
export function refuseOtherRule(
  path: RequestPath,
  hit: RouteHit<RulePlace>,
  host: string,
  { routes }: RequestListenerPlace,
  { request }: Exchange,
): Refusal | undefined {
  for (const reading of path.otherReadings(hit.match)) {
    const other = routes.find(host, request, { matched: reading, query: path.query })
    if (other?.place === hit.place) continue
    const takers = other === undefined ? 'no rule takes' : `${other.place.item.key} takes, not ${hit.place.item.key}`
    return ambiguous(path, reading, `which ${takers}`)
  }
  return undefined
}

/** Refuses it where an LLM backend would understand it in another way. */
export function refuseOtherRouteType(
  path: RequestPath,
  match: RouteMatch | undefined,
  plan: AiPlan,
  exchange: Exchange,
): Refusal | undefined {
  for (const reading of path.otherReadings(match)) {
    for (const provider of plan.providers) {
      const [type, other] = [routeTypeOf(provider, exchange), routeTypeOf(provider, exchange, reading)]
      if (type !== other) return ambiguous(path, reading, `which is of the type ${other}, not ${type}`)
    }
  }
  return undefined
}

function ambiguous({ matched }: RequestPath, reading: string, why: string): Refusal {
  return reject('path-ambiguous', { detail: `a server may read ${matched} as ${reading}, ${why}` })
}
