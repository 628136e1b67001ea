import type { GRPCRouteObject } from '#api/grpc-route.ts'
import type { HTTPRouteObject } from '#api/http-route.ts'
import type { TCPRouteObject } from '#api/tcp-route.ts'
import type { TLSRouteObject } from '#api/tls-route.ts'

export type RequestRouteObject = HTTPRouteObject | GRPCRouteObject
/** Routes for connections, whose bytes are relayed unchanged. */
export type RelayRouteObject = TCPRouteObject | TLSRouteObject
export type RouteObject = RequestRouteObject | RelayRouteObject

export function isRelayRoute(route: RouteObject): route is RelayRouteObject {
  return route.kind === 'TCPRoute' || route.kind === 'TLSRoute'
}
