import { list, openObject, optional, required } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { hostname, platformStatus, routeFields } from './platform-fields.ts'
import { relayRules } from './relay-rules.ts'

export const tlsRoute = platformKind('TLSRoute', {
  spec: required(
    openObject({
      ...routeFields,
      hostnames: optional(list(hostname(), { max: 16 }), 'Server names that the route is for; any when unset.'),
      rules: relayRules,
    }),
    'What is wanted.',
  ),
  status: platformStatus,
})

export type TLSRouteObject = ObjectOf<typeof tlsRoute>
