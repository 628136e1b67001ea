import { policyDefinition } from '#api/policy-fields.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { describeOrigin } from '#base/origin.ts'
import type { PolicyItem } from '#plan/item.ts'
import type { CheckedCredential } from '#policies/policy.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { mergeSection } from '../merge/build-chain.ts'
import { listenerTargets } from '../route/live-listener.ts'

/**
 * Another policy in force at the target that checks another credential at the same location (decision A-60). Each pair is
 * reported once: for the narrower target, or for one of two policies of the same target.
 */
export function sharedLocationProblem(item: PolicyItem, lookups: Lookups): Omit<ConfigProblem, 'path'> | undefined {
  const mine = checkedBy(item)
  if (mine === undefined) return undefined
  const targets = targetsAround(item.target, lookups)
  for (const phase of ['PreRouting', 'PostRouting'] as const) {
    for (const { field, sources } of mergeSection({ section: 'traffic', phase, targets }, lookups).values()) {
      const other = sources[0]!
      if (field === item.field || (other.target === item.target && other.key > item.key)) continue
      const theirs = checkedBy(other)
      const found = theirs?.location === mine.location ? problem(mine, theirs, other) : undefined
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** A wider policy for the same field that requires a credential which this one does not require, so that requests without one pass. */
export function weakenedProblem(item: PolicyItem, lookups: Lookups): ConfigProblem | undefined {
  const { section, field, phase, target } = item
  const targets = targetsAround(target, lookups).filter((each) => each !== target)
  const [wider] = mergeSection({ section, phase, targets }, lookups).get(field)?.sources ?? []
  if (wider === undefined) return undefined
  const kept = guaranteedBy(item)
  if (guaranteedBy(wider).every((name) => kept.includes(name))) return undefined
  const message = `protects less than ${wider.path} of ${describeOrigin(wider.origin)}, which it overrides here: requests without a credential pass`
  return { path: '.mode', severity: 'advice', code: 'protection-weakened', message }
}

function guaranteedBy({ section, field, spec }: PolicyItem): readonly string[] {
  return policyDefinition(section, field)?.guarantees?.(spec as never) ?? []
}

function checkedBy({ section, field, spec }: PolicyItem): CheckedCredential | undefined {
  return policyDefinition(section, field)?.checks?.(spec as never)
}

function problem(
  mine: CheckedCredential,
  theirs: CheckedCredential,
  other: PolicyItem,
): Omit<ConfigProblem, 'path'> | undefined {
  const where = `${other.path} of ${describeOrigin(other.origin)}`
  const hasOnePrefix = mine.prefix === theirs.prefix
  if (!mine.isRequired || !theirs.isRequired) {
    // A credential with another prefix is none.
    if (!hasOnePrefix) return undefined
    const message = `${where} checks another credential at the same location (${mine.location}), so one of them refuses every credential there; set another location in one of them`
    return { severity: 'error', code: 'credentials-share-location', message }
  }
  const requires = `${where} requires another credential at the same location (${mine.location})`
  const advice = 'set another location, or another mode, in one of them'
  if (hasOnePrefix) {
    const message = `${requires}, so all requests are refused; ${advice}`
    return { severity: 'error', code: 'credentials-share-location', message }
  }
  const message = `${requires}, so only requests that repeat the header pass; ${advice}`
  return { severity: 'warning', code: 'credentials-share-location', message }
}

/** The target and the wider targets whose policies apply to all of its requests, or to those of one of its listeners. */
function targetsAround(target: string, lookups: Lookups): readonly string[] {
  const [kind, namespace, name] = target.split('/')
  const whole = `${kind}/${namespace}/${name}`
  const own = target === whole ? [target] : [whole, target]
  const rule = lookups.item(`${whole}/0`)
  if (rule?.kind !== 'route') return own
  const listeners = rule.attachments.flatMap(({ listener }) => {
    const item = lookups.item(listener)
    return item?.kind === 'listener' ? listenerTargets(item) : []
  })
  return [...new Set([...listeners, ...own])]
}
