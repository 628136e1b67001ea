import type { Head } from '#net/http/head.ts'
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

/**
 * The routes of one listener. Order of choice (Gateway API, HTTPRouteRule; decision A-52): host tier; exact path, then longest
 * prefix, then pattern; then a method, more headers, more query parameters; then the oldest route, namespace/name, rule number.
 */
export class RouteTable<P> {
  readonly #hosts = new HostTable<Tier<P>>()

  add(item: RouteItem, hostnames: readonly string[], place: P): void {
    for (const hostname of hostnames.length === 0 ? [''] : hostnames) {
      const tier = this.#hosts.at(hostname, () => new Tier<P>())
      for (const match of item.matches) tier.add(compileCandidate(item, match, place))
    }
  }

  /** Puts candidates in order; call once after the last `add`. */
  seal(): void {
    for (const tier of this.#hosts.values()) tier.seal()
  }

  /** @param host lower case, without port */
  find(host: string, head: Head, path: RoutedPath): RouteHit<P> | undefined {
    return this.#hosts.first(host, (tier) => tier.find(path, head))
  }

  /** Every rule whose host matches, with why it is not the one that takes the request; the one that does is in it too. */
  nearMisses(host: string, head: Head, path: RoutedPath): NearMiss[] {
    const misses: NearMiss[] = []
    this.#hosts.first(host, (tier) => {
      for (const candidate of tier.candidates) {
        const why = whyNot(candidate, path, head) ?? 'it fits as well, but a more specific rule goes first'
        misses.push({ item: candidate.item, match: candidate.match, why, takesPath: pathFits(candidate, path.matched) })
      }
      return undefined
    })
    return misses
  }
}

/** The matches of one hostname. */
class Tier<P> {
  readonly candidates: Candidate<P>[] = []
  readonly #paths = new PathTree<Candidate<P>[]>()
  readonly #lists: Candidate<P>[][] = []
  readonly #patterns: Candidate<P>[] = []
  /** Reused by every lookup. */
  readonly #found: Candidate<P>[][] = []

  add(candidate: Candidate<P>): void {
    this.candidates.push(candidate)
    const { type, value } = candidate.match.path
    if (type === 'RegularExpression') this.#patterns.push(candidate)
    else if (type === 'PathPrefix') this.#paths.atPrefix(value, () => this.#newList()).push(candidate)
    else this.#paths.atPath(value, () => this.#newList()).push(candidate)
  }

  seal(): void {
    for (const list of this.#lists) list.sort(byRank)
    this.#patterns.sort(byRank)
    this.candidates.sort(byRank)
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

  #newList(): Candidate<P>[] {
    const list: Candidate<P>[] = []
    this.#lists.push(list)
    return list
  }
}

function firstFit<P>(candidates: readonly Candidate<P>[], path: RoutedPath, head: Head): Candidate<P> | undefined {
  for (const candidate of candidates) if (fits(candidate, path, head)) return candidate
  return undefined
}
