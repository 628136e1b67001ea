import type { RelayRouteItem } from '#plan/item.ts'
import type { ReportOn } from '../reporting.ts'

/**
 * Connections tell nothing but a server name, so that of all rules for one name at one listener a single one is used. Says when a rule
 * is never used anywhere.
 * @param winners the rule that takes the connections, at each place of this one
 */
export function reportShadowed(rule: RelayRouteItem, winners: readonly RelayRouteItem[], reportOn: ReportOn): void {
  const [winner] = winners
  if (winner === undefined || winners.some(({ key }) => key === rule.key)) return
  const { route, rule: number } = winner
  const message = `has no effect: all connections go to ${route.kind} ${route.namespace}/${route.name} rule ${number}`
  reportOn(rule)({ path: `spec.rules[${rule.rule}]`, code: 'route-shadowed', message, severity: 'warning' })
}
