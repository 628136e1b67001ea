import type { ConfigProblem } from '#base/config-problem.ts'
import type { RelayRouteItem, RouteItem } from '#plan/item.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { isRelayListener } from '../route/live-listener.ts'
import { isRestricted } from './access.ts'

/**
 * Reports rules that let everybody reach any server: a backend whose destinations clients choose needs access controls (specification 1,
 * 2.3; decision A-96).
 */
export function openForwardProxies(rule: RouteItem | RelayRouteItem, lookups: Lookups): readonly ConfigProblem[] {
  const open = rule.attachments
    .map(({ listener }) => lookups.item(listener))
    .find((item) => item?.kind === 'listener' && !isRestricted(rule, item, lookups))
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
