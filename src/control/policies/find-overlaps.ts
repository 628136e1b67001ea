import { policyDefinition } from '#api/policy-fields.ts'
import { describeOrigin, type Origin } from '#base/origin.ts'
import { LEVEL, type PolicyItem } from '#plan/item.ts'
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

/** Whether a policy can lose its whole field to another one at its place. */
export function canLoseAll(item: PolicyItem): boolean {
  return definitionOf(item)?.merge !== 'accumulate'
}

/** Whether a policy can lose members of its field to a stronger one, or take them. */
export function canLosePart(item: PolicyItem): boolean {
  return definitionOf(item)?.merge === 'members'
}

/** The overlaps of one object stand in the order of its fields, and then of the winners. */
export function byLoser(a: Overlap, b: Overlap): number {
  return (
    compareText(a.loser.path, b.loser.path) ||
    compareText(a.lost?.join() ?? '', b.lost?.join() ?? '') ||
    compareText(a.by, b.by) ||
    compareText(a.loser.key, b.loser.key)
  )
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

/** Policies of one key are about the same field at the same place; the phases of `traffic` do not merge with each other. */
export function placeKey(item: PolicyItem, target: string): string {
  return `${fieldName(item)}/${item.phase ?? ''} ${target}`
}

/**
 * Two policies set the same field at the same place and level: one of them loses.
 * @param items of one `placeKey`
 */
export function findTies(items: readonly PolicyItem[]): readonly Overlap[] {
  if (items.length < 2) return []
  const winners = new Map<string, PolicyItem>()
  return items.toSorted(byPrecedence).flatMap((item) => {
    const winner = winners.get(item.level)
    if (winner === undefined) winners.set(item.level, item)
    if (winner === undefined || losesNothing(item)) return []
    return [overlap(item, winner, undefined)]
  })
}

/** All that it says counts beside the winner. */
function losesNothing(item: PolicyItem): boolean {
  return definitionOf(item)?.accumulates !== undefined && membersOf(item).length === 0
}

/** Older objects first, then namespace/name (decision A-23). */
function byPrecedence(a: PolicyItem, b: PolicyItem): number {
  return (
    compareText(a.created, b.created) ||
    compareText(a.origin.namespace, b.origin.namespace) ||
    compareText(a.origin.name, b.origin.name)
  )
}

/**
 * A stronger policy replaces a field whole although it sets only a part. Losing whole to a stronger level is what precedence is for, and
 * is not reported.
 * @param others about the same field, at the place of the winner and around it
 */
export function findPartial(winner: PolicyItem, others: readonly PolicyItem[]): readonly Overlap[] {
  const kept = new Set(membersOf(winner))
  return others.flatMap((loser) => {
    if (LEVEL[loser.level] >= LEVEL[winner.level]) return []
    const lost = membersOf(loser).filter((member) => !kept.has(member))
    return lost.length === 0 ? [] : [overlap(loser, winner, lost)]
  })
}

/** The members of the field that can be lost. */
function membersOf(item: PolicyItem): readonly string[] {
  const accumulating = definitionOf(item)?.accumulates ?? []
  return Object.keys(item.spec ?? {}).filter((name) => !accumulating.includes(name))
}

function definitionOf({ section, field }: PolicyItem) {
  return policyDefinition(section, field)
}
