import { list, openObject, optional, required } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { hostname, platformStatus, routeFields } from './platform-fields.ts'
import { relayRules } from './relay-rules.ts'

export const tlsRoute = platformKind('TLSRoute', {
  spec: required(
    openObject({
      ...routeFields,
      hostnames: optional(
        list(hostname(), { max: 1024 }),
        'Server names (SNI) of the route. When unset, any server name.',
      ),
      rules: relayRules,
    }),
    'Desired state.',
  ),
  status: platformStatus,
})

export type TLSRouteObject = ObjectOf<typeof tlsRoute>
