import type { ListenerItem, RouteItem } from '#plan/item.ts'
import { type Attached, keepOrBuild } from './attached.ts'
import { buildChainFor } from './build-chain.ts'
import { buildWeighted } from './build-weighted.ts'
import { quietContext, type SharedState } from './compile-context.ts'
import { buildFrontendSettings } from './frontend-settings.ts'
import { Memo } from './memo.ts'
import { POST_ROUTING, PRE_ROUTING } from './order.ts'
import {
  type ListenerPlace,
  listenerNames,
  listenerTargets,
  type RequestListenerPlace,
  type RulePlace,
  ruleNames,
  ruleTargets,
} from './places.ts'
import { RouteTable } from './route/route-table.ts'

/** A listener for requests. What did not change since `before` keeps its place, and with it everything memoised there. */
export function placeRequestListener(
  item: ListenerItem,
  attached: readonly Attached<RouteItem>[],
  before: ListenerPlace | undefined,
  state: SharedState,
): RequestListenerPlace {
  const old = before?.item === item && before.carries === 'requests' ? before : undefined
  if (old?.source === attached) return old
  const targets = listenerTargets(item)
  const routes = new RouteTable<RulePlace>()
  const rules = keepOrBuild(attached, old?.attached, (route) => buildRule(route, item, targets, state))
  for (const { route, hostnames, rule } of rules) routes.add(route, hostnames, rule)
  routes.seal()
  return {
    carries: 'requests',
    item,
    names: listenerNames(item),
    targets,
    preRouting: new Memo((lookups) =>
      buildChainFor(
        { stage: 'pre-routing', section: 'traffic', phase: 'PreRouting', order: PRE_ROUTING, targets },
        lookups,
        quietContext(lookups, state),
      ),
    ),
    frontend: new Memo((lookups) => buildFrontendSettings(targets, lookups, quietContext(lookups, state))),
    routes,
    attached: rules,
    source: attached,
  }
}

function buildRule(
  item: RouteItem,
  listener: ListenerItem,
  listenerTargets: readonly string[],
  state: SharedState,
): RulePlace {
  const names = ruleNames(listenerNames(listener), item)
  const targets = [...listenerTargets, ...ruleTargets(item)]
  return {
    item,
    names,
    targets,
    postRouting: new Memo((lookups) =>
      buildChainFor(
        { stage: 'post-routing', section: 'traffic', phase: 'PostRouting', order: POST_ROUTING, targets },
        lookups,
        quietContext(lookups, state),
      ),
    ),
    ...buildWeighted(item.backends, { names, targets, carries: 'requests' }, state),
  }
}
