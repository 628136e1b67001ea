import type { Attached } from '../lookups/plan-index.ts'

/** An attached rule with what was built from it. */
export interface AttachedRule<Item, Rule> {
  readonly route: Item
  readonly rule: Rule
  readonly hostnames: readonly string[]
}

/** Builds the rules; those that existed before are kept. */
export function keepOrBuild<Item, Rule>(
  attached: readonly Attached<Item>[],
  old: readonly AttachedRule<Item, Rule>[] = [],
  build: (route: Item) => Rule,
): readonly AttachedRule<Item, Rule>[] {
  const known = new Map(old.map(({ route, rule }) => [route, rule]))
  return attached.map(({ route, hostnames }) => ({ route, rule: known.get(route) ?? build(route), hostnames }))
}

/** The members that only one of the lists has. Fast if the common members have the same order. */
export function difference<T>(
  before: readonly T[],
  after: readonly T[],
): { readonly removed: readonly T[]; readonly added: readonly T[] } {
  const removed: T[] = []
  const added: T[] = []
  let at = 0
  for (const member of after) {
    while (at < before.length && before[at] !== member) removed.push(before[at++]!)
    if (at < before.length) at++
    else added.push(member)
  }
  removed.push(...before.slice(at))
  if (removed.length === 0 || added.length === 0) return { removed, added }
  // Members that moved are in both.
  const left = new Set(removed)
  const joined = new Set(added)
  return { removed: removed.filter((it) => !joined.has(it)), added: added.filter((it) => !left.has(it)) }
}
