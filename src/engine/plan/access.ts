import { policyDefinition } from '#api/policy-fields.ts'
import type { ListenerItem, RelayRouteItem, RouteItem } from '#plan/item.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { mergeSection } from '../merge/build-chain.ts'
import type { MergedField } from '../merge/merge.ts'
import { listenerTargets, ruleTargets } from '../route/live-listener.ts'

/** Whether a rule takes requests or connections of some clients only: by address, certificate, credential, rules, or because a server decides. */
export function isRestricted(rule: RouteItem | RelayRouteItem, listener: ListenerItem, lookups: Lookups): boolean {
  if (listener.clientValidation?.mode === 'AllowValidOnly') return true
  const atListener = listenerTargets(listener)
  const frontend = mergeSection({ section: 'frontend', phase: undefined, targets: atListener }, lookups)
  if (frontend.has('networkAuthorization')) return true
  if (rule.kind === 'relay-route') return false
  const before = mergeSection({ section: 'traffic', phase: 'PreRouting', targets: atListener }, lookups)
  if (restricts(before)) return true
  const targets = [...atListener, ...ruleTargets(rule)]
  return restricts(mergeSection({ section: 'traffic', phase: 'PostRouting', targets }, lookups))
}

/** Whether the fields refuse some clients: by rules, by a server, or because a credential is required. */
function restricts(fields: ReadonlyMap<string, MergedField>): boolean {
  return [...fields.values()].some(
    ({ field, sources }) =>
      field === 'authorization' ||
      field === 'extAuth' ||
      sources.some(({ spec }) => (policyDefinition('traffic', field)?.guarantees?.(spec as never) ?? []).length > 0),
  )
}
