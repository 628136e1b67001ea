import type { ListenerItem, RelayRouteItem } from '#plan/item.ts'
import { Memo } from '../lookups/memo.ts'
import type { Attached } from '../lookups/plan-index.ts'
import { quietContext, type SharedState } from '../merge/compile-context.ts'
import { buildFrontendSettings } from '../merge/frontend-settings.ts'
import { keepOrBuild } from './attached.ts'
import { buildWeighted } from './build-weighted.ts'
import { HostTable } from './host-table.ts'
import {
  type LiveListener,
  type LiveRelayListener,
  type LiveRelayRule,
  listenerNames,
  listenerTargets,
  ruleNames,
} from './live-listener.ts'

/**
 * Builds a listener whose connections are relayed. Section `traffic` does not apply to connections. Section `backend` is merged from
 * policies of the listener and of the backend, because policies cannot target these routes (decision A-26).
 * @param attached in order of precedence
 */
export function buildRelayListener(
  item: ListenerItem,
  attached: readonly Attached<RelayRouteItem>[],
  before: LiveListener | undefined,
  state: SharedState,
): LiveRelayListener {
  const old = before?.item === item && before.carries === 'bytes' ? before : undefined
  if (old?.source === attached) return old
  const names = listenerNames(item)
  const targets = listenerTargets(item)
  const rules = keepOrBuild(attached, old?.attached, (route): LiveRelayRule => {
    const use = { names: ruleNames(names, route), targets, carries: 'bytes' } as const
    return { item: route, names: use.names, ...buildWeighted(route.backends, use, state) }
  })
  return {
    carries: 'bytes',
    item,
    names,
    targets,
    frontend: new Memo((lookups) => buildFrontendSettings(targets, lookups, quietContext(lookups, state))),
    routes: tableOf(rules),
    attached: rules,
    source: attached,
  }
}

/** For each server name, the first rule is used: connections have nothing else that could distinguish rules. */
function tableOf(rules: LiveRelayListener['attached']): HostTable<LiveRelayRule> {
  const table = new HostTable<LiveRelayRule>()
  for (const { rule, hostnames } of rules) {
    for (const hostname of hostnames.length === 0 ? [''] : hostnames) table.at(hostname, () => rule)
  }
  return table
}
