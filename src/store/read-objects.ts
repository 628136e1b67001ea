import { kindOfCollection } from '#api/collection.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { FileProblem } from './file-problem.ts'
import type { Resource, ResourceKey } from './resources/resource.ts'
import type { CheckedObjects } from './store.ts'
import { inForce, problemsOf, StoredObjects } from './stored-objects.ts'

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
    const faulty = [...this.#stored.faulty()]
    return {
      set: this.list(),
      removed: [],
      refused: new Set(faulty.flatMap(([key, { object }]) => (object === undefined ? [key] : []))),
      refusedPolicies: faulty.flatMap(([, { policy }]) => (policy && policy.protects.length > 0 ? [policy] : [])),
    }
  }

  problems(): readonly FileProblem[] {
    return [...this.#stored.faulty()].flatMap(([, stored]) => problemsOf(stored).map(withName))
  }

  /** Objects of an API have no place. */
  locate(): undefined {
    return undefined
  }
}

/** There is no place that tells which object it is. */
function withName(problem: FileProblem): FileProblem {
  return problem.object === undefined ? problem : { ...problem, message: `${problem.object}: ${problem.message}` }
}
