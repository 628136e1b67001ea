import { POST_ROUTING, PRE_ROUTING } from '#api/policy-order.ts'
import type { ListenerItem, RouteItem } from '#plan/item.ts'
import { type Attached, keepOrBuild } from './attached.ts'
import { buildChainFor } from './build-chain.ts'
import { buildWeighted } from './build-weighted.ts'
import { quietContext, type SharedState } from './compile-context.ts'
import { buildFrontendSettings } from './frontend-settings.ts'
import { Memo } from './memo.ts'
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
  const rules = keepOrBuild(attached, old?.attached, (route) => buildRule(route, item, targets, state))
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
    routes: old === undefined ? new RouteTable(rules) : tableAfter(old, rules),
    attached: rules,
    source: attached,
  }
}

/** Tables are large, and most edits touch one rule. */
function tableAfter(old: RequestListenerPlace, rules: RequestListenerPlace['attached']): RouteTable<RulePlace> {
  const before = new Set(old.attached.map(({ rule }) => rule))
  const after = new Set(rules.map(({ rule }) => rule))
  return old.routes.after(
    old.attached.filter(({ rule }) => !after.has(rule)),
    rules.filter(({ rule }) => !before.has(rule)),
  )
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
