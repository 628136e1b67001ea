import type { RelayRouteItem } from '#plan/item.ts'
import type { ReportOn } from '../reporting.ts'

/**
 * Reports a TCPRoute or TLSRoute rule that never applies. Only the server name selects a rule, so of all rules for one name at one
 * listener only one applies.
 * @param winners the rule that applies, at each listener and hostname of `rule`
 */
export function reportShadowed(rule: RelayRouteItem, winners: readonly RelayRouteItem[], reportOn: ReportOn): void {
  const [winner] = winners
  if (winner === undefined || winners.some(({ key }) => key === rule.key)) return
  const { route, rule: number } = winner
  const message = `has no effect: all connections go to ${route.kind} ${route.namespace}/${route.name} rule ${number}`
  reportOn(rule)({ path: `spec.rules[${rule.rule}]`, code: 'route-shadowed', message, severity: 'warning' })
}
