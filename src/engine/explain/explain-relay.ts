import type { Refusal } from '#exchange/outcome.ts'
import type { ListenerItem, RelayRouteItem } from '#plan/item.ts'
import { backendTargets } from '../backend/backend-targets.ts'
import { RecordedLookups } from '../lookups/lookups.ts'
import type { PlanIndex } from '../lookups/plan-index.ts'
import { decideRelay } from '../request/decide-relay.ts'
import type { LiveRelayListener } from '../route/live-listener.ts'
import {
  type EffectivePolicy,
  type ExplainedBackend,
  type ExplainedEndpoint,
  explainBackends,
  explainEndpoints,
  policiesInForce,
} from './explain-parts.ts'

/** What the engine would do with one connection, and because of which objects. */
export interface RelayExplanation {
  readonly listener: ListenerItem
  readonly route: RelayRouteItem | undefined
  readonly policies: readonly EffectivePolicy[]
  readonly backends: readonly ExplainedBackend[]
  readonly endpoints: readonly ExplainedEndpoint[]
  /** Undefined: the connection would be relayed. */
  readonly refusal: Refusal | undefined
}

/** Runs the engine of the proxy on a connection and reports its decision. */
export function explainRelay(index: PlanIndex, listener: LiveRelayListener, serverName: string): RelayExplanation {
  // A fixed draw makes the result reproducible.
  const { rule, backend, endpoint, place, refusal } = decideRelay({ index, random: () => 0 }, listener, serverName)
  const { item, targets } = listener
  const lookups = new RecordedLookups(index)
  const toBackend = backend === undefined ? [] : [...targets, ...backendTargets(backend.item, undefined)]
  return {
    listener: item,
    route: rule?.item,
    policies: [
      ...policiesInForce({ section: 'backend', phase: undefined, targets: toBackend }, lookups),
      ...policiesInForce({ section: 'frontend', phase: undefined, targets }, lookups),
    ],
    backends: explainBackends(rule, backend, index),
    endpoints: explainEndpoints({ backend, endpoint, place, unfit: [] }),
    refusal,
  }
}
