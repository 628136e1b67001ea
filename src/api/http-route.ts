import { pathFault } from '#net/http/path-form.ts'
import {
  type ConfigProblem,
  defaulted,
  enumOf,
  fieldPath,
  httpHeaderName,
  list,
  listMap,
  openObject,
  optional,
  type Parsed,
  problem,
  REFERENCE_MEANINGS,
  required,
  SERVICE_PORT_RULE,
  sectionName,
  text,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import { MATCH_TYPES, PATH_MATCH, REQUEST_MATCH, ROUTE, RULE } from './meanings.ts'
import { type ObjectOf, platformKind } from './object.ts'
import {
  backendReferenceFields,
  headerMatches,
  hostname,
  matchType,
  platformStatus,
  routeFields,
  weight,
} from './platform-fields.ts'
import { httpRouteFilter, PATH_TEXT, routeRetry, routeTimeouts } from './route-filters.ts'
import { sessionPersistence } from './session-persistence.ts'

const ODD_PATH = /\/\/|%2f|%5c|#/i

/**
 * As in the Gateway API for `Exact` and `PathPrefix`: a path that servers could read differently is invalid, and so is a path that no
 * request can have (decision A-51).
 */
function checkPath(match: { readonly type: string; readonly value: string }, path: string): readonly ConfigProblem[] {
  const { type, value } = match
  if (type === 'RegularExpression') return []
  const at = fieldPath(path, 'value')
  if (!value.startsWith('/')) return [problem(at, 'invalid-path', 'must start with /')]
  const odd = ODD_PATH.exec(value)?.[0] ?? pathFault(value)
  if (odd !== undefined) return [problem(at, 'invalid-path', `must not contain ${odd}`)]
  if (PATH_TEXT.test(value)) return []
  const advice = value.includes('?') ? '; match parameters with queryParams' : ', others as %XX'
  return [problem(at, 'invalid-path', `must have only characters of a path (RFC 3986)${advice}`)]
}

const pathMatch = withRule(
  withMeanings(
    PATH_MATCH,
    openObject({
      type: defaulted(
        withMeanings(MATCH_TYPES, enumOf('Exact', 'PathPrefix', 'RegularExpression')),
        'PathPrefix',
        'How the path is matched.',
      ),
      value: defaulted(text({ max: 1024 }), '/', 'Path, path prefix or regular expression to match.'),
    }),
  ),
  {
    reads: ['type', 'value'],
    description:
      'A path starts with /, has only characters of a path (RFC 3986, 3.3), no empty, . or .. segments, no %2f or %5c, and no malformed escapes.',
    check: checkPath,
  },
)

const ANY_PATH = { type: 'PathPrefix' as const, value: '/' }

const httpRouteMatch = withMeanings(
  REQUEST_MATCH,
  openObject({
    path: defaulted(pathMatch, ANY_PATH, 'Path of the request.'),
    headers: optional(headerMatches, 'Request headers to match. All of them must match.'),
    queryParams: optional(
      listMap(
        'name',
        openObject({
          type: matchType,
          name: required(httpHeaderName(), 'Name of the parameter.'),
          value: required(text({ min: 1, max: 1024 }), 'Value or regular expression to match.'),
        }),
        { max: 16 },
      ),
      'Query parameters to match. All of them must match.',
    ),
    method: optional(
      enumOf('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'),
      'Method of the request to match.',
    ),
  }),
)

const httpBackendRef = withRule(
  withMeanings(
    REFERENCE_MEANINGS,
    openObject({
      ...backendReferenceFields,
      weight,
      filters: optional(list(httpRouteFilter, { max: 16 }), 'Filters for requests to this backend.'),
    }),
  ),
  SERVICE_PORT_RULE,
)

const httpRouteRule = withMeanings(
  RULE,
  openObject({
    name: optional(sectionName(), 'Name of the rule. Policies target it with this name as sectionName.'),
    matches: defaulted(
      list(httpRouteMatch, { max: 64 }),
      [{ path: ANY_PATH }],
      'Matches of the rule, any of which must match.',
    ),
    filters: optional(list(httpRouteFilter, { max: 16 }), 'Filters for matched requests.'),
    backendRefs: optional(list(httpBackendRef, { max: 16 }), 'Backends of matched requests.'),
    timeouts: optional(routeTimeouts, 'Timeouts of matched requests.'),
    retry: optional(routeRetry, 'Retries of matched requests.'),
    sessionPersistence: optional(sessionPersistence, 'Keeps clients at one endpoint.'),
  }),
)

const httpRouteSpec = withMeanings(
  ROUTE,
  openObject({
    ...routeFields,
    hostnames: optional(list(hostname(), { max: 16 }), 'Host names of the route. When unset, any host.'),
    rules: defaulted(list(httpRouteRule, { min: 1, max: 16 }), [{ matches: [{ path: ANY_PATH }] }], 'Routing rules.'),
  }),
)

export const httpRoute = platformKind('HTTPRoute', {
  spec: required(httpRouteSpec, 'Desired state.'),
  status: platformStatus,
})

export type HttpRouteMatchSpec = Parsed<typeof httpRouteMatch>
export type HttpBackendRefSpec = Parsed<typeof httpBackendRef>
export type HttpRouteRuleSpec = Parsed<typeof httpRouteRule>
export type HttpRouteSpec = Parsed<typeof httpRouteSpec>
export type HTTPRouteObject = ObjectOf<typeof httpRoute>
