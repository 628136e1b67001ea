import type { Resource, ResourceEvent, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable } from '#store/resources/resource-table.ts'

/** Which objects exist, by uid, and which objects they own. */
export class OwnerIndex {
  readonly #keys = new Map<string, ResourceKey>()
  readonly #dependents = new Map<string, Map<string, ResourceKey>>()

  constructor(table: ResourceTable) {
    for (const collection of table.collections) {
      for (const object of table.list(collection)) {
        const { namespace = '', name } = object.metadata
        this.#add({ collection, namespace, name }, object)
      }
    }
  }

  update({ type, key, object, before }: ResourceEvent): void {
    if (before !== undefined) this.#remove(key, before)
    if (type !== 'DELETED') this.#add(key, object)
  }

  /** The living object with a uid. */
  keyOf(uid: string): ResourceKey | undefined {
    return this.#keys.get(uid)
  }

  dependentsOf(uid: string): readonly ResourceKey[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])]
  }

  #add(key: ResourceKey, { metadata }: Resource): void {
    this.#keys.set(metadata.uid, key)
    for (const { uid } of metadata.ownerReferences ?? []) {
      const owned = this.#dependents.get(uid) ?? new Map<string, ResourceKey>()
      this.#dependents.set(uid, owned.set(textOf(key), key))
    }
  }

  #remove(key: ResourceKey, { metadata }: Resource): void {
    this.#keys.delete(metadata.uid)
    for (const { uid } of metadata.ownerReferences ?? []) {
      const owned = this.#dependents.get(uid)
      owned?.delete(textOf(key))
      if (owned?.size === 0) this.#dependents.delete(uid)
    }
  }
}

function textOf({ collection, namespace, name }: ResourceKey): string {
  return `${collection}/${namespace}/${name}`
}
