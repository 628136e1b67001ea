import type { RE2JS } from 're2js'
import { isCredentialField, isCredentialParameter } from '#base/credential-names.ts'
import { compilePattern } from '#base/pattern.ts'
import type { Head } from '#net/http/head.ts'
import type { RouteItem, RouteMatch } from '#plan/item.ts'
import { byPrecedence, describePrecedence } from '#plan/route-order.ts'
import { compileHeaderTest, compileQueryTest } from './match-value.ts'
import { trimPrefix } from './path-tree.ts'
import type { RoutedPath } from './request-path.ts'

/** One compiled match of one rule. `P`: what the engine keeps per rule and listener. */
export interface Candidate<P> {
  readonly rule: P
  readonly item: RouteItem
  readonly match: RouteMatch
  /** Number of characters that count for the precedence of its path. */
  readonly length: number
  readonly pattern: RE2JS | undefined
  readonly headers: readonly ((head: Head, path: RoutedPath) => boolean)[]
  readonly query: readonly ((query: URLSearchParams) => boolean)[]
}

export function compileCandidate<P>(item: RouteItem, match: RouteMatch, rule: P): Candidate<P> {
  return {
    rule,
    item,
    match,
    length: lengthOf(match),
    pattern: match.path.type === 'RegularExpression' ? compilePattern(match.path.value) : undefined,
    headers: match.headers.map(compileHeaderTest),
    query: match.queryParams.map(compileQueryTest),
  }
}

/** Compares everything except host and path. */
export function matchesRequest<P>(candidate: Candidate<P>, path: RoutedPath, head: Head): boolean {
  const { match, headers } = candidate
  if (match.method !== undefined && match.method !== head.method) return false
  for (const test of headers) if (!test(head, path)) return false
  return matchesQuery(candidate, path)
}

export function matchesQuery<P>({ query }: Candidate<P>, path: RoutedPath): boolean {
  if (query.length === 0) return true
  const params = new URLSearchParams(path.query)
  for (const test of query) if (!test(params)) return false
  return true
}

/** Whether every request for its path matches. */
export function comparesOnlyPath<P>({ match, headers, query }: Candidate<P>): boolean {
  return match.method === undefined && headers.length === 0 && query.length === 0
}

/** The order in which candidates are tried (Gateway API, HTTPRouteRule; decision A-52). */
export function byRank<P>(a: Candidate<P>, b: Candidate<P>): number {
  return bySpecificity(a, b) || byPrecedence(a.item, b.item)
}

const PATH_TYPES = {
  Exact: 'exact paths',
  PathPrefix: 'prefixes',
  RegularExpression: 'regular expressions',
} as const satisfies Record<RouteMatch['path']['type'], string>

/** Why a candidate that matches, too, is not selected, as text. @param winner the selected one; undefined: it has another hostname */
export function describeLoss<P>(candidate: Candidate<P>, winner: Candidate<P> | undefined): string {
  if (winner === undefined) return 'also matches; routes with a more specific hostname come first'
  const [type, other] = [PATH_TYPES[winner.match.path.type], PATH_TYPES[candidate.match.path.type]]
  if (type !== other) return `also matches; ${type} come before ${other}`
  if (winner.length !== candidate.length) return `also matches; longer ${type} come first`
  if (winner.match.method !== candidate.match.method) return 'also matches; matches with a method come first'
  if (winner.headers.length !== candidate.headers.length) return 'also matches; matches with more headers come first'
  if (winner.query.length !== candidate.query.length) {
    return 'also matches; matches with more query parameters come first'
  }
  return `also matches and is equally specific, but ${describePrecedence(winner.item, candidate.item)} takes precedence`
}

function bySpecificity<P>(a: Candidate<P>, b: Candidate<P>): number {
  return (
    b.length - a.length ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    b.headers.length - a.headers.length ||
    b.query.length - a.query.length
  )
}

function lengthOf({ path }: RouteMatch): number {
  return path.type === 'PathPrefix' ? trimPrefix(path.value).length : path.value.length
}

/** The first condition of a match that a request does not meet, as text; undefined if it matches. */
export function describeMismatch<P>(candidate: Candidate<P>, path: RoutedPath, head: Head): string | undefined {
  const { match } = candidate
  if (!matchesPath(candidate, path.matched)) return `path ${path.matched} is not ${describePath(match)}`
  if (match.method !== undefined && match.method !== head.method) return `method ${head.method} is not ${match.method}`
  for (const [i, test] of candidate.headers.entries()) {
    const wanted = match.headers[i]!
    if (!test(head, path))
      return describeMiss('header', wanted, head.get(wanted.name.toLowerCase()), isCredentialField(wanted.name))
  }
  const params = new URLSearchParams(path.query)
  for (const [i, test] of candidate.query.entries()) {
    const wanted = match.queryParams[i]!
    if (!test(params))
      return describeMiss('query parameter', wanted, params.get(wanted.name), isCredentialParameter(wanted.name))
  }
  return undefined
}

export function matchesPath<P>(candidate: Candidate<P>, path: string): boolean {
  const { type, value } = candidate.match.path
  if (type === 'Exact') return path === value
  if (type === 'RegularExpression') return candidate.pattern?.matches(path) ?? false
  const prefix = trimPrefix(value)
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
}

/** `prefix /api`, `exactly /x`, `matching /a.*` */
export function describePath(match: RouteMatch): string {
  const { type, value } = match.path
  if (type === 'Exact') return `exactly ${value}`
  return type === 'PathPrefix' ? `under prefix ${value}` : `matching ${value}`
}

/** Names the field; values of credentials are not shown. */
function describeMiss(
  what: string,
  { name, value }: { readonly name: string; readonly value: string },
  found: string | null | undefined,
  isCredential: boolean,
): string {
  if (!isCredential) return `${what} ${name} is ${found ?? 'absent'}, not ${value}`
  return `${what} ${name} is ${found === null || found === undefined ? 'absent' : 'a different value'}`
}
