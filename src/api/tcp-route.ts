import { openObject, required } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { platformStatus, routeFields } from './platform-fields.ts'
import { relayRules } from './relay-rules.ts'

export const tcpRoute = platformKind('TCPRoute', {
  spec: required(openObject({ ...routeFields, rules: relayRules }), 'Desired state.'),
  status: platformStatus,
})

export type TCPRouteObject = ObjectOf<typeof tcpRoute>
