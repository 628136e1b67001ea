import { append } from '../append.ts'
import type { ReportOn } from '../reporting.ts'
import { fieldName, type Overlap } from './find-overlaps.ts'

/** Reports each overridden field, and what overrides it, on the object that contains the field. */
export function reportOverlaps(overlaps: readonly Overlap[], reportOn: ReportOn): void {
  for (const group of groupOverlaps(overlaps)) {
    const { loser, lost } = group[0]!
    reportOn(loser)({
      path: loser.path,
      code: lost === undefined ? 'overridden-by-tie' : 'overridden-in-part',
      message: describeGroup(group),
      severity: lost?.includes('promptGuard') ? 'error' : 'warning',
    })
  }
}

/** One line for each overridden field: `traffic.rateLimit (local) is overridden by ProxyPolicy default/b at Gateway/default/main`. */
export function describeOverlaps(overlaps: readonly Overlap[]): string {
  return groupOverlaps(overlaps).map(describeGroup).join('\n')
}

/** The number of winners that a message lists. */
const MAX_NAMED = 3

function describeGroup(group: readonly Overlap[]): string {
  const { loser, lost } = group[0]!
  const what = lost === undefined ? '' : ` (${lost.join(', ')})`
  const winners = group.slice(0, MAX_NAMED).map(({ by }) => by)
  const more = group.length > MAX_NAMED ? ` and ${group.length - MAX_NAMED} more` : ''
  const effect = group.some(({ weakens }) => weakens)
    ? ', which protects less: requests without a credential pass there'
    : ''
  return `${fieldName(loser)}${what} is overridden by ${winners.join(', ')}${more}${effect}`
}

/** Groups overlaps that differ only in the winner or in the target of the loser. */
function groupOverlaps(overlaps: readonly Overlap[]): readonly (readonly Overlap[])[] {
  const groups = new Map<string, Overlap[]>()
  const seen = new Set<string>()
  for (const overlap of overlaps) {
    const { loser, lost, by } = overlap
    const { kind, namespace, name } = loser.origin
    const key = `${kind}/${namespace}/${name} ${loser.path} ${lost?.join(' ') ?? 'all'}`
    if (seen.has(`${key} ${by}`)) continue
    seen.add(`${key} ${by}`)
    append(groups, key, overlap)
  }
  return [...groups.values()]
}
