import { foldName, type Head } from '#net/http/head.ts'
import type { RouteItem, RouteMatch } from '#plan/item.ts'
import { byRank, type Candidate, compileCandidate, fits, pathFits, whyNot } from './candidate.ts'
import { HostTable } from './host-table.ts'
import { PathTree } from './path-tree.ts'
import type { RoutedPath } from './request-path.ts'

export interface RouteHit<P> {
  readonly place: P
  readonly match: RouteMatch
}

/** A rule that was looked at and did not match, for `explain`. */
export interface NearMiss {
  readonly item: RouteItem
  readonly match: RouteMatch
  readonly why: string
  /** It would have taken this path, but something else did not fit or another rule was nearer. */
  readonly takesPath: boolean
}

/** A rule with the hostnames for which it is in a table. */
export interface TableRule<P> {
  readonly route: RouteItem
  readonly rule: P
  readonly hostnames: readonly string[]
}

/**
 * The routes of one listener. Order of choice (Gateway API, HTTPRouteRule; decision A-52): host tier; exact path, then longest
 * prefix, then pattern; then a method, more headers, more query parameters; then the oldest route, namespace/name, rule number.
 */
export class RouteTable<P> {
  readonly #hosts: HostTable<Tier<P>>

  constructor(rules: readonly TableRule<P>[] = []) {
    this.#hosts = new HostTable()
    for (const [hostname, candidates] of byHostname(rules)) this.#hosts.at(hostname, () => new Tier(candidates))
  }

  /** The table with some rules less and others more. What it says about other hostnames is taken over; this one stays as it is. */
  after(removed: readonly TableRule<P>[], added: readonly TableRule<P>[]): RouteTable<P> {
    const gone = new Set(removed.map(({ rule }) => rule))
    const more = byHostname(added)
    const touched = new Set([...removed, ...added].flatMap(hostnamesOf))
    const next = new RouteTable<P>()
    for (const [hostname, tier] of this.#hosts.entries()) {
      if (!touched.has(hostname)) next.#hosts.at(hostname, () => tier)
    }
    for (const hostname of touched) {
      const kept = (this.#hosts.get(hostname)?.candidates ?? []).filter(({ place }) => !gone.has(place))
      const candidates = [...kept, ...(more.get(hostname) ?? [])]
      if (candidates.length > 0) next.#hosts.at(hostname, () => new Tier(candidates))
    }
    return next
  }

  /** @param host lower case, without port */
  find(host: string, head: Head, path: RoutedPath): RouteHit<P> | undefined {
    return this.#hosts.first(host, (tier) => tier.find(path, head))
  }

  /** Whether a rule whose host matches goes by a field, of which `foldName` made the name. */
  goesBy(foldedName: string, host: string): boolean {
    return this.#hosts.first(host, (tier) => (tier.fields.has(foldedName) ? true : undefined)) ?? false
  }

  /** Every rule whose host matches, with why it is not the one that takes the request; the one that does is in it too. */
  nearMisses(host: string, head: Head, path: RoutedPath): NearMiss[] {
    const misses: NearMiss[] = []
    this.#hosts.first(host, (tier) => {
      for (const candidate of tier.candidates) {
        const why = whyNot(candidate, path, head) ?? 'it matches too, but a more specific rule takes precedence'
        misses.push({ item: candidate.item, match: candidate.match, why, takesPath: pathFits(candidate, path.matched) })
      }
      return undefined
    })
    return misses
  }
}

function hostnamesOf({ hostnames }: { readonly hostnames: readonly string[] }): readonly string[] {
  return hostnames.length === 0 ? [''] : hostnames
}

function byHostname<P>(rules: readonly TableRule<P>[]): ReadonlyMap<string, Candidate<P>[]> {
  const byName = new Map<string, Candidate<P>[]>()
  for (const it of rules) {
    const candidates = it.route.matches.map((match) => compileCandidate(it.route, match, it.rule))
    for (const hostname of hostnamesOf(it)) {
      const list = byName.get(hostname)
      if (list === undefined) byName.set(hostname, [...candidates])
      else list.push(...candidates)
    }
  }
  return byName
}

/** The matches of one hostname. */
class Tier<P> {
  /** By rank. */
  readonly candidates: readonly Candidate<P>[]
  readonly #paths = new PathTree<Candidate<P>[]>()
  readonly #patterns: Candidate<P>[] = []
  #fields: ReadonlySet<string> | undefined
  /** Reused by every lookup. */
  readonly #found: Candidate<P>[][] = []

  constructor(candidates: Candidate<P>[]) {
    this.candidates = candidates.sort(byRank)
    for (const candidate of candidates) {
      const { type, value } = candidate.match.path
      if (type === 'RegularExpression') this.#patterns.push(candidate)
      else if (type === 'PathPrefix') this.#paths.atPrefix(value, newList).push(candidate)
      else this.#paths.atPath(value, newList).push(candidate)
    }
  }

  /** Names of the fields that its matches compare, folded. Asked for by few requests, so made for the first of them. */
  get fields(): ReadonlySet<string> {
    this.#fields ??= new Set(this.candidates.flatMap(({ match }) => match.headers.map(({ name }) => foldName(name))))
    return this.#fields
  }

  find(path: RoutedPath, head: Head): RouteHit<P> | undefined {
    for (let i = this.#paths.find(path.matched, this.#found) - 1; i >= 0; i--) {
      const hit = firstFit(this.#found[i]!, path, head)
      if (hit !== undefined) return hit
    }
    for (const candidate of this.#patterns) {
      if (candidate.pattern?.matches(path.matched) && fits(candidate, path, head)) return candidate
    }
    return undefined
  }
}

function newList<T>(): T[] {
  return []
}

function firstFit<P>(candidates: readonly Candidate<P>[], path: RoutedPath, head: Head): Candidate<P> | undefined {
  for (const candidate of candidates) if (fits(candidate, path, head)) return candidate
  return undefined
}
