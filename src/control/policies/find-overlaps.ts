import { describeOrigin, type Origin } from '#base/origin.ts'
import { LEVEL, type PolicyItem } from '#plan/item.ts'
import { append } from '../append.ts'
import { compareText } from '../inventory.ts'

/** A field of a policy that is overridden where its author may not expect it (decision A-24). */
export interface Overlap {
  readonly loser: PolicyItem
  /** Members of the field that are lost; undefined when all of it is. */
  readonly lost: readonly string[] | undefined
  /** The place where it has no effect: that of the winner, which lies inside its own. */
  readonly at: string
  /** Who overrides it, in words. */
  readonly by: string
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
  for (const item of items) if (!ACCUMULATING.has(fieldName(item))) append(byPlace, placeKey(item), item)
  const ties = [...byPlace.values()].flatMap(findTies)

  const losers = new Set(ties.map(({ loser }) => loser))
  const byField = new Map<string, PolicyItem[]>()
  for (const item of items)
    if (OF_MEMBERS.has(fieldName(item)) && !losers.has(item)) append(byField, fieldKey(item), item)
  return [...ties, ...[...byField.values()].flatMap((field) => findPartial(field, around))]
}

function overlap(loser: PolicyItem, winner: PolicyItem, lost: Overlap['lost']): Overlap {
  return { loser, lost, at: winner.target, by: `${describeOrigin(nameOnly(winner.origin))} at ${winner.target}` }
}

/** The text of a status does not depend on where files lie. */
function nameOnly({ kind, namespace, name }: Origin): Origin {
  return { kind, namespace, name }
}

/** The field as authors call it: `traffic.rateLimit`. */
export function fieldName({ section, field }: PolicyItem): string {
  return `${section}.${field}`
}

/** What merges with each other: the phases of `traffic` do not. */
function fieldKey(item: PolicyItem): string {
  return `${fieldName(item)}/${item.phase ?? ''}`
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
    const losesNothing = ACCUMULATING_MEMBERS.has(fieldName(loser)) && membersOf(loser).length === 0
    return losesNothing ? [] : [overlap(loser, winner, undefined)]
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
      return lost.length === 0 ? [] : [overlap(loser, winner, lost)]
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
  const accumulating = ACCUMULATING_MEMBERS.get(fieldName(item)) ?? []
  return Object.keys(item.spec ?? {}).filter((name) => !accumulating.includes(name))
}
