import { policyDefinition } from '#api/policy-fields.ts'
import { compareText } from '#base/compare-text.ts'
import { describeOrigin, type Origin } from '#base/origin.ts'
import { LEVEL, type PolicyItem } from '#plan/item.ts'

/** A field of a policy that another policy overrides, possibly against the intention of its author (decision A-24). */
export interface Overlap {
  readonly loser: PolicyItem
  /** Members of the field that have no effect; undefined if the whole field has none. */
  readonly lost: readonly string[] | undefined
  /** The target where it has no effect: that of the winner, which is inside the target of the loser. */
  readonly at: string
  /** The winner, for messages. */
  readonly by: string
  /** The winner is of the same object, and for this section of it. */
  readonly ownSection: string | undefined
  /** The winner does not require a credential that the loser requires. */
  readonly weakens: boolean
  /** Members of the loser that protect, and that the winner lacks: `promptGuard`, or `promptGuard.request` if it guards only responses. */
  readonly unprotected: readonly string[]
}

/** Whether another policy for the same target can override the whole field. */
export function canBeOverridden(item: PolicyItem): boolean {
  return definitionOf(item)?.merge !== 'accumulate'
}

/** Whether policies of different levels merge by members of the field, so that one can override some members of another. */
export function canBePartlyOverridden(item: PolicyItem): boolean {
  return definitionOf(item)?.merge === 'members'
}

/** Sorts the overlaps of one object by field, then by winner. */
export function byLoser(a: Overlap, b: Overlap): number {
  return (
    compareText(a.loser.path, b.loser.path) ||
    compareText(a.lost?.join() ?? '', b.lost?.join() ?? '') ||
    compareText(a.by, b.by) ||
    compareText(a.loser.key, b.loser.key)
  )
}

function overlap(loser: PolicyItem, winner: PolicyItem, lost: Overlap['lost']): Overlap {
  const { target: at } = winner
  return {
    loser,
    lost,
    at,
    by: describeWinner(winner),
    ownSection: ownSection(winner, loser),
    weakens: weakens(winner, loser),
    unprotected: unprotected(winner, loser),
  }
}

function ownSection({ origin, target }: PolicyItem, loser: PolicyItem): string | undefined {
  const { kind, namespace, name } = origin
  const own = `${kind}/${namespace}/${name}`
  const { origin: other } = loser
  if (own !== `${other.kind}/${other.namespace}/${other.name}` || !target.startsWith(`${own}/`)) return undefined
  return target.slice(own.length + 1)
}

/** Whether requests pass without a value that the other policy guarantees, as with another mode than Strict. */
function weakens(winner: PolicyItem, loser: PolicyItem): boolean {
  const kept = guaranteesOf(winner)
  return guaranteesOf(loser).some((name) => !kept.includes(name))
}

function guaranteesOf(item: PolicyItem): readonly string[] {
  return definitionOf(item)?.guarantees?.(item.spec as never) ?? []
}

function unprotected({ spec: kept }: PolicyItem, loser: PolicyItem): readonly string[] {
  const protects = definitionOf(loser)?.protects
  if (protects === undefined || protects === true) return []
  return protects.flatMap((name) => {
    const [own, other] = [memberOf(loser.spec, name), memberOf(kept, name)]
    if (own === undefined || other === undefined) return own === undefined ? [] : [name]
    return Object.keys(own).flatMap((part) => (part in other ? [] : [`${name}.${part}`]))
  })
}

function memberOf(spec: unknown, name: string): object | undefined {
  return (spec as Readonly<Record<string, object>>)[name]
}

/** A backend that sets the field itself is its own target. */
function describeWinner({ origin, target }: PolicyItem): string {
  const { kind, namespace, name } = origin
  const winner = describeOrigin(nameOnly(origin))
  return target === `${kind}/${namespace}/${name}` ? winner : `${winner} at ${target}`
}

/** Without the position in a file, on which a status must not depend. */
function nameOnly({ kind, namespace, name }: Origin): Origin {
  return { kind, namespace, name }
}

/** The field as in the object: `traffic.rateLimit`. */
export function fieldName({ section, field }: PolicyItem): string {
  return `${section}.${field}`
}

/** Policies with the same key set the same field for the same target. The phases of `traffic` do not merge with each other. */
export function mergeKey(item: PolicyItem, target: string): string {
  return `${fieldName(item)}/${item.phase ?? ''} ${target}`
}

/**
 * Finds policies that set the same field for the same target at the same level: only the one with the highest precedence applies.
 * @param items the policies with one `mergeKey`
 */
export function findTies(items: readonly PolicyItem[]): readonly Overlap[] {
  if (items.length < 2) return []
  const winners = new Map<string, PolicyItem>()
  return items.toSorted(byPrecedence).flatMap((item) => {
    const winner = winners.get(item.level)
    if (winner === undefined) winners.set(item.level, item)
    if (winner === undefined || losesNothing(item)) return []
    const found = overlap(item, winner, undefined)
    return [{ ...found, by: `${found.by} (${reasonOf(item, winner)})` }]
  })
}

/** Why the winner takes precedence, see `byPrecedence`. Objects of files have no time. */
function reasonOf(loser: PolicyItem, winner: PolicyItem): string {
  if (loser.created === winner.created) return 'its name is first'
  return winner.created === '' ? 'it is in a file' : 'it is older'
}

/** Whether all members of the field accumulate, so that they apply together with those of the winner. */
function losesNothing(item: PolicyItem): boolean {
  return definitionOf(item)?.accumulates !== undefined && membersOf(item).length === 0
}

/** Older objects first, then by namespace and name (decision A-23). */
function byPrecedence(a: PolicyItem, b: PolicyItem): number {
  return (
    compareText(a.created, b.created) ||
    compareText(a.origin.namespace, b.origin.namespace) ||
    compareText(a.origin.name, b.origin.name)
  )
}

/**
 * Finds policies that lose members which the winner does not set, because the winner replaces the whole field. A policy that loses no
 * other members is not reported: precedence works as intended.
 * @param others policies for the same field, at the target of the winner and the targets that contain it
 */
export function findPartial(winner: PolicyItem, others: readonly PolicyItem[]): readonly Overlap[] {
  const kept = new Set(membersOf(winner))
  return others.flatMap((loser) => {
    if (LEVEL[loser.level] >= LEVEL[winner.level]) return []
    const members = membersOf(loser).filter((member) => !kept.has(member))
    const lost = [...new Set([...members, ...unprotected(winner, loser)])]
    return lost.length === 0 ? [] : [overlap(loser, winner, lost)]
  })
}

/** The members of the field that do not accumulate. */
function membersOf(item: PolicyItem): readonly string[] {
  const accumulating = definitionOf(item)?.accumulates ?? []
  return Object.keys(item.spec ?? {}).filter((name) => !accumulating.includes(name))
}

function definitionOf({ section, field }: PolicyItem) {
  return policyDefinition(section, field)
}
