import {
  atLeastOne,
  list,
  openObject,
  optional,
  type Parsed,
  required,
  SERVICE_PORT_RULE,
  sectionName,
  text,
  withRule,
} from '#schema/index.ts'
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

const grpcRouteMatch = openObject({
  method: optional(
    atLeastOne(
      ['service', 'method'],
      openObject({
        type: matchType,
        service: optional(text({ max: 1024 }), 'Name of the service.'),
        method: optional(text({ max: 1024 }), 'Name of the method.'),
      }),
    ),
    'Service and method called.',
  ),
  headers: optional(headerMatches, 'Headers of the call, all of which must match.'),
})

const grpcBackendRef = withRule(
  openObject({
    ...backendReferenceFields,
    weight,
    filters: optional(list(grpcRouteFilter, { max: 16 }), 'Filters for calls to this backend.'),
  }),
  SERVICE_PORT_RULE,
)

const grpcRouteRule = openObject({
  name: optional(sectionName(), 'Name of the rule; the sectionName by which policies reach it.'),
  matches: optional(list(grpcRouteMatch, { max: 64 }), 'Calls that the rule is for; all when unset.'),
  filters: optional(list(grpcRouteFilter, { max: 16 }), 'What happens to these calls.'),
  backendRefs: optional(list(grpcBackendRef, { max: 16 }), 'Where they go.'),
  ...unread('sessionPersistence', 'retry', 'timeouts'),
})

const grpcRouteSpec = openObject({
  ...routeFields,
  hostnames: optional(list(hostname(), { max: 16 }), 'Hostnames that the route is for; any when unset.'),
  rules: optional(list(grpcRouteRule, { max: 16 }), 'Rules.'),
})

export const grpcRoute = platformKind('GRPCRoute', {
  spec: required(grpcRouteSpec, 'What is wanted.'),
  status: platformStatus,
})

export type GrpcRouteMatchSpec = Parsed<typeof grpcRouteMatch>
export type GrpcRouteRuleSpec = Parsed<typeof grpcRouteRule>
export type GRPCRouteObject = ObjectOf<typeof grpcRoute>
