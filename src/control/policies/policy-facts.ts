import type { Report } from '../context/reporting.ts'
import { type AttachedPolicy, protectsNothing, type UnattachedTarget } from './attach-policy.ts'
import type { Overlap } from './find-overlaps.ts'

/** The targets that a policy is attached to, those that it is not, and the overlaps in which it loses. */
export interface PolicyFacts extends AttachedPolicy {
  readonly overlaps: readonly Overlap[]
}

/**
 * The targets that a policy does not reach, each reported.
 * @param protects whether the policy protects its targets
 */
export function missedTargets(
  { attachments, unattached }: Pick<AttachedPolicy, 'attachments' | 'unattached'>,
  { gatewaysOf, protects }: { readonly gatewaysOf: (target: string) => readonly string[]; readonly protects: boolean },
  report: Report,
): readonly UnattachedTarget[] {
  const missed = unreached(attachments, gatewaysOf)
  const all = [...unattached, ...missed]
  const isOpen = missed.length === attachments.length && protects
  for (const { path, code, message } of all) {
    report({ path, code, message: isOpen ? protectsNothing(message) : message, severity: 'error' })
  }
  return all
}

/** Targets that exist, but that no Gateway sends traffic to. */
function unreached(
  attachments: AttachedPolicy['attachments'],
  gatewaysOf: (target: string) => readonly string[],
): readonly UnattachedTarget[] {
  return attachments
    .filter(({ target }) => gatewaysOf(target).length === 0)
    .map(({ path, title }) => ({
      path,
      code: 'target-not-attached',
      message: `Policy is not attached: ${title} is not attached to any Gateway`,
    }))
}
