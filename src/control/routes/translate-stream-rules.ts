import { keyOf } from '#api/object.ts'
import { type Destination, destinationOf } from '#api/proxy-backend.ts'
import type { StreamRuleSpec } from '#api/stream-route-rules.ts'
import type { WeightedBackend } from '#plan/item.ts'
import { ruleTarget } from '#plan/target.ts'
import type { StreamRouteObject } from './attach-route.ts'
import { type At, type Progress, useBackend } from './route-progress.ts'

type StreamProgress = Progress<StreamRouteObject>
type WeightedRef = NonNullable<StreamRuleSpec['backendRefs']>[number]

/** The rules of a TCPRoute or TLSRoute. */
export function translateStreamRules(progress: StreamProgress): void {
  for (const [index, rule] of progress.object.spec.rules.entries()) translateRule(progress, rule, index)
}

function translateRule(progress: StreamProgress, rule: StreamRuleSpec, index: number): void {
  const { object, attachments } = progress
  const { namespace, name, creationTimestamp } = object.metadata
  const target = ruleTarget(object.kind, object.metadata, index)
  progress.items.push({
    kind: 'stream-route',
    key: `${keyOf(object)}/${index}`,
    route: { kind: object.kind, namespace, name },
    rule: index,
    ruleName: rule.name,
    created: creationTimestamp ?? '',
    attachments,
    backends: (rule.backendRefs ?? []).map((ref, i) =>
      resolveRouteBackend(progress, ref, { path: `spec.rules[${index}].backendRefs[${i}]`, target }),
    ),
    origin: object.origin,
  })
}

/** Backends that speak a protocol of requests have no place for the bytes of a connection. */
const TAKES_BYTES: ReadonlySet<Destination> = new Set(['static', 'dynamicForwardProxy'])

/** A reference that leads nowhere keeps its weight: its share of the connections is closed. */
function resolveRouteBackend(progress: StreamProgress, ref: WeightedRef, at: At): WeightedBackend {
  const { weight } = ref
  const { path } = at
  const { inventory } = progress.scope
  const key = useBackend(progress, ref, at)
  const backend = inventory.find('ProxyBackend', ref.namespace ?? progress.object.metadata.namespace, ref.name)
  if (key === undefined || ref.kind !== 'ProxyBackend' || backend === undefined) return { backend: key, weight, path }
  const type = destinationOf(backend)
  if (TAKES_BYTES.has(type)) return { backend: key, weight, path }
  const message = `ProxyBackend ${backend.metadata.namespace}/${ref.name} is of type ${type}, which takes requests; a ${progress.object.kind} needs one of type static, or a Service`
  progress.report({ path, code: 'backend-takes-requests', message, severity: 'error' })
  progress.resolvedRefs.push({ reason: 'UnsupportedProtocol', message })
  return { backend: undefined, weight, path }
}
