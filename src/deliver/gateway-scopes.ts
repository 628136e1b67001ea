import type { PlanChange } from '#plan/delta.ts'
import type { PlanItem, SecretItem } from '#plan/item.ts'
import { type ItemPlace, placeOf, type SecretSelection } from './item-place.ts'

/** A node of the items' places, with what is there. Objects instead of names, because searches of thousands of items visit all of them. */
interface Node {
  readonly name: string
  readonly items: Set<PlacedItem>
  /** The number of places that have it. */
  uses: number
  /** The last search that came here. */
  search: number
}

interface PlacedItem {
  readonly key: string
  readonly place: ItemPlace
  readonly at: readonly Node[]
  readonly leadsTo: readonly Node[]
  search: number
}

/** Finds the items that each Gateway uses. A proxy gets those of its Gateway, so that it never sees Secrets of another one. */
export class GatewayScopes {
  readonly #items = new Map<string, PlacedItem>()
  readonly #nodes = new Map<string, Node>()
  readonly #secrets = new Map<string, SecretItem>()
  #searches = 0

  /** @returns whether some Gateway may use other items than before */
  take({ set, removed }: PlanChange): boolean {
    let isChanged = false
    for (const key of removed) isChanged = this.#replace(key, undefined) || isChanged
    for (const item of set) isChanged = this.#replace(item.key, item) || isChanged
    return isChanged
  }

  /** @param gateway key of a `GatewayItem` @returns the keys of the items that it uses, each once */
  itemsOf(gateway: string): readonly string[] {
    const search = ++this.#searches
    const found: string[] = []
    const open: Node[] = []
    const visit = (node: Node | undefined) => {
      if (node === undefined || node.search === search) return
      node.search = search
      open.push(node)
    }
    visit(this.#nodes.get(gateway))
    for (const { items } of open) {
      for (const item of items) {
        if (item.search === search) continue
        item.search = search
        found.push(item.key)
        for (const next of item.leadsTo) visit(next)
        for (const selection of item.place.selects)
          for (const secret of this.#selected(selection)) visit(this.#nodes.get(secret))
      }
    }
    return found
  }

  #replace(key: string, item: PlanItem | undefined): boolean {
    const before = this.#items.get(key)
    const place = item && placeOf(item)
    const labelsChanged = this.#replaceSecret(key, item)
    if (isSame(before?.place, place)) return labelsChanged
    if (before !== undefined) this.#remove(before)
    if (place !== undefined) this.#add(key, place)
    return true
  }

  #add(key: string, place: ItemPlace): void {
    const nodesOf = (names: readonly string[]) => names.map((name) => this.#use(name))
    const item: PlacedItem = { key, place, at: nodesOf(place.at), leadsTo: nodesOf(place.leadsTo), search: 0 }
    for (const node of item.at) node.items.add(item)
    this.#items.set(key, item)
  }

  #remove(item: PlacedItem): void {
    for (const node of item.at) node.items.delete(item)
    for (const node of [...item.at, ...item.leadsTo]) if (--node.uses === 0) this.#nodes.delete(node.name)
    this.#items.delete(item.key)
  }

  #use(name: string): Node {
    let node = this.#nodes.get(name)
    if (node === undefined) {
      node = { name, items: new Set(), uses: 0, search: 0 }
      this.#nodes.set(name, node)
    }
    node.uses++
    return node
  }

  #replaceSecret(key: string, item: PlanItem | undefined): boolean {
    const before = this.#secrets.get(key)
    if (item?.kind === 'secret') this.#secrets.set(key, item)
    else this.#secrets.delete(key)
    return before !== undefined && item?.kind === 'secret' && !isSame(before.labels, item.labels)
  }

  #selected({ namespace, labels }: SecretSelection): readonly string[] {
    const wanted = Object.entries(labels)
    return [...this.#secrets.values()]
      .filter(
        (secret) => secret.namespace === namespace && wanted.every(([name, value]) => secret.labels[name] === value),
      )
      .map(({ key }) => key)
  }
}

/** Both consist of JSON that was built in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
