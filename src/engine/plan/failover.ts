import type { ConfigProblem } from '#base/config-problem.ts'
import { count } from '#base/count.ts'
import type { BackendItem, RouteItem } from '#plan/item.ts'
import type { BackendHealthSpec } from '#policies/backend/health/schema.ts'
import type { RetrySpec } from '#policies/traffic/retry/schema.ts'
import { bindProtocol } from '../backend/bind-protocol.ts'
import { mergeForBackend } from '../backend/merge-for-backend.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { mergeSection } from '../merge/build-chain.ts'
import { listenerTargets, ruleTargets } from '../route/live-listener.ts'

/** A problem of the priority groups of a backend. */
export interface GroupProblem extends Omit<ConfigProblem, 'path'> {
  /** The group that it is about, from 0; undefined: all. */
  readonly group?: number
}

/** Retries of a rule that does not set their number (decision A-93). */
const DEFAULT_ATTEMPTS = 1

/**
 * Finds out whether the rules that use a backend with several priority groups use all of them: a group gets requests after a retry, or while
 * all endpoints before it are evicted (decision B94).
 */
export function failoverProblems(
  item: BackendItem,
  rules: readonly RouteItem[],
  lookups: Lookups,
): readonly GroupProblem[] {
  const groups = bindProtocol(item).addresses(lookups)
  if (groups.length < 2) return []
  const placed = rules.flatMap((rule) => placesOf(rule, item, lookups))
  const lacking = placed.filter(({ attempts }) => attempts === undefined)
  const problems: GroupProblem[] = lacking.length === 0 ? [] : [withoutRetry(lacking)]
  const codeless = placed.filter(({ attempts, hasCodes }) => attempts !== undefined && !hasCodes)
  if (codeless.length > 0) problems.push(withoutCodes(codeless))
  for (let group = 1, before = groups[0]!.length; group < groups.length; group++) {
    const missed = placed.find(({ attempts, evicts }) => attempts !== undefined && attempts < before && !evicts(group))
    // Those after it are not reached either.
    if (missed !== undefined) return [...problems, unreachable(missed, group, before)]
    before += groups[group]!.length
  }
  return problems
}

/** A rule at one of its listeners. */
interface Placed {
  readonly rule: RouteItem
  /** Undefined: failed requests are not repeated. */
  readonly attempts: number | undefined
  /** Also requests that were answered are repeated. */
  readonly hasCodes: boolean
  /** Whether an endpoint in a group before this one can be evicted. */
  readonly evicts: (group: number) => boolean
}

function placesOf(rule: RouteItem, item: BackendItem, lookups: Lookups): readonly Placed[] {
  return rule.attachments.map(({ listener }) => {
    const at = lookups.item(listener)
    const targets = [...(at?.kind === 'listener' ? listenerTargets(at) : []), ...ruleTargets(rule)]
    const retry = mergeSection({ section: 'traffic', phase: 'PostRouting', targets }, lookups).get('retry')
    const spec = retry?.sources[0]?.spec as RetrySpec | undefined
    return {
      rule,
      attempts: spec && (spec.attempts ?? DEFAULT_ATTEMPTS),
      hasCodes: (spec?.codes ?? []).length > 0,
      evicts: (group) =>
        bindProtocol(item)
          .addresses(lookups)
          .slice(0, group)
          .flat()
          .some(({ section }) =>
            canEvict(mergeForBackend(targets, item, section, lookups).fields.get('health')?.sources),
          ),
    }
  })
}

function canEvict(sources: readonly { readonly spec: unknown }[] | undefined): boolean {
  const { eviction } = (sources?.[0]?.spec ?? {}) as BackendHealthSpec
  return eviction !== undefined && (eviction.consecutiveFailures !== 0 || eviction.healthThreshold !== undefined)
}

function withoutRetry(lacking: readonly Placed[]): GroupProblem {
  const message = `${describeAll(lacking)} has no retry, so a request that fails in one group is not sent to the next; set traffic.retry`
  return { code: 'failover-without-retry', message, severity: 'warning' }
}

function withoutCodes(codeless: readonly Placed[]): GroupProblem {
  const message = `${describeAll(codeless)} retries only failed connections, so a request that one group answers with an error is not sent to the next; set traffic.retry.codes, such as [429, 500, 502, 503, 504, 529]`
  return { code: 'failover-without-retry', message, severity: 'advice' }
}

function unreachable({ rule, attempts }: Placed, group: number, before: number): GroupProblem {
  const message =
    `${describe(rule)} makes at most ${count(attempts!, 'retry', 'retries')}, and the groups before this one have ${count(before, 'endpoint')}, none of which is ever evicted, ` +
    'so no request reaches this group; set more traffic.retry.attempts, or backend.health.eviction'
  return { code: 'fallback-unreachable', message, severity: 'warning', group }
}

function describeAll(placed: readonly Placed[]): string {
  const rules = new Set(placed.map(({ rule }) => rule))
  return `${describe(placed[0]!.rule)}${rules.size === 1 ? '' : ` and ${rules.size - 1} more`}`
}

function describe({ rule, route: { kind, namespace, name } }: RouteItem): string {
  return `rule ${rule} of ${kind} ${namespace}/${name}`
}
