import type { ApiObject } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'

/** Where objects come from and statuses go. All stored objects are valid. */
export interface ObjectStore {
  /** All objects, in no particular order. The list and its objects never change; a change makes a new list. */
  list(): readonly ApiObject[]
  /** Changes since the last call; everything on the first call. */
  takeChange(): ObjectChange
  /** Calls back after objects changed, without saying which. Statuses do not count. Returns the way to stop it. */
  subscribe(onChange: () => void): () => void
  /** The status last written for an object (`objectKey`), if any. */
  statusOf(key: string): unknown
  /** Replaces the status of an object. The status of an object that goes away goes with it. */
  writeStatus(key: string, status: unknown): void
}
