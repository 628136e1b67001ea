import { policyDefinition } from '#api/policy-fields.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { BackendItem, PolicyItem, RouteItem } from '#plan/item.ts'
import type { BackendNeed } from '#policies/policy.ts'
import type { Address } from '#protocols/address.ts'
import { bindProtocol } from '../backend/bind-protocol.ts'
import type { Lookups } from '../lookups/lookups.ts'

/**
 * Finds the parts of a policy for a route, a rule or a `backendRef` that have no effect, because none of its backends supports them. A policy for a
 * Gateway is not checked, because the backends of its routes may differ.
 */
export function unmetNeeds(item: PolicyItem, lookups: Lookups): readonly ConfigProblem[] {
  const needs: readonly BackendNeed[] = policyDefinition(item.section, item.field)?.needs?.(item.spec as never) ?? []
  if (needs.length === 0) return []
  const backends = backendsAt(item.target, lookups)
  if (backends.length === 0) return []
  return needs
    .filter((need) => !backends.some((backend) => HAS[need.backendsWith](backend, lookups)))
    .map(({ path, backendsWith, otherwise }) => {
      const message = `has no effect: no backend of ${describeTarget(item.target)} ${LACKS[backendsWith]}; ${otherwise}`
      return { path, code: 'no-effect', message, severity: 'warning' }
    })
}

const HAS: Readonly<Record<BackendNeed['backendsWith'], (backend: BackendItem, lookups: Lookups) => boolean>> = {
  hostname: (backend, lookups) => addressesOf(backend, lookups).some(({ hostname }) => hostname !== undefined),
  tokens: (backend) => bindProtocol(backend).name === 'llm',
  // Requests for MCP backends end at the gateway, which calls the targets itself.
  forwarding: (backend) => bindProtocol(backend).name !== 'mcp',
  target: (backend, lookups) => addressesOf(backend, lookups).every(({ target }) => target === undefined),
}

const LACKS = {
  hostname: 'has a hostname',
  tokens: 'is an AI backend',
  forwarding: 'receives forwarded requests',
  target: 'receives the path of a request',
} as const

function addressesOf(backend: BackendItem, lookups: Lookups): readonly Address[] {
  return bindProtocol(backend).addresses(lookups).flat()
}

function describeTarget(target: string): string {
  const rule = target.replace(/^([^#]*)#(\d+)/, 'rule $2 of $1')
  return rule.replace(/^(.*)\/backendRefs\/(\d+)$/, 'backendRef $2 of $1')
}

/** The rules at a target; none for other targets than routes. */
function rulesOf(target: string, lookups: Lookups): readonly RouteItem[] {
  const [kind, namespace, name, ruleName] = target.replace(/#\d+$/, '').split('/')
  const rules: RouteItem[] = []
  for (let at = 0; ; at++) {
    const item = lookups.item(`${kind}/${namespace}/${name}/${at}`)
    if (item?.kind !== 'route') return rules
    const applies = target.includes('#')
      ? target.endsWith(`#${at}`)
      : ruleName === undefined || item.ruleName === ruleName
    if (applies) rules.push(item)
  }
}

/** The backends of a route, a rule, or one reference of a rule. */
function backendsAt(target: string, lookups: Lookups): readonly BackendItem[] {
  const [rule, own] = target.split('/backendRefs/')
  const references = rulesOf(rule!, lookups).flatMap(({ backends }) => backends)
  return references.flatMap(({ backend, filters }) => {
    if (own !== undefined && filters !== target) return []
    const item = backend === undefined ? undefined : lookups.item(backend)
    return item?.kind === 'backend' ? item : []
  })
}
