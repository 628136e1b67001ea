import type { Attachment } from '#plan/item.ts'
import type { AttachedRule } from './places.ts'

/** A rule of a route at a listener, and the hostnames for which it is there. */
export interface Attached<Item> {
  readonly route: Item
  readonly hostnames: readonly string[]
}

/** The rules at each listener, in the order of the routes. */
export function groupByListener<Item extends { readonly attachments: readonly Attachment[] }>(
  routes: readonly Item[],
): ReadonlyMap<string, readonly Attached<Item>[]> {
  const byListener = new Map<string, Attached<Item>[]>()
  for (const route of routes) {
    for (const { listener, hostnames } of route.attachments) {
      const list = byListener.get(listener)
      if (list === undefined) byListener.set(listener, [{ route, hostnames }])
      else list.push({ route, hostnames })
    }
  }
  return byListener
}

export function sameRoutes(old: readonly Attached<unknown>[], attached: readonly Attached<unknown>[]): boolean {
  return old.length === attached.length && old.every(({ route }, i) => route === attached[i]!.route)
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
