import type { ReportOn } from '../context/reporting.ts'
import { fieldName, type Overlap } from './find-overlaps.ts'

/** Reports each overridden field, and what overrides it, on the object that contains the field. */
export function reportOverlaps(overlaps: readonly Overlap[], reportOn: ReportOn): void {
  for (const group of groupOverlaps(overlaps)) {
    const { loser, lost } = group[0]!
    const isUnprotected = group.some(({ unprotected }) => unprotected.length > 0)
    reportOn(loser)({
      path: loser.path,
      code: lost === undefined ? 'overridden-by-tie' : 'overridden-in-part',
      message: describeGroup(group),
      severity: isUnprotected ? 'error' : 'warning',
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
  const own = group.flatMap(({ ownSection }) => ownSection ?? [])
  const others = group.filter(({ ownSection }) => ownSection === undefined).map(({ by }) => by)
  const winners = [...(own.length === 0 ? [] : [describeOwn(own)]), ...(others.length === 0 ? [] : [listSome(others)])]
  return `${fieldName(loser)}${what} is overridden by ${winners.join(', ')}${describeEffect(group)}`
}

function describeEffect(group: readonly Overlap[]): string {
  if (group.some(({ weakens }) => weakens)) return ', which protects less: requests without a credential pass there'
  const unprotected = new Set(group[0]!.lost === undefined ? group.flatMap((each) => each.unprotected) : [])
  return unprotected.size === 0 ? '' : `, which protects less: it has no ${[...unprotected].join(', ')}`
}

/** Settings of sections, such as providers, in the same object. */
function describeOwn(sections: readonly string[]): string {
  return sections.length === 1 ? `that of section ${sections[0]}` : `those of sections ${listSome(sections)}`
}

function listSome(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`
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
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [overlap])
    else group.push(overlap)
  }
  return [...groups.values()]
}
