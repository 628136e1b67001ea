import type { GrpcRouteMatchSpec } from '#api/grpc-route.ts'
import type { HttpRouteMatchSpec } from '#api/http-route.ts'
import { matchedPath } from '#net/http/path-form.ts'
import type { RouteMatch, ValueMatch } from '#plan/item.ts'

type HeaderMatch = NonNullable<HttpRouteMatchSpec['headers']>[number]

const ANY: RouteMatch = {
  path: { type: 'PathPrefix', value: '/' },
  method: undefined,
  headers: [],
  queryParams: [],
}

/** A rule without matches matches everything. */
export function httpMatches(matches: readonly HttpRouteMatchSpec[] = []): readonly RouteMatch[] {
  return matches.length === 0 ? [ANY] : matches.map(httpMatch)
}

function httpMatch({ path, method, headers, queryParams }: HttpRouteMatchSpec): RouteMatch {
  return {
    path: httpPath(path),
    method,
    headers: headerMatches(headers),
    queryParams: firstOfName((queryParams ?? []).map(valueMatch)),
  }
}

/**
 * Paths are compared in normalized form (decision A-51). A prefix matches whole path elements, so `/a/` and `/a` are the same prefix
 * (Gateway API, PathPrefix).
 */
function httpPath({ type, value }: HttpRouteMatchSpec['path']): RouteMatch['path'] {
  if (type === 'RegularExpression') return { type, value }
  if (type === 'Exact') return { type, value: matchedPath(value) }
  return { type, value: matchedPath(value).replace(/\/+$/, '') || '/' }
}

/** gRPC methods are paths: `/service/method` (decision A-52). */
export function grpcMatches(matches: readonly GrpcRouteMatchSpec[] = []): readonly RouteMatch[] {
  return matches.length === 0
    ? [ANY]
    : matches.map(({ method, headers }) => ({
        path: grpcPath(method),
        method: undefined,
        headers: headerMatches(headers),
        queryParams: [],
      }))
}

function grpcPath(call: GrpcRouteMatchSpec['method']): RouteMatch['path'] {
  if (call === undefined) return ANY.path
  const { type, service, method } = call
  if (type === 'RegularExpression') {
    return { type, value: `/${group(service)}/${group(method)}` }
  }
  if (service !== undefined && method !== undefined) return { type: 'Exact', value: `/${service}/${method}` }
  if (service !== undefined) return { type: 'PathPrefix', value: `/${service}/` }
  return { type: 'RegularExpression', value: `/[^/]+/${method!.replace(/[^A-Za-z0-9_]/g, '\\$&')}` }
}

/** The pattern of one path element; undefined: any. */
function group(expression: string | undefined): string {
  return expression === undefined ? '[^/]+' : `(?:${expression})`
}

/** Header names are case-insensitive. Of several matches for one name, only the first applies (Gateway API). */
function headerMatches(headers: readonly HeaderMatch[] = []): readonly ValueMatch[] {
  return firstOfName(headers.map((header) => valueMatch({ ...header, name: header.name.toLowerCase() })))
}

function valueMatch({ name, type, value }: HeaderMatch): ValueMatch {
  return { name, type, value }
}

function firstOfName(matches: readonly ValueMatch[]): readonly ValueMatch[] {
  const seen = new Set<string>()
  return matches.filter(({ name }) => !seen.has(name) && seen.add(name))
}
