import { policyDefinition } from '#api/policy-fields.ts'
import type { Origin } from '#base/origin.ts'
import { describeOrigin } from '#base/origin.ts'
import type { EffectivePolicy, ExplainedEndpoint } from '#engine/explain/explain-parts.ts'
import type { ListenerItem, PolicyItem, RelayRouteItem, RouteItem } from '#plan/item.ts'
import type { CheckedObjects } from '#store/store.ts'
import type {
  DescribedEndpoint,
  DescribedListener,
  DescribedPolicy,
  DescribedRule,
  DescribedSource,
  Placed,
} from './described-explanation.ts'

// Common parts of explanations of requests and of connections.

/** Finds where a field of an object is written. */
export type Locate = (origin: Origin, path: string) => Placed

export function locator(store: Pick<CheckedObjects, 'locate'>): Locate {
  return (origin, path) => {
    const { kind, namespace, name, file, line = 1 } = origin
    const object = describeOrigin({ kind, namespace, name })
    const found = store.locate(origin, path)
    if (found !== undefined) return { object, file: found.file, line: found.line }
    return file === undefined ? { object } : { object, file, line }
  }
}

/** The members that are set. */
export function setMembers<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}

export function describeListener(item: ListenerItem, locate: Locate): DescribedListener {
  const { name, protocol, address, port, hostname, origin } = item
  return { ...locate(origin, 'spec.listeners'), name, protocol, address, port, hostname }
}

export function describeRule({ origin, rule, ruleName }: RouteItem | RelayRouteItem, locate: Locate): DescribedRule {
  return { ...locate(origin, `spec.rules[${rule}]`), rule, ...setMembers({ ruleName }) }
}

export function describePolicies(policies: readonly EffectivePolicy[], locate: Locate): readonly DescribedPolicy[] {
  return policies.map(({ section, phase, field, sources, overridden }) => ({
    field: `${section}.${field}`,
    ...setMembers({ writtenAs: policyDefinition(section, field)!.writtenAs, phase }),
    sources: sources.map((item) => describeSource(item, locate)),
    overridden: overridden.map((item) => describeSource(item, locate)),
  }))
}

function describeSource({ origin, path, level }: PolicyItem, locate: Locate): DescribedSource {
  return { ...locate(origin, path), path, level }
}

export function describeEndpoints(endpoints: readonly ExplainedEndpoint[]): readonly DescribedEndpoint[] {
  return endpoints.map(({ label, section, priority, chosen, unfit, named, meshPod, bounds, eviction }) => ({
    label,
    priority: priority + 1,
    chosen,
    ...setMembers({
      section,
      unfit: unfit && { code: unfit.code, ...setMembers({ detail: unfit.detail }) },
      named,
      meshPod,
      maxConnections: bounds?.maxConnections,
      maxWaiting: bounds?.maxWaiting,
      eviction: eviction && { durationMs: eviction.durationMs, ...setMembers(eviction) },
    }),
  }))
}
