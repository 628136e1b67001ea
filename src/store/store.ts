import type { ApiObject } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'

/** Provides objects and stores their statuses. All stored objects are valid. */
export interface ObjectStore {
  /** All objects, in no particular order. The list and its objects are immutable; a change creates a new list. */
  list(): readonly ApiObject[]
  /** Changes since the last call; everything on the first call. */
  takeChange(): ObjectChange
  /** Registers a callback for changes of objects, but not of statuses. @returns a function that unsubscribes */
  subscribe(onChange: () => void): () => void
  /** The status last written for an object (`objectKey`), if any. */
  statusOf(key: string): unknown
  /** Replaces the status of an object. Removing an object removes its status. */
  writeStatus(key: string, status: unknown): void
  /** Removes the status that was written for an object, if any. */
  withdrawStatus(key: string): void
}
