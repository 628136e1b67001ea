import type { GatewayObject } from '#api/gateway.ts'
import { keyOf } from '#api/object.ts'
import { type TranslatedBackend, translateBackend } from './backends/translate-backend.ts'
import { type PlacedGateways, placeGateways } from './gateways/place-gateways.ts'
import { type PlacedPolicy, placePolicy } from './policies/place-policy.ts'
import type { TranslatedRoute } from './routes/translate-route.ts'
import { type RouteMemo, translateRoutes } from './routes/translate-routes.ts'
import type { Scope } from './scope.ts'

/** Which objects belong to which. */
export interface Attached {
  readonly gateways: PlacedGateways
  readonly routes: readonly TranslatedRoute[]
  readonly backends: readonly TranslatedBackend[]
  /** Names that a `sectionName` can have, by key of the backend. */
  readonly sections: ReadonlyMap<string, readonly string[]>
  readonly policies: readonly PlacedPolicy[]
}

/** Finds the listeners of Gateways, the listeners of routes, the sections of backends and the places of policies. */
export function attach(scope: Scope, addressOf: (gateway: GatewayObject) => string, memo: RouteMemo): Attached {
  const { inventory, reportOn } = scope
  const gateways = placeGateways({ ...scope, addressOf })
  const routes = translateRoutes(scope, gateways, memo)
  const backends = inventory.all('ProxyBackend').map((it) => translateBackend(scope, it, reportOn(it)))
  const sections = new Map(backends.map(({ object, sections: names }) => [keyOf(object), names]))
  const places = { inventory, listeners: gateways.listeners, sections }
  const policies = inventory.all('ProxyPolicy').map((it) => placePolicy(places, it))
  return { gateways, routes, backends, sections, policies }
}
