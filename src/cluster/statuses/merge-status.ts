import { GATEWAY_GROUP } from '#api/groups.ts'
import { sameData } from '#base/incremental/same-data.ts'
import { isOwnCondition, MAX_CONDITIONS } from '#control/status/foreign-conditions.ts'
import { SUMMARY } from '#control/status/policy-ancestors.ts'
import { itemsOf, type Members, membersOf } from '../kubeconfig.ts'

/**
 * The lists of entries of several controllers, with the member that says what an entry is about, and their maximum length (Gateway API,
 * RouteStatus and PolicyStatus). They are atomic: whoever changes an entry writes the whole list.
 */
const SHARED: ReadonlyMap<string, Shared> = new Map([
  ['parents', { about: 'parentRef', max: 32 }],
  ['ancestors', { about: 'ancestorRef', max: 16 }],
])

interface Shared {
  readonly about: string
  readonly max: number
}

/**
 * Puts our part of a status into the status that the API has. Entries and conditions of other controllers stay as and where they are.
 * @param stored the status in the API
 * @param own our status; entries and conditions of others in it are ignored
 * @param controller `controllerName` of our entries
 * @returns undefined if the API has it already
 */
export function mergeStatus(stored: unknown, own: Members, controller: string): Members | undefined {
  const before = membersOf(stored)
  const merged: Record<string, unknown> = { ...before }
  for (const [name, value] of Object.entries(besideOthers(before, own, controller))) {
    const shared = SHARED.get(name)
    if (shared !== undefined)
      merged[name] = mergeEntries(before[name], ownEntries(value, controller), { ...shared, controller })
    else if (name === 'conditions') merged[name] = mergeConditions(before[name], value)
    else if (name === 'listeners') merged[name] = mergeListeners(before[name], value)
    else merged[name] = value
  }
  return sameData(merged, before) ? undefined : merged
}

/**
 * Our part of the status of a policy that other controllers have entries in. Which targets are not attached, only one that attached none may
 * say, and if none did, the first. The conditions of the whole policy would be about the Gateways of one controller, so none writes them (decision A-140).
 */
function besideOthers(stored: Members, own: Members, controller: string): Members {
  const entries = itemsOf(own.ancestors).map(membersOf)
  const others = itemsOf(stored.ancestors).length - ownEntries(stored.ancestors, controller).length
  if (others === 0 || own.conditions === undefined) return own
  const { conditions: _, ...rest } = own
  return entries.every(isAboutNoGateway) ? { ...rest, ancestors: [] } : { ...rest, conditions: [] }
}

/** Whether it is about targets that are not attached. */
function isAboutNoGateway({ ancestorRef, conditions }: Members): boolean {
  const types = itemsOf(conditions).map((condition) => membersOf(condition).type)
  return membersOf(ancestorRef).name === SUMMARY.name && !types.includes('StatusSummarized')
}

/** The entries of a controller. */
function ownEntries(entries: unknown, controller: string): readonly Members[] {
  return itemsOf(entries)
    .map(membersOf)
    .filter(({ controllerName }) => controllerName === controller)
}

/** Our part of a status. */
export function ownPart(status: unknown, controller: string): Members {
  const own = Object.entries(membersOf(status)).map(([name, value]) => [
    name,
    SHARED.has(name) ? ownEntries(value, controller) : value,
  ])
  return Object.fromEntries(own)
}

/** Replaces our entries where they are, removes those that are no longer needed, and adds new ones at the end, as far as there is room. */
function mergeEntries(stored: unknown, own: readonly Members[], merge: Shared & { readonly controller: string }) {
  const { about, max, controller } = merge
  const waiting = new Map(own.map((entry) => [subject(entry[about]), entry]))
  const kept = itemsOf(stored).flatMap((entry) => {
    const before = membersOf(entry)
    if (before.controllerName !== controller) return [entry]
    const key = subject(before[about])
    const next = waiting.get(key)
    waiting.delete(key)
    // The API adds defaults to references.
    return next === undefined ? [] : [{ ...withTimes(next, before), [about]: before[about] }]
  })
  return [...kept, ...[...waiting.values()].slice(0, Math.max(0, max - kept.length))]
}

/** What an entry is about, with the defaults of the API. */
function subject(reference: unknown): string {
  const { group = GATEWAY_GROUP, kind = 'Gateway', namespace, name, sectionName, port } = membersOf(reference)
  return JSON.stringify([group, kind, namespace, name, sectionName, port])
}

/** A condition whose `status` is as before keeps its time. */
function withTimes(entry: Members, before: Members): Members {
  const earlier = new Map(itemsOf(before.conditions).map((condition) => [membersOf(condition).type, condition]))
  const conditions = itemsOf(entry.conditions).map((it) => withTime(membersOf(it), earlier.get(membersOf(it).type)))
  return { ...entry, conditions }
}

function withTime(condition: Members, before: unknown): Members {
  const { status, lastTransitionTime } = membersOf(before)
  return status === condition.status && lastTransitionTime !== undefined
    ? { ...condition, lastTransitionTime }
    : condition
}

/** Conditions of others that do not fit beside ours are left out: the API accepts no more. */
function mergeConditions(stored: unknown, own: unknown): readonly unknown[] {
  const ours = itemsOf(own)
    .map(membersOf)
    .filter(({ type }) => isOwnCondition(type))
  const waiting = new Map(ours.map((condition) => [condition.type, condition]))
  let room = MAX_CONDITIONS - waiting.size
  const kept = itemsOf(stored).flatMap((before) => {
    const { type } = membersOf(before)
    if (!isOwnCondition(type)) return --room >= 0 ? [before] : []
    const next = waiting.get(type)
    waiting.delete(type)
    return next === undefined ? [] : [withTime(next, before)]
  })
  return [...kept, ...waiting.values()]
}

/** All listeners of an object belong to its controller; conditions of others in them stay. */
function mergeListeners(stored: unknown, own: unknown): readonly unknown[] {
  const earlier = new Map(itemsOf(stored).map((listener) => [membersOf(listener).name, membersOf(listener)]))
  return itemsOf(own)
    .map(membersOf)
    .map((listener) => {
      const before = earlier.get(listener.name)
      return { ...listener, conditions: mergeConditions(before?.conditions, listener.conditions) }
    })
}

/**
 * Takes our part out of the status that the API has.
 * @param written our part as we wrote it last; the conditions that others have changed since then are theirs. Undefined: not known
 * @returns undefined if the API has nothing of it
 */
export function withdrawStatus(stored: unknown, written: Members | undefined, controller: string): Members | undefined {
  const before = membersOf(stored)
  const left: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(before)) {
    const rest = SHARED.has(name)
      ? itemsOf(value).filter((entry) => membersOf(entry).controllerName !== controller)
      : withoutWritten(name, value, written?.[name])
    if (rest !== undefined) left[name] = rest
  }
  return sameData(left, before) ? undefined : left
}

/** @returns undefined if nothing is left: the API has a default for conditions */
function withoutWritten(name: string, value: unknown, written: unknown): unknown {
  if (name === 'conditions') return nonEmpty(withoutConditions(value, written))
  if (name !== 'listeners') return sameData(value, written) ? undefined : value
  const ours = new Map(itemsOf(written).map((listener) => [membersOf(listener).name, membersOf(listener)]))
  const left = itemsOf(value).flatMap((item) => {
    const listener = membersOf(item)
    const own = ours.get(listener.name)
    if (own === undefined) return [item]
    const conditions = withoutConditions(listener.conditions, own.conditions)
    return conditions.length === 0 ? [] : [{ ...listener, conditions }]
  })
  return nonEmpty(left)
}

function withoutConditions(value: unknown, written: unknown): readonly unknown[] {
  const ours = itemsOf(written).filter((condition) => isOwnCondition(membersOf(condition).type))
  return itemsOf(value).filter((condition) => !ours.some((own) => sameData(own, condition)))
}

function nonEmpty(list: readonly unknown[]): readonly unknown[] | undefined {
  return list.length === 0 ? undefined : list
}
