import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { RouteMatch } from '#plan/item.ts'
import type { ProtocolRun } from '#protocols/backend-protocol.ts'
import type { LiveRule } from '../route/live-listener.ts'
import type { RequestPath, RoutedPath } from '../route/request-path.ts'
import type { RouteHit } from '../route/route-table.ts'

// An ambiguous path, which servers may normalise to different paths, is accepted only if the difference cannot matter
// (docs/behaviour/http.md, "Paths").

/**
 * Refuses an ambiguous path if an expression in force reads it.
 * @param reader location of that expression; undefined: no expression reads the path
 */
export function refuseIfRead(
  path: RequestPath,
  match: RouteMatch | undefined,
  reader: string | undefined,
): Refusal | undefined {
  if (reader === undefined) return undefined
  const [reading] = path.otherReadings(match)
  return reading === undefined ? undefined : ambiguous(path, reading, `and ${reader} reads the path`)
}

/** Refuses an ambiguous path if one of its readings matches another rule. @param find the rule for a path */
export function refuseOtherRule(
  path: RequestPath,
  hit: RouteHit<LiveRule>,
  find: (path: RoutedPath) => RouteHit<LiveRule> | undefined,
): Refusal | undefined {
  for (const reading of path.otherReadings(hit.match)) {
    const other = find({ matched: reading, query: path.query })
    if (other?.rule === hit.rule) continue
    const takers =
      other === undefined ? 'no rule matches' : `${other.rule.item.key} matches instead of ${hit.rule.item.key}`
    return ambiguous(path, reading, `which ${takers}`)
  }
  return undefined
}

/** Refuses an ambiguous path if the protocol of the backend treats one of its readings differently. */
export function refuseOtherMeaning(
  path: RequestPath,
  match: RouteMatch | undefined,
  protocol: ProtocolRun,
  exchange: Exchange,
): Refusal | undefined {
  if (protocol.otherMeaning === undefined) return undefined
  for (const reading of path.otherReadings(match)) {
    const other = protocol.otherMeaning(exchange, reading)
    if (other !== undefined) return ambiguous(path, reading, `which is ${other}`)
  }
  return undefined
}

function ambiguous({ matched }: RequestPath, reading: string, why: string): Refusal {
  return reject('path-ambiguous', { detail: `a server may read ${matched} as ${reading}, ${why}` })
}
