import type { GatewayClassObject } from '#api/gateway-class.ts'
import type { TranslatedBackend } from '../backends/translate-backend.ts'
import type { PlacedGateways } from '../gateways/place-gateways.ts'
import type { Overlap } from '../policies/find-overlaps.ts'
import type { PlacedPolicy } from '../policies/place-policy.ts'
import type { Reach } from '../reach.ts'
import type { TranslatedRoute } from '../routes/translate-route.ts'

/** What statuses are made of. */
export interface StatusFacts {
  readonly classes: readonly GatewayClassObject[]
  readonly gateways: PlacedGateways
  readonly routes: readonly TranslatedRoute[]
  /** Keys of Service backends without an endpoint. */
  readonly idleServices: ReadonlySet<string>
  readonly backends: readonly TranslatedBackend[]
  readonly policies: readonly PolicyFacts[]
  readonly reach: Reach
}

export interface PolicyFacts extends PlacedPolicy {
  readonly overlaps: readonly Overlap[]
}
