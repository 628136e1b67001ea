import { list, openObject, optional, type Parsed, required, sectionName } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { hostname, platformStatus, routeFields, weightedBackendReference } from './platform-fields.ts'

const streamRule = openObject({
  name: optional(sectionName(), 'Name of the rule.'),
  backendRefs: optional(list(weightedBackendReference, { max: 16 }), 'Where connections go.'),
})

const rules = required(list(streamRule, { min: 1, max: 16 }), 'Rules.')

export const tcpRoute = platformKind('TCPRoute', {
  spec: required(openObject({ ...routeFields, rules }), 'What is wanted.'),
  status: platformStatus,
})

export const tlsRoute = platformKind('TLSRoute', {
  spec: required(
    openObject({
      ...routeFields,
      hostnames: optional(list(hostname(), { max: 16 }), 'Server names that the route is for; any when unset.'),
      rules,
    }),
    'What is wanted.',
  ),
  status: platformStatus,
})

export type StreamRuleSpec = Parsed<typeof streamRule>
export type TCPRouteObject = ObjectOf<typeof tcpRoute>
export type TLSRouteObject = ObjectOf<typeof tlsRoute>
