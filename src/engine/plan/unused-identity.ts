import { policyDefinition } from '#api/policy-fields.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { PolicyItem, RouteItem } from '#plan/item.ts'
import { expressionsIn } from '#schema/index.ts'
import { backendTargets } from '../backend/backend-targets.ts'
import { bindProtocol } from '../backend/bind-protocol.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { mergeSection } from '../merge/build-chain.ts'
import { listenerTargets, ruleTargets } from '../route/live-listener.ts'

/**
 * The authentication policies in force at a rule that require no credential, by key.
 * @returns whether something at the rule uses the identities that they find
 */
export function optionalIdentities(rule: RouteItem, lookups: Lookups): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>()
  for (const { listener } of rule.attachments) {
    const item = lookups.item(listener)
    if (item?.kind !== 'listener') continue
    const before = listenerTargets(item)
    const targets = [...before, ...ruleTargets(rule)]
    const attached = targets.flatMap((target) => lookups.policiesAt(target))
    // Few rules have one, and merging costs more.
    if (!attached.some((policy) => optionalVariable(policy) !== undefined)) continue
    const others = [...attached, ...targetsOfBackends(rule, lookups).flatMap((target) => lookups.policiesAt(target))]
    for (const policy of [...inForce('PreRouting', before, lookups), ...inForce('PostRouting', targets, lookups)]) {
      const variable = optionalVariable(policy)
      if (variable === undefined) continue
      found.set(policy.key, found.get(policy.key) === true || others.some((other) => uses(other, variable)))
    }
  }
  return found
}

/** Advice on a policy whose identities no rule uses. @param usesOf whether the rules where a policy is in force use them, by its key */
export function unusedIdentityProblem(
  item: PolicyItem,
  usesOf: (key: string) => readonly boolean[],
): ConfigProblem | undefined {
  const variable = optionalVariable(item)
  if (variable === undefined) return undefined
  const used = usesOf(item.key)
  if (used.length === 0 || used.includes(true)) return undefined
  const message = `requests without a credential pass, and no policy uses ${variable}; set mode Strict, or add authorization rules that use ${variable}`
  return { path: '.mode', severity: 'advice', code: 'identity-unused', message }
}

function inForce(
  phase: 'PreRouting' | 'PostRouting',
  targets: readonly string[],
  lookups: Lookups,
): readonly PolicyItem[] {
  const fields = mergeSection({ section: 'traffic', phase, targets }, lookups)
  return [...fields.values()].flatMap(({ sources }) => sources.slice(0, 1))
}

/** The variable of an identity that a policy finds but does not require. */
function optionalVariable({ section, field, spec }: PolicyItem): string | undefined {
  const definition = policyDefinition(section, field)
  const requires = definition?.guarantees?.(spec as never) ?? []
  return requires.length > 0 ? undefined : definition?.identifies
}

function targetsOfBackends({ backends }: RouteItem, lookups: Lookups): readonly string[] {
  return backends.flatMap(({ backend, filters }) => {
    const item = backend === undefined ? undefined : lookups.item(backend)
    if (item?.kind !== 'backend') return filters ?? []
    const sections = bindProtocol(item).addresses(lookups).flat()
    return [undefined, ...sections.map(({ section }) => section)]
      .flatMap((section) => backendTargets(item, section))
      .concat(filters ?? [])
  })
}

/** Whether a policy may depend on an identity: by an expression, by a server that it asks, or because it sends the credential on. */
function uses({ section, field, spec }: PolicyItem, variable: string): boolean {
  if (field === 'extAuth' || field === 'extProc') return true
  if (field === 'auth' && typeof spec === 'object' && spec !== null && 'passthrough' in spec) return true
  const schema = policyDefinition(section, field)?.schema
  if (schema === undefined) return false
  const name = new RegExp(`\\b${variable}\\b`)
  return expressionsIn(schema, spec).some(({ expression }) => name.test(expression))
}
