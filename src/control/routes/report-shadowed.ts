import type { PlanItem, RelayRouteItem } from '#plan/item.ts'
import { byPrecedence } from '#plan/route-order.ts'
import type { ReportOn } from '../reporting.ts'

/**
 * Connections tell nothing but a server name, so that of all rules for one name at one listener a single one is used. Says which rules
 * are never used anywhere.
 */
export function reportShadowed(items: readonly PlanItem[], reportOn: ReportOn): void {
  const rules = items.filter((item) => item.kind === 'relay-route').sort(byPrecedence)
  const winners = new Map<string, RelayRouteItem>()
  for (const rule of rules) {
    const places = rule.attachments.flatMap(({ listener, hostnames }) =>
      (hostnames.length === 0 ? [''] : hostnames).map((hostname) => `${listener} ${hostname}`),
    )
    const taken = places.map((place) => winners.get(place))
    for (const place of places) if (!winners.has(place)) winners.set(place, rule)
    if (taken.includes(undefined)) continue
    const { route, rule: number } = taken[0]!
    const message = `takes no connection: all of them go to ${route.kind} ${route.namespace}/${route.name} rule ${number}`
    reportOn(rule)({ path: `spec.rules[${rule.rule}]`, code: 'route-shadowed', message, severity: 'warning' })
  }
}
