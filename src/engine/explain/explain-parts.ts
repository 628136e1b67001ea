import type { PolicySection } from '#api/policy-fields.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { DestinationBounds } from '#net/destination.ts'
import type { Phase, PolicyItem } from '#plan/item.ts'
import type { EvictionSettings } from '#state/endpoint-health.ts'
import type { LiveBackend, LiveEndpoint } from '../backend/live-backend.ts'
import { RequestedPlaces, type TunnelledPod } from '../backend/place.ts'
import type { Lookups } from '../lookups/lookups.ts'
import type { PlanIndex } from '../lookups/plan-index.ts'
import { mergeSection } from '../merge/build-chain.ts'
import type { Decision } from '../request/decide.ts'
import type { LiveReferences } from '../route/live-listener.ts'

/** A backend reference of a rule. */
export interface ExplainedBackend {
  readonly key: string
  readonly weight: number
  readonly chosen: boolean
}

export interface ExplainedEndpoint {
  readonly label: string
  readonly section: string | undefined
  readonly priority: number
  readonly chosen: boolean
  /** Why it cannot take the request. */
  readonly unfit?: Refusal | undefined
  /** The request names it. */
  readonly named?: true
  /** Connections go through tunnels to a pod of the mesh. */
  readonly meshPod?: TunnelledPod | undefined
  /** Connection limits in each worker, if the object sets them. */
  readonly bounds: DestinationBounds | undefined
  /** Undefined: it is never evicted. */
  readonly eviction: EvictionSettings | undefined
}

/** One effective field: the policies that set it, and those that were overridden. */
export interface EffectivePolicy {
  readonly section: PolicySection
  readonly phase: Phase | undefined
  readonly field: string
  readonly sources: readonly PolicyItem[]
  readonly overridden: readonly PolicyItem[]
}

/** All policies that are merged for these targets. */
export function policiesInForce(
  { section, phase, targets }: Pick<EffectivePolicy, 'section' | 'phase'> & { readonly targets: readonly string[] },
  lookups: Lookups,
): EffectivePolicy[] {
  const merged = mergeSection({ section, phase, targets }, lookups)
  return [...merged.values()].map((field) => ({ section, phase, ...field }))
}

export function explainBackends(
  rule: LiveReferences | undefined,
  chosen: LiveBackend | undefined,
  index: PlanIndex,
): ExplainedBackend[] {
  return (rule?.backends ?? []).map(({ reference, backend }) => ({
    key: reference.backend ?? reference.path,
    weight: reference.weight,
    chosen: chosen !== undefined && backend.get(index) === chosen,
  }))
}

export function explainEndpoints({
  backend,
  endpoint: chosen,
  place,
  unfit,
}: Pick<Decision, 'backend' | 'endpoint' | 'place' | 'unfit'>): ExplainedEndpoint[] {
  return (backend?.groups ?? []).flatMap((group, priority) =>
    group.map((endpoint) => ({
      label: (endpoint === chosen ? place?.label : undefined) ?? endpoint.label,
      section: endpoint.section,
      priority,
      chosen: endpoint === chosen,
      unfit: unfit.find((each) => each.endpoint === endpoint)?.refusal,
      bounds: boundsOf(endpoint.place),
      eviction: endpoint.health.eviction,
      ...(endpoint.place instanceof RequestedPlaces ? { named: true } : { meshPod: endpoint.place.meshPod }),
    })),
  )
}

function boundsOf(place: LiveEndpoint['place']): DestinationBounds | undefined {
  return place instanceof RequestedPlaces ? place.bounds : place.destinations.usual.bounds
}
