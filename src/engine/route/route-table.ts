import type { Head } from '#net/http/head.ts'
import { foldName } from '#net/http/same-name.ts'
import type { RouteItem, RouteMatch } from '#plan/item.ts'
import type { Attached } from '../lookups/plan-index.ts'
import {
  byRank,
  type Candidate,
  comparesOnlyPath,
  compileCandidate,
  describeLoss,
  describeMismatch,
  matchesPath,
  matchesRequest,
} from './candidate.ts'
import { HostTable } from './host-table.ts'
import { PathTree } from './path-tree.ts'
import { type AnnouncedRequest, matchesAnnounced } from './preflight.ts'
import type { RoutedPath } from './request-path.ts'

export interface RouteHit<P> {
  readonly rule: P
  readonly match: RouteMatch
  /** The rule is for the request that a preflight announces, and the preflight itself must not be forwarded. */
  readonly isAnnounced?: true
}

/** A rule that was considered and does not match, for `explain`. */
export interface NearMiss {
  readonly item: RouteItem
  readonly match: RouteMatch
  readonly why: string
  /** Its path matches, but another condition does not, or another rule has precedence. */
  readonly pathMatches: boolean
}

/**
 * The routes of one listener. Precedence (Gateway API, HTTPRouteRule; decision A-52): host tier; exact path, then longest prefix, then
 * pattern; then a method, more headers, more query parameters; then the oldest route, namespace/name, rule number. Data per hostname and
 * per rule is created for the first request that needs it.
 */
export class RouteTable<P> {
  readonly #hosts = new HostTable<Tier<P>>()
  /** The built form of a rule of this table; always the same object. */
  readonly ruleOf: (route: RouteItem) => P

  private constructor(ruleOf: (route: RouteItem) => P) {
    this.ruleOf = ruleOf
  }

  /** @param build creates the built form of a rule */
  static of<P extends NonNullable<unknown>>(
    rules: readonly Attached<RouteItem>[],
    build: (route: RouteItem) => P,
  ): RouteTable<P> {
    const made = new WeakMap<RouteItem, P>()
    const table = new RouteTable((route) => {
      let rule = made.get(route)
      if (rule === undefined) {
        rule = build(route)
        made.set(route, rule)
      }
      return rule
    })
    return table.after([], rules)
  }

  /** The next version of the table. Data of other hostnames is kept; this table does not change. */
  after(removed: readonly Attached<RouteItem>[], added: readonly Attached<RouteItem>[]): RouteTable<P> {
    const gone = new Set(removed.map(({ route }) => route))
    const more = byHostname(added)
    const touched = new Set([...more.keys(), ...removed.flatMap(hostnamesOf)])
    const next = new RouteTable<P>(this.ruleOf)
    for (const [hostname, tier] of this.#hosts.entries()) {
      if (!touched.has(hostname)) next.#hosts.at(hostname, () => tier)
    }
    for (const hostname of touched) {
      const kept = (this.#hosts.get(hostname)?.rules ?? []).filter(({ route }) => !gone.has(route))
      const rules = [...kept, ...(more.get(hostname) ?? [])]
      if (rules.length > 0) next.#hosts.at(hostname, () => new Tier(rules, this.ruleOf))
    }
    return next
  }

  /** @param host lower case, without port */
  find(host: string, head: Head, path: RoutedPath): RouteHit<P> | undefined {
    return this.#hosts.first(host, (tier) => tier.find(path, head))
  }

  /**
   * The rule for an announced request, if it answers preflights. Of the rules that depend on values of announced fields, those that do not
   * answer are passed over.
   */
  findAnnounced(
    host: string,
    announced: AnnouncedRequest,
    path: RoutedPath,
    answers: (rule: P) => boolean,
  ): RouteHit<P> | undefined {
    const found = this.#hosts.first(host, (tier) => tier.findAnnounced(announced, path, answers))
    return found && answers(found.rule) ? { rule: found.rule, match: found.match, isAnnounced: true } : undefined
  }

  /**
   * The rules that may take requests for a path, whatever else is in them, in order of precedence: up to the first that takes all.
   * @param path in matched form
   */
  takersOf(host: string, path: string): readonly P[] {
    const found: P[] = []
    this.#hosts.first(host, (tier) => (tier.addTakers(path, found) ? true : undefined))
    return found
  }

  /** The rules for the host, with their matches. */
  rulesFor(host: string): readonly RouteHit<P>[] {
    const found: RouteHit<P>[] = []
    this.#hosts.first(host, (tier) => {
      found.push(...tier.candidates)
      return undefined
    })
    return found
  }

  /** Hostnames of routes, such as `*.example.com`, by name; an empty one is any host. */
  get hostnames(): readonly string[] {
    return Array.from(this.#hosts.entries(), ([hostname]) => hostname).sort()
  }

  /** Whether a rule for the host compares a field. The name must be folded by `foldName`. */
  comparesField(foldedName: string, host: string): boolean {
    return this.#hosts.first(host, (tier) => (tier.fields.has(foldedName) ? true : undefined)) ?? false
  }

  /** Every rule for the host, with the reason why it does not match. Includes the rule of `hit`. */
  nearMisses(host: string, head: Head, path: RoutedPath, hit: RouteHit<P> | undefined): NearMiss[] {
    const misses: NearMiss[] = []
    let isDecided = false
    this.#hosts.first(host, (tier) => {
      const winner = isDecided ? undefined : tier.candidates.find(({ match }) => match === hit?.match)
      isDecided ||= winner !== undefined
      for (const candidate of tier.candidates) {
        const why = describeMismatch(candidate, path, head) ?? describeLoss(candidate, winner)
        misses.push({
          item: candidate.item,
          match: candidate.match,
          why,
          pathMatches: matchesPath(candidate, path.matched),
        })
      }
      return undefined
    })
    return misses
  }
}

function hostnamesOf({ hostnames }: Attached<RouteItem>): readonly string[] {
  return hostnames.length === 0 ? [''] : hostnames
}

function byHostname(rules: readonly Attached<RouteItem>[]): ReadonlyMap<string, Attached<RouteItem>[]> {
  const byName = new Map<string, Attached<RouteItem>[]>()
  for (const rule of rules) {
    for (const hostname of hostnamesOf(rule)) {
      const list = byName.get(hostname)
      if (list === undefined) byName.set(hostname, [rule])
      else list.push(rule)
    }
  }
  return byName
}

/** The rules of one hostname. */
class Tier<P> {
  readonly rules: readonly Attached<RouteItem>[]
  readonly #ruleOf: (route: RouteItem) => P
  #matches: Matches<P> | undefined
  #fields: ReadonlySet<string> | undefined

  constructor(rules: readonly Attached<RouteItem>[], ruleOf: (route: RouteItem) => P) {
    this.rules = rules
    this.#ruleOf = ruleOf
  }

  /** Ordered by precedence. */
  get candidates(): readonly Candidate<P>[] {
    return this.#compiled.candidates
  }

  get #compiled(): Matches<P> {
    this.#matches ??= new Matches(
      this.rules.flatMap(({ route }) => {
        const rule = this.#ruleOf(route)
        return route.matches.map((match) => compileCandidate(route, match, rule))
      }),
    )
    return this.#matches
  }

  /** Names of the fields that its matches compare, folded. Created on first use, because few requests need them. */
  get fields(): ReadonlySet<string> {
    this.#fields ??= new Set(
      this.rules.flatMap(({ route }) =>
        route.matches.flatMap(({ headers }) => headers.map(({ name }) => foldName(name))),
      ),
    )
    return this.#fields
  }

  find(path: RoutedPath, head: Head): Candidate<P> | undefined {
    return this.#compiled.find(path, head)
  }

  /** The first that answers, or that the request matches whatever its fields contain. */
  findAnnounced(
    announced: AnnouncedRequest,
    path: RoutedPath,
    answers: (rule: P) => boolean,
  ): Candidate<P> | undefined {
    for (const candidate of this.#compiled.at(path.matched)) {
      const matches = matchesAnnounced(candidate, path, announced)
      if (matches === true || (matches === 'may' && answers(candidate.rule))) return candidate
    }
    return undefined
  }

  /** @returns whether the last one takes all requests */
  addTakers(path: string, found: P[]): boolean {
    for (const candidate of this.#compiled.at(path)) {
      found.push(candidate.rule)
      if (comparesOnlyPath(candidate)) return true
    }
    return false
  }
}

/** The compiled matches of one hostname. */
class Matches<P> {
  /** Ordered by precedence. */
  readonly candidates: readonly Candidate<P>[]
  readonly #paths = new PathTree<Candidate<P>[]>()
  readonly #patterns: Candidate<P>[] = []
  /** Reused by every search. */
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

  find(path: RoutedPath, head: Head): Candidate<P> | undefined {
    for (let i = this.#paths.find(path.matched, this.#found) - 1; i >= 0; i--) {
      const hit = firstFit(this.#found[i]!, path, head)
      if (hit !== undefined) return hit
    }
    for (const candidate of this.#patterns) {
      if (candidate.pattern?.matches(path.matched) && matchesRequest(candidate, path, head)) return candidate
    }
    return undefined
  }

  /** Those whose path matches, by precedence. */
  *at(path: string): Generator<Candidate<P>> {
    const found: Candidate<P>[][] = []
    for (let i = this.#paths.find(path, found) - 1; i >= 0; i--) yield* found[i]!
    for (const candidate of this.#patterns) if (candidate.pattern?.matches(path)) yield candidate
  }
}

function newList<T>(): T[] {
  return []
}

function firstFit<P>(candidates: readonly Candidate<P>[], path: RoutedPath, head: Head): Candidate<P> | undefined {
  for (const candidate of candidates) if (matchesRequest(candidate, path, head)) return candidate
  return undefined
}
