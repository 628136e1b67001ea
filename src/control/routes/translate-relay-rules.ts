import { type Destination, destinationOf } from '#api/proxy-backend.ts'
import type { RelayRuleSpec } from '#api/relay-rules.ts'
import type { WeightedBackend } from '#plan/item.ts'
import { ruleTarget } from '#plan/target.ts'
import { checkRuleNames } from './check-rules.ts'
import type { RelayRouteObject } from './route-object.ts'
import { type Progress, type ReferenceSource, reportFaults, ruleItem, useBackend } from './route-progress.ts'

type RelayProgress = Progress<RelayRouteObject>
type WeightedRef = NonNullable<RelayRuleSpec['backendRefs']>[number]

/** The rules of a TCPRoute or TLSRoute. */
export function translateRelayRules(progress: RelayProgress): void {
  const { rules } = progress.object.spec
  reportFaults(progress, checkRuleNames(rules))
  for (const [index, rule] of rules.entries()) translateRule(progress, rule, index)
}

function translateRule(progress: RelayProgress, rule: RelayRuleSpec, index: number): void {
  const { kind, metadata } = progress.object
  const target = ruleTarget(kind, metadata, index)
  progress.items.push({
    kind: 'relay-route',
    ...ruleItem(progress, rule, index),
    backends: (rule.backendRefs ?? []).map((ref, i) =>
      resolveRouteBackend(progress, ref, { path: `spec.rules[${index}].backendRefs[${i}]`, target }),
    ),
  })
}

/** Types of backends that can receive relayed bytes; the others require requests. Only TLS connections name a destination. */
const RELAY_TYPES: Readonly<Record<'TCPRoute' | 'TLSRoute', readonly Destination[]>> = {
  TCPRoute: ['static'],
  TLSRoute: ['static', 'dynamicForwardProxy'],
}

/** A reference that cannot be resolved keeps its weight: its share of the connections is closed. */
function resolveRouteBackend(progress: RelayProgress, ref: WeightedRef, at: ReferenceSource): WeightedBackend {
  const { weight } = ref
  const { path } = at
  const { inventory } = progress.context
  const key = useBackend(progress, ref, at)
  const backend = inventory.find('ProxyBackend', ref.namespace ?? progress.object.metadata.namespace, ref.name)
  if (key === undefined || ref.kind !== 'ProxyBackend' || backend === undefined) return { backend: key, weight, path }
  const type = destinationOf(backend)
  const types = RELAY_TYPES[progress.object.kind]
  if (types.includes(type)) return { backend: key, weight, path }
  const message = `ProxyBackend ${backend.metadata.namespace}/${ref.name} is of type ${type}; a ${progress.object.kind} requires a ProxyBackend of type ${types.join(' or ')}, or a Service`
  progress.report({ path, code: 'backend-takes-requests', message, severity: 'error' })
  progress.resolvedRefs.push({ reason: 'UnsupportedProtocol', message })
  return { backend: undefined, weight, path }
}
