import type { ApiObject } from './object.ts'

/** Objects that came or changed, and those that went, as they were last. */
export interface ObjectChange {
  readonly set: readonly ApiObject[]
  readonly removed: readonly ApiObject[]
}

/** Collects changes until somebody takes them; what changes several times counts once. */
export class ObjectChanges {
  /** What each object was when changes were last taken; undefined: it was not there. */
  readonly #before = new Map<string, ApiObject | undefined>()

  note(key: string, before: ApiObject | undefined): void {
    if (!this.#before.has(key)) this.#before.set(key, before)
  }

  /** @param objects as they are now, by key */
  take(objects: ReadonlyMap<string, ApiObject>): ObjectChange {
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
