import {
  atLeastOne,
  type ConfigProblem,
  fieldPath,
  list,
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
import { ROUTE, RULE } from './meanings.ts'
import { type ObjectOf, platformKind } from './object.ts'
import {
  backendReferenceFields,
  headerMatches,
  hostname,
  matchType,
  platformStatus,
  routeFields,
  unread,
  weight,
} from './platform-fields.ts'
import { grpcRouteFilter } from './route-filters.ts'
import { sessionPersistence } from './session-persistence.ts'

const NAMES = {
  service: /^\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$/i,
  method: /^[a-z_][a-z_0-9]*$/i,
}

/** Names that a service and a method can have (Gateway API, GRPCMethodMatch). */
function checkNames(
  match: { readonly type: string; readonly service?: string | undefined; readonly method?: string | undefined },
  path: string,
): readonly ConfigProblem[] {
  if (match.type !== 'Exact') return []
  return (['service', 'method'] as const).flatMap((field) => {
    const name = match[field]
    if (name === undefined || NAMES[field].test(name)) return []
    const dots = field === 'service' ? ', "_" and "."' : ' and "_"'
    return [problem(fieldPath(path, field), 'invalid-name', `must be a name: letters, digits${dots}, no digit first`)]
  })
}

const grpcRouteMatch = openObject({
  method: optional(
    atLeastOne(
      ['service', 'method'],
      withRule(
        openObject({
          type: matchType,
          service: optional(text({ max: 1024 }), 'Name of the service.'),
          method: optional(text({ max: 1024 }), 'Name of the method.'),
        }),
        {
          reads: ['type', 'service', 'method'],
          description: 'With type Exact, service and method are names of Protocol Buffers.',
          check: checkNames,
        },
      ),
    ),
    'gRPC service and method to match.',
  ),
  headers: optional(headerMatches, 'Request headers to match. All of them must match.'),
})

const grpcBackendRef = withRule(
  withMeanings(
    REFERENCE_MEANINGS,
    openObject({
      ...backendReferenceFields,
      weight,
      filters: optional(list(grpcRouteFilter, { max: 16 }), 'Filters for requests to this backend.'),
    }),
  ),
  SERVICE_PORT_RULE,
)

const grpcRouteRule = withMeanings(
  RULE,
  openObject({
    name: optional(sectionName(), 'Name of the rule. Policies target it with this name as sectionName.'),
    matches: optional(
      list(grpcRouteMatch, { max: 64 }),
      'Matches of the rule, any of which must match. When unset, the rule matches every request.',
    ),
    filters: optional(list(grpcRouteFilter, { max: 16 }), 'Filters for matched requests.'),
    backendRefs: optional(list(grpcBackendRef, { max: 16 }), 'Backends of matched requests.'),
    sessionPersistence: optional(sessionPersistence, 'Keeps clients at one endpoint.'),
    ...unread('retry', 'timeouts'),
  }),
)

const grpcRouteSpec = withMeanings(
  ROUTE,
  openObject({
    ...routeFields,
    hostnames: optional(list(hostname(), { max: 16 }), 'Host names of the route. When unset, any host.'),
    rules: optional(list(grpcRouteRule, { max: 16 }), 'Routing rules.'),
  }),
)

export const grpcRoute = platformKind('GRPCRoute', {
  spec: required(grpcRouteSpec, 'Desired state.'),
  status: platformStatus,
})

export type GrpcRouteMatchSpec = Parsed<typeof grpcRouteMatch>
export type GrpcRouteRuleSpec = Parsed<typeof grpcRouteRule>
export type GRPCRouteObject = ObjectOf<typeof grpcRoute>
