import { policyDefinition } from '#api/policy-fields.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { ListenerItem, RelayRouteItem, RouteItem } from '#plan/item.ts'
import { mergeSection } from '../merge/build-chain.ts'
import type { MergedField } from '../merge/merge.ts'
import { isRelayListener, listenerTargets, ruleTargets } from '../route/live-listener.ts'
import type { Lookups } from './lookups.ts'

/**
 * Reports rules that let everybody reach any server: a backend whose destinations clients choose needs access controls (specification 1,
 * 2.3; decision A-96).
 */
export function openForwardProxies(rule: RouteItem | RelayRouteItem, lookups: Lookups): readonly ConfigProblem[] {
  const open = rule.attachments
    .map(({ listener }) => lookups.item(listener))
    .find((item) => item?.kind === 'listener' && !isProtected(rule, item, lookups))
  if (open?.kind !== 'listener') return []
  return rule.backends.flatMap(({ backend, path }) => {
    const item = backend === undefined ? undefined : lookups.item(backend)
    if (item?.kind !== 'backend' || item.type !== 'dynamicForwardProxy') return []
    const missing = isRelayListener(open)
      ? 'frontend.networkAuthorization'
      : 'traffic.authorization, traffic.extAuth, a Strict authentication, or frontend.networkAuthorization'
    const message =
      `every client of listener ${open.name} can reach any server through ProxyBackend ${item.namespace}/${item.name}, ` +
      `also servers that only this machine reaches; set ${missing}`
    return [{ path, code: 'open-forward-proxy', message, severity: 'warning' as const }]
  })
}

function isProtected(rule: RouteItem | RelayRouteItem, listener: ListenerItem, lookups: Lookups): boolean {
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
