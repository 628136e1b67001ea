import type { ApiObject } from './object.ts'
import type { RefusedPolicy } from './refused-policy.ts'

/** Objects that were added or changed, and the last state of removed objects. */
export interface ObjectChange {
  readonly set: readonly ApiObject[]
  readonly removed: readonly ApiObject[]
  /** Keys of the objects whose statuses a client wrote. */
  readonly statusWritten?: readonly string[]
  /** Keys of all objects that the sources contain and that are not in use, because they are invalid. Undefined: as before. */
  readonly refused?: ReadonlySet<string>
  /** The policies among them that can be attached, and that protect their targets. Undefined: as before. */
  readonly refusedPolicies?: readonly RefusedPolicy[]
}

/** Collects changes until they are taken; several changes of an object count once. */
export class ObjectChanges {
  /** Each object as of the last call of `take`; undefined: it did not exist. */
  readonly #before = new Map<string, ApiObject | undefined>()

  note(key: string, before: ApiObject | undefined): void {
    if (!this.#before.has(key)) this.#before.set(key, before)
  }

  /** @param objects current objects by key */
  take(objects: Pick<ReadonlyMap<string, ApiObject>, 'get'>): ObjectChange {
    const set: ApiObject[] = []
    const removed: ApiObject[] = []
    for (const [key, before] of this.#before) {
      const now = objects.get(key)
      if (now === before) continue
      if (now !== undefined) set.push(now)
      else if (before !== undefined) removed.push(before)
    }
    this.#before.clear()
    return { set, removed }
  }
}
