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
