/** A rule of a route at a listener, and the hostnames for which it is there. */
export interface Attached<Item> {
  readonly route: Item
  readonly hostnames: readonly string[]
}

/** The same with its place. */
export interface AttachedRule<Item, Rule> {
  readonly route: Item
  readonly rule: Rule
  readonly hostnames: readonly string[]
}

/** The rules with their places: those that were there before keep theirs. */
export function keepOrBuild<Item, Rule>(
  attached: readonly Attached<Item>[],
  old: readonly AttachedRule<Item, Rule>[] = [],
  build: (route: Item) => Rule,
): readonly AttachedRule<Item, Rule>[] {
  const known = new Map(old.map(({ route, rule }) => [route, rule]))
  return attached.map(({ route, hostnames }) => ({ route, rule: known.get(route) ?? build(route), hostnames }))
}

/** What is in the one list and not in the other; costs little where what stays keeps its order. */
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
  // What changed its place is in both.
  const gone = new Set(removed)
  const come = new Set(added)
  return { removed: removed.filter((it) => !come.has(it)), added: added.filter((it) => !gone.has(it)) }
}
