import { policyDefinition } from '#api/policy-fields.ts'
import type { Origin } from '#base/origin.ts'
import type { Explanation } from '#engine/explain/explain.ts'
import type { EffectivePolicy } from '#engine/explain/explain-parts.ts'
import type { PolicyItem, RelayRouteItem, RouteItem } from '#plan/item.ts'
import type { EvictionSettings } from '#state/endpoint-health.ts'
import type { CheckedObjects } from '#store/store.ts'

// Common parts of explanations of requests and of connections.

/** Source position of a field, in parentheses; empty for objects that are not from files. */
export type Where = (origin: Origin, path: string) => string

/** Formats positions like `policies.yaml:12`. */
export function locator(store: CheckedObjects): Where {
  return (origin, path) => position(store, origin, path)
}

function position(store: CheckedObjects, origin: Origin, path: string): string {
  const found = store.locate(origin, path)
  if (found !== undefined) return ` (${found.file}:${found.line})`
  return origin.file === undefined ? '' : ` (${origin.file}:${origin.line ?? 1})`
}

export function nameOf({ kind, namespace, name }: Origin): string {
  return `${kind} ${namespace}/${name}`
}

export function formatListener({ listener }: Pick<Explanation, 'listener'>, where: Where): string[] {
  if (listener === undefined) return ['listener  no listener matches this host', '']
  const host = listener.hostname === '' ? 'any host' : `host ${listener.hostname}`
  return [
    `listener  ${listener.name} of ${nameOf(listener.origin)}, ${listener.protocol} ${listener.address}:${listener.port}, ${host}${where(listener.origin, 'spec.listeners')}`,
    '',
  ]
}

/** A rule by route, number and name. */
export function describeRule({ origin, rule, ruleName }: RouteItem | RelayRouteItem, where: Where): string {
  const name = ruleName === undefined ? `rule ${rule}` : `rule ${rule} (${ruleName})`
  return `${nameOf(origin)}, ${name}${where(origin, `spec.rules[${rule}]`)}`
}

export function formatPolicies(policies: readonly EffectivePolicy[], where: Where): string[] {
  if (policies.length === 0) return ['policies  none', '']
  const lines = ['effective policies, and the policies they override']
  for (const { section, phase, field, sources, overridden } of policies) {
    const name = policyDefinition(section, field)?.writtenAs ?? `${section}.${field}`
    lines.push(`  ${name}${phase === 'PreRouting' ? ' (PreRouting)' : ''}`)
    for (const source of sources) lines.push(`      set by ${describeSource(source, where)}`)
    for (const loser of overridden) lines.push(`      over   ${describeSource(loser, where)}`)
  }
  return [...lines, '']
}

function describeSource(item: PolicyItem, where: Where): string {
  return `${nameOf(item.origin)} ${item.path}, level ${item.level}${where(item.origin, item.path)}`
}

/** The addresses of a name are judged when they are dialled (decision A-96). */
const NAMED = ' (named by the request; its address is checked when it is dialled)'

export function formatBackend({ backends, endpoints }: Pick<Explanation, 'backends' | 'endpoints'>): string[] {
  if (backends.length === 0) return []
  const lines = ['backend']
  for (const { key, weight, chosen } of backends) {
    const share = backends.length === 1 ? '' : `, weight ${weight}`
    lines.push(`  ${chosen ? '>' : ' '} ${key}${share}`)
  }
  const groups = new Set(endpoints.map(({ priority }) => priority)).size
  for (const { label, section, priority, chosen, unfit, named, bounds, eviction } of endpoints) {
    const group = groups > 1 ? `, priority ${priority + 1}` : ''
    lines.push(
      `    ${chosen ? '>' : ' '} ${label}${section === undefined ? '' : ` (${section})`}${group}${named === true ? NAMED : ''}`,
    )
    if (unfit !== undefined) lines.push(`      cannot take the request: ${unfit.code}, ${unfit.detail}`)
    if (eviction !== undefined) lines.push(`      ${describeEviction(eviction)}`)
    if (bounds === undefined) continue
    const { maxConnections, maxWaiting } = bounds
    lines.push(`      at most ${maxConnections} connections and ${maxWaiting} queued requests in each worker`)
  }
  return [...lines, '']
}

/** The states of an endpoint and what moves it between them (specification 1, section 3). */
function describeEviction({
  consecutiveFailures,
  healthThreshold,
  durationMs,
  restoreHealth,
}: EvictionSettings): string {
  const causes = [
    consecutiveFailures !== undefined && consecutiveFailures > 0 && describeFailures(consecutiveFailures),
    healthThreshold !== undefined && `an unhealthy response that leaves a health below ${healthThreshold}`,
    consecutiveFailures === undefined && healthThreshold === undefined && describeFailures(1),
  ].filter((cause) => cause !== false)
  if (causes.length === 0) return 'never evicted: consecutiveFailures is 0'
  const time = `for ${durationMs / 1000} s times the number of evictions so far`
  return `evicted after ${causes.join(' or ')}, ${time}; returns with ${restoreHealth === undefined ? 'the health that it had' : `health ${restoreHealth}`}`
}

function describeFailures(count: number): string {
  return count === 1 ? 'an unhealthy response' : `${count} consecutive unhealthy responses`
}
