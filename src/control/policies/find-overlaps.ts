import { describeOrigin, type Origin } from '#base/origin.ts'
import { LEVEL, type PolicyItem } from '#plan/item.ts'
import { append } from '../append.ts'
import { compareText } from '../inventory.ts'
import type { ReportOn } from '../reporting.ts'

/** A field of a policy that another object overrides where its author may not expect it (decision A-24). */
export interface Overlap {
  readonly loser: PolicyItem
  readonly winner: PolicyItem
  /** Members of the field that are lost with it, for an override by a stronger level; undefined for a tie, which loses all. */
  readonly lost: readonly string[] | undefined
}

/** Rule sets of all levels count together; nobody loses (decision A-21). */
const ACCUMULATING = new Set(['traffic.authorization', 'frontend.networkAuthorization'])
/** Members that accumulate even when the field around them is replaced. */
const ACCUMULATING_MEMBERS = new Map([['backend.mcp', ['authorization']]])

/** Fields whose members stand for themselves, so that a stronger field with other members loses something (decision A-20, B01). */
const OF_MEMBERS = new Set([
  'traffic.rateLimit',
  'traffic.headerModifiers',
  'traffic.transformation',
  'traffic.timeouts',
  'backend.transformation',
  'backend.tls',
  'backend.ai',
  'backend.mcp',
])

/**
 * Finds ties (two policies set the same field at the same place and level) and fields that a stronger level replaces whole although
 * it sets only a part. Losing whole to a stronger level is what precedence is for, and is not reported.
 * @param around all places around a place, whose policies apply to it with less strength
 */
export function findOverlaps(
  items: readonly PolicyItem[],
  around: (target: string) => ReadonlySet<string>,
): readonly Overlap[] {
  const byPlace = new Map<string, PolicyItem[]>()
  for (const item of items) if (!ACCUMULATING.has(nameOf(item))) append(byPlace, placeKey(item), item)
  const ties = [...byPlace.values()].flatMap(findTies)

  const losers = new Set(ties.map(({ loser }) => loser))
  const byField = new Map<string, PolicyItem[]>()
  for (const item of items) if (OF_MEMBERS.has(nameOf(item)) && !losers.has(item)) append(byField, fieldKey(item), item)
  return [...ties, ...[...byField.values()].flatMap((field) => findPartial(field, around))]
}

/** `traffic.rateLimit` */
function nameOf({ section, field }: PolicyItem): string {
  return `${section}.${field}`
}

/** What merges with each other: the phases of `traffic` do not. */
function fieldKey(item: PolicyItem): string {
  return `${nameOf(item)}/${item.phase ?? ''}`
}

function placeKey(item: PolicyItem): string {
  return `${fieldKey(item)} ${item.target}`
}

function findTies(items: readonly PolicyItem[]): readonly Overlap[] {
  if (items.length < 2) return []
  const sorted = items.toSorted(byPrecedence)
  return sorted.flatMap((loser, index) => {
    const winner = sorted.find((item) => item.level === loser.level)
    if (winner === undefined || sorted.indexOf(winner) === index) return []
    const losesNothing = ACCUMULATING_MEMBERS.has(nameOf(loser)) && membersOf(loser).length === 0
    return losesNothing ? [] : [{ loser, winner, lost: undefined }]
  })
}

/** Older objects first, then namespace/name (decision A-23). */
function byPrecedence(a: PolicyItem, b: PolicyItem): number {
  return (
    compareText(a.created, b.created) ||
    compareText(a.origin.namespace, b.origin.namespace) ||
    compareText(a.origin.name, b.origin.name)
  )
}

/** Among policies of one field, none of which lost a tie. */
function findPartial(
  field: readonly PolicyItem[],
  around: (target: string) => ReadonlySet<string>,
): readonly Overlap[] {
  if (field.length < 2) return []
  const byTarget = new Map<string, PolicyItem[]>()
  for (const item of field) append(byTarget, item.target, item)
  return field.flatMap((winner) => {
    const kept = new Set(membersOf(winner))
    return itemsAround(winner.target, byTarget, around).flatMap((loser) => {
      if (LEVEL[loser.level] >= LEVEL[winner.level]) return []
      const lost = membersOf(loser).filter((member) => !kept.has(member))
      return lost.length === 0 ? [] : [{ loser, winner, lost }]
    })
  })
}

/** Items at a place and around it. A shared backend has very many places around it, a field rarely has many items. */
function itemsAround(
  target: string,
  byTarget: ReadonlyMap<string, readonly PolicyItem[]>,
  around: (target: string) => ReadonlySet<string>,
): readonly PolicyItem[] {
  const places = around(target)
  const here = byTarget.get(target) ?? []
  if (places.size < byTarget.size) return [...here, ...[...places].flatMap((place) => byTarget.get(place) ?? [])]
  return [...here, ...[...byTarget].flatMap(([place, items]) => (places.has(place) ? items : []))]
}

/** The members of the field that can be lost. */
function membersOf(item: PolicyItem): readonly string[] {
  const accumulating = ACCUMULATING_MEMBERS.get(nameOf(item)) ?? []
  return Object.keys(item.spec ?? {}).filter((name) => !accumulating.includes(name))
}

/** Tells the author of each overridden field by whom it is overridden. */
export function reportOverlaps(overlaps: readonly Overlap[], reportOn: ReportOn): void {
  for (const group of groupOverlaps(overlaps)) {
    const { loser, lost } = group[0]!
    const tie = lost === undefined
    reportOn(loser)({
      path: loser.path,
      code: tie ? 'overridden-by-tie' : 'overridden-in-part',
      message: describeOverlaps(group),
      severity: lost?.includes('promptGuard') ? 'error' : 'warning',
    })
  }
}

/** How many winners a text names. */
const MAX_NAMED = 3

/** One sentence about overlaps of one field: `traffic.rateLimit (local) is overridden by ProxyPolicy default/b at Gateway/default/main`. */
export function describeOverlaps(group: readonly Overlap[]): string {
  const { loser, lost } = group[0]!
  const what = lost === undefined ? '' : ` (${lost.join(', ')})`
  const winners = group
    .slice(0, MAX_NAMED)
    .map(({ winner }) => `${describeOrigin(nameOnly(winner.origin))} at ${winner.target}`)
  const more = group.length > MAX_NAMED ? ` and ${group.length - MAX_NAMED} more` : ''
  return `${nameOf(loser)}${what} is overridden by ${winners.join(', ')}${more}`
}

/** The text of a status does not depend on where files lie. */
function nameOnly({ kind, namespace, name }: Origin): Origin {
  return { kind, namespace, name }
}

/** Overlaps that differ only in the winner, or in the place of the loser, together. */
export function groupOverlaps(overlaps: readonly Overlap[]): readonly (readonly Overlap[])[] {
  const groups = new Map<string, Overlap[]>()
  const seen = new Set<string>()
  for (const overlap of overlaps) {
    const { loser, winner, lost } = overlap
    const { kind, namespace, name } = loser.origin
    const key = `${kind}/${namespace}/${name} ${loser.path} ${lost?.join(' ') ?? 'tie'}`
    const once = `${key} ${winner.key}`
    if (seen.has(once)) continue
    seen.add(once)
    append(groups, key, overlap)
  }
  return [...groups.values()]
}
