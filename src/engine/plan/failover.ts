import type { ConfigProblem } from '#base/config-problem.ts'
import type { RouteItem } from '#plan/item.ts'
import { mergeSection } from '../merge/build-chain.ts'
import { listenerTargets, ruleTargets } from '../route/live-listener.ts'
import type { Lookups } from './lookups.ts'

/**
 * The rules, of those that use a backend with several priority groups, that never repeat a failed request (decision B94).
 * @returns undefined if all of them have `retry`
 */
export function failoverProblem(
  rules: readonly RouteItem[],
  lookups: Lookups,
): Omit<ConfigProblem, 'path'> | undefined {
  const lacking = rules.filter((rule) => !retriesEverywhere(rule, lookups))
  const [first] = lacking
  if (first === undefined) return undefined
  const { kind, namespace, name } = first.route
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`
  const message =
    `rule ${first.rule} of ${kind} ${namespace}/${name}${more} has no retry, so a request that fails in one group is not sent to the next; ` +
    'set traffic.retry'
  return { code: 'failover-without-retry', message, severity: 'warning' }
}

function retriesEverywhere(rule: RouteItem, lookups: Lookups): boolean {
  return rule.attachments.every(({ listener }) => {
    const item = lookups.item(listener)
    const targets = [...(item?.kind === 'listener' ? listenerTargets(item) : []), ...ruleTargets(rule)]
    return mergeSection({ section: 'traffic', phase: 'PostRouting', targets }, lookups).has('retry')
  })
}
