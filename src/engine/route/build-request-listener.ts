import { POST_ROUTING, PRE_ROUTING } from '#api/policy-order.ts'
import type { PlanNames } from '#exchange/exchange.ts'
import type { ListenerItem, RouteItem } from '#plan/item.ts'
import { bindProtocol } from '../backend/bind-protocol.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { Memo } from '../lookups/memo.ts'
import type { Attached } from '../lookups/plan-index.ts'
import { buildChainFor } from '../merge/build-chain.ts'
import { quietContext, type SharedState } from '../merge/compile-context.ts'
import { buildFrontendSettings } from '../merge/frontend-settings.ts'
import { difference } from './attached.ts'
import { buildWeighted } from './build-weighted.ts'
import { compileForwardedHeaders } from './forwarded-headers.ts'
import {
  type LiveListener,
  type LiveRequestListener,
  type LiveRule,
  listenerNames,
  listenerTargets,
  ruleNames,
  ruleTargets,
} from './live-listener.ts'
import { RouteTable } from './route-table.ts'

/** Builds a listener for requests. Rules that did not change since `before` are kept, with everything memoised in them. */
export function buildRequestListener(
  item: ListenerItem,
  attached: readonly Attached<RouteItem>[],
  before: LiveListener | undefined,
  state: SharedState,
): LiveRequestListener {
  const old = before?.item === item && before.carries === 'requests' ? before : undefined
  if (old?.attached === attached) return old
  const targets = listenerTargets(item)
  return {
    carries: 'requests',
    item,
    names: listenerNames(item),
    targets,
    forwardedHeaders: compileForwardedHeaders(item),
    preRouting: new Memo((lookups) =>
      buildChainFor(
        { stage: 'pre-routing', section: 'traffic', phase: 'PreRouting', order: PRE_ROUTING, targets },
        lookups,
        quietContext(lookups, state),
      ),
    ),
    frontend: new Memo((lookups) => buildFrontendSettings(targets, lookups, quietContext(lookups, state))),
    routes:
      old === undefined
        ? RouteTable.of(attached, (route) => buildRule(route, item, targets, state))
        : tableAfter(old, attached),
    attached,
  }
}

/** Derives the new route table from the old one: tables are large, and most edits change one rule. */
function tableAfter(old: LiveRequestListener, attached: readonly Attached<RouteItem>[]): RouteTable<LiveRule> {
  const { removed, added } = difference(old.attached, attached)
  return old.routes.after(removed, added)
}

/** Of the first backend. */
function protocolOf({ backends }: RouteItem, lookups: Lookups): PlanNames['protocol'] | undefined {
  const key = backends[0]?.backend
  const item = key === undefined ? undefined : lookups.item(key)
  return item?.kind === 'backend' ? bindProtocol(item).name : undefined
}

function buildRule(
  item: RouteItem,
  listener: ListenerItem,
  listenerTargets: readonly string[],
  state: SharedState,
): LiveRule {
  const names = ruleNames(listenerNames(listener), item)
  const targets = [...listenerTargets, ...ruleTargets(item)]
  return {
    item,
    names,
    undecidedNames: new Memo((lookups) => ({ ...names, protocol: protocolOf(item, lookups) ?? names.protocol })),
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
