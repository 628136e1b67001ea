import { collectionOf } from './collection.ts'
import type { ServedKind } from './served-kind.ts'

/** All kinds that the API serves, by group, version and plural name. */
export class KindRegistry {
  readonly #kinds = new Map<string, ServedKind>()
  #version = 1

  constructor(kinds: readonly ServedKind[]) {
    for (const kind of kinds) this.#kinds.set(keyOf(kind), kind)
  }

  /** Rises with every change of the kinds. */
  get version(): number {
    return this.#version
  }

  /** All kinds, in the order in which they were added. */
  get all(): readonly ServedKind[] {
    return [...this.#kinds.values()]
  }

  find(group: string, version: string, plural: string): ServedKind | undefined {
    return this.#kinds.get(keyOf({ group, version, plural }))
  }

  /** The versions of the kind whose objects are in a collection. */
  versionsOf(collection: string): readonly ServedKind[] {
    return this.all.filter((kind) => collectionOf(kind) === collection)
  }

  /** Replaces the kinds of a group and plural name; without kinds, they are no longer served. */
  replace(of: { readonly group: string; readonly plural: string }, kinds: readonly ServedKind[]): void {
    for (const known of this.versionsOf(collectionOf(of))) this.#kinds.delete(keyOf(known))
    for (const kind of kinds) this.#kinds.set(keyOf(kind), kind)
    this.#version += 1
  }
}

function keyOf({ group, version, plural }: Pick<ServedKind, 'group' | 'version' | 'plural'>): string {
  return `${group}/${version}/${plural}`
}
