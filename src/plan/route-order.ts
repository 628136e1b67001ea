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

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
