import type { RelayRouteItem, RouteItem, RouteMatch } from '#plan/item.ts'
import type { ReportOn } from '../reporting.ts'

export type AnyRule = RouteItem | RelayRouteItem

/** A rule, and the rule that takes precedence over it at a key of `ruleKeys`. */
export interface Shadowed {
  readonly rule: AnyRule
  /** `HTTPRoute default/shop rule 0` */
  readonly winner: string
}

/**
 * What a rule matches: its listeners and hostnames, with each of its matches. Of the rules with one key only the first applies. Only the
 * server name selects the rule of a connection, so a TCPRoute or TLSRoute has no matches.
 */
export function ruleKeys(rule: AnyRule): ReadonlySet<string> {
  const matches = rule.kind === 'route' ? rule.matches.map(matchText) : ['']
  return new Set(
    rule.attachments.flatMap(({ listener, hostnames }) =>
      (hostnames.length === 0 ? [''] : hostnames).flatMap((hostname) =>
        matches.map((match) => `${listener} ${hostname} ${match}`),
      ),
    ),
  )
}

/** The order of header and query matches has no meaning. */
function matchText({ path, method, headers, queryParams }: RouteMatch): string {
  const conditions = [headers, queryParams].map((list) =>
    list.map(({ name, type, value }) => JSON.stringify([name, type, value])).sort(),
  )
  return JSON.stringify([path.type, path.value, method, conditions])
}

export function describeRule({ route: { kind, namespace, name }, rule }: AnyRule): string {
  return `${kind} ${namespace}/${name} rule ${rule}`
}

/** Reports a rule that never applies: other rules take precedence at all its keys. @param at where other rules take precedence */
export function reportShadowed(at: readonly Shadowed[], reportOn: ReportOn): void {
  const { rule } = at[0]!
  if (at.length < ruleKeys(rule).size) return
  const winners = [...new Set(at.map(({ winner }) => winner))].join(', ')
  const message =
    rule.kind === 'route'
      ? `has no effect: rules with the same matches take precedence: ${winners}`
      : `has no effect: all connections go to ${at[0]!.winner}`
  reportOn(rule)({ path: `spec.rules[${rule.rule}]`, code: 'route-shadowed', message, severity: 'warning' })
}
