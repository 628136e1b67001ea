import { compareText } from '#base/compare-text.ts'
import type { RelayRouteItem, RouteItem } from './item.ts'

/** Order of two rules that match equally well: the older route first, then namespace/name, then the earlier rule (decision A-52). */
export function byPrecedence(a: RouteItem | RelayRouteItem, b: RouteItem | RelayRouteItem): number {
  return (
    compareText(a.created, b.created) ||
    compareText(a.route.namespace, b.route.namespace) ||
    compareText(a.route.name, b.route.name) ||
    a.rule - b.rule
  )
}

/** Why a rule takes precedence over another rule that matches equally well, as text. */
export function describePrecedence(winner: RouteItem, loser: RouteItem): string {
  const { kind, namespace, name } = winner.route
  if (namespace === loser.route.namespace && name === loser.route.name) {
    return winner.rule === loser.rule ? 'an earlier match of the rule' : `the earlier rule ${winner.rule}`
  }
  const why = winner.created === loser.created ? 'which is first by namespace and name' : 'which is older'
  return `${kind} ${namespace}/${name}, ${why},`
}
