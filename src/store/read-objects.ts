import { kindOfCollection } from '#api/collection.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { FileProblem } from './file-problem.ts'
import type { Resource, ResourceKey } from './resources/resource.ts'
import type { CheckedObjects } from './store.ts'
import { inForce, StoredObjects } from './stored-objects.ts'

/** Objects that were read from an API once, checked as a gateway checks those of its own API. */
export class ReadObjects implements CheckedObjects {
  readonly #stored = new StoredObjects()

  /** @returns the object that is in force with it, if any */
  add(key: ResourceKey, resource: Resource): ApiObject | undefined {
    this.#stored.set(key, resource)
    const stored = this.#stored.get(objectKey(kindOfCollection(key.collection)!.kind, key.namespace, key.name))
    return stored && inForce(stored)
  }

  list(): readonly ApiObject[] {
    return [...this.#stored.all()].flatMap(([, stored]) => inForce(stored) ?? [])
  }

  takeChange(): ObjectChange {
    return {
      set: this.list(),
      removed: [],
      refused: this.#stored.refused(),
      refusedPolicies: this.#stored.refusedPolicies(),
    }
  }

  problems(): readonly FileProblem[] {
    return this.#stored.problems()
  }

  /** Objects of an API have no place. */
  locate(): undefined {
    return undefined
  }
}
