import { trimSpace } from '#base/byte-text.ts'
import { isMethod } from '#net/http/field-syntax.ts'
import type { Head } from '#net/http/head.ts'
import { type Candidate, matchesQuery } from './candidate.ts'
import type { RoutedPath } from './request-path.ts'

/** The request that a preflight announces (Fetch, 4.8). */
export interface AnnouncedRequest {
  /** What is known of it: the preflight, with the method of the request. */
  readonly head: Head
  /** Names of fields that it has, with values that are not known, in lower case. */
  readonly fields: ReadonlySet<string>
}

/** @returns undefined if the request is no preflight */
export function announcedBy(request: Head): AnnouncedRequest | undefined {
  if (request.method !== 'OPTIONS' || !request.has('origin')) return undefined
  const method = request.get('access-control-request-method')
  // Nobody can send a request with another one.
  if (method === undefined || !isMethod(method)) return undefined
  const head = request.clone()
  head.method = method
  const names = request.joined('access-control-request-headers') ?? ''
  return { head, fields: new Set(names.toLowerCase().split(',').map(trimSpace)) }
}

/** Compares everything except host and path. @returns `may` if it depends on the value of an announced field */
export function matchesAnnounced<P>(
  candidate: Candidate<P>,
  path: RoutedPath,
  { head, fields }: AnnouncedRequest,
): boolean | 'may' {
  const { match, headers } = candidate
  if (match.method !== undefined && match.method !== head.method) return false
  let depends = false
  for (const [i, test] of headers.entries()) {
    if (test(head, path)) continue
    if (!fields.has(match.headers[i]!.name.toLowerCase())) return false
    depends = true
  }
  if (!matchesQuery(candidate, path)) return false
  return depends ? 'may' : true
}
