import type { RelayRouteItem, RouteItem, RouteMatch } from '#plan/item.ts'
import type { ReportOn } from '../context/reporting.ts'
import { coveringPrefixes } from './covering-prefixes.ts'

export type AnyRule = RouteItem | RelayRouteItem

/** A rule, and the rule that takes precedence over it at a key of `ruleKeys`. */
export interface Shadowed {
  readonly rule: AnyRule
  readonly key: string
  /** The other rule has a prefix that contains all paths of a pattern, instead of the same match. */
  readonly isCovered?: true
  /** `HTTPRoute default/shop rule 0` */
  readonly winner: string
}

/** A pattern of a rule, at the key of another match that every request of the pattern has, too. */
export interface CoveredPattern {
  readonly rule: RouteItem
  /** The key of the pattern. */
  readonly key: string
}

/**
 * What a rule matches: its listeners and hostnames, with each of its matches. Of the rules with one key only the first applies. Only the
 * server name selects the rule of a connection, so a TCPRoute or TLSRoute has no matches.
 */
export function ruleKeys(rule: AnyRule): ReadonlySet<string> {
  const matches = rule.kind === 'route' ? rule.matches.map(matchText) : ['']
  return new Set(placesOf(rule).flatMap((place) => matches.map((match) => `${place} ${match}`)))
}

/** The listeners and hostnames of a rule. */
function placesOf({ attachments }: AnyRule): readonly string[] {
  return attachments.flatMap(({ listener, hostnames }) =>
    (hostnames.length === 0 ? [''] : hostnames).map((hostname) => `${listener} ${hostname}`),
  )
}

/**
 * The patterns of a rule, by the keys of the prefix matches that would leave them no request: a prefix precedes every pattern, and these
 * prefixes contain all paths of the pattern. Their other conditions are none, or the same.
 */
export function coveredPatterns(rule: RouteItem): readonly (readonly [coveringKey: string, CoveredPattern])[] {
  const patterns = rule.matches.filter(({ path }) => path.type === 'RegularExpression')
  if (patterns.length === 0) return []
  return placesOf(rule).flatMap((place) =>
    patterns.flatMap((match) => {
      const covered = { rule, key: `${place} ${matchText(match)}` }
      return [...coveringMatches(match)].map((covering) => [`${place} ${covering}`, covered] as const)
    }),
  )
}

function coveringMatches(match: RouteMatch): ReadonlySet<string> {
  const prefixes = coveringPrefixes(match.path.value).map((value) => ({ type: 'PathPrefix', value }) as const)
  return new Set(
    prefixes.flatMap((path) => [
      matchText({ path, method: undefined, headers: [], queryParams: [] }),
      matchText({ ...match, path }),
    ]),
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

function describeWinners(at: readonly Shadowed[]): string {
  return at.some(({ isCovered }) => isCovered)
    ? 'rules with path prefixes, which precede patterns,'
    : 'rules with the same matches'
}

/** Reports a rule that never applies: other rules take precedence at all its keys. @param at where other rules take precedence */
export function reportShadowed(at: readonly Shadowed[], reportOn: ReportOn): void {
  const { rule } = at[0]!
  if (new Set(at.map(({ key }) => key)).size < ruleKeys(rule).size) return
  const winners = [...new Set(at.map(({ winner }) => winner))].join(', ')
  const message =
    rule.kind === 'route'
      ? `has no effect: ${describeWinners(at)} take precedence: ${winners}`
      : `has no effect: all connections go to ${at[0]!.winner}`
  reportOn(rule)({ path: `spec.rules[${rule.rule}]`, code: 'route-shadowed', message, severity: 'warning' })
}
