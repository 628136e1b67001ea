import type { ApiObject } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { Origin } from '#base/origin.ts'
import type { FilePosition, FileProblem } from './file-problem.ts'
import type { RemovedObject, StaleFile } from './loaded-file.ts'

/** Provides objects, all of which are valid. */
export interface ObjectSource {
  /** All objects, in an order that only changes with them. The list and its objects are immutable; a change creates a new list. */
  list(): readonly ApiObject[]
  /** Changes since the last call; everything on the first call. */
  takeChange(): ObjectChange
  /** Registers a callback for changes of objects and of problems, but not of statuses. @returns a function that unsubscribes */
  subscribe(onChange: () => void): () => void
  /** Problems because of which it is unknown what has to be protected; the message of each says so. */
  unknownProtection(): readonly FileProblem[]
  /** All problems of the sources of the objects. */
  problems(): readonly FileProblem[]
  /** Why objects keep their last valid version: the problems of the newer one, or those of its file, by key (`objectKey`). */
  refusedEdits(): ReadonlyMap<string, string>
  close(): void
}

/** Statuses of objects. */
export interface Statuses {
  /** The status last written for an object (`objectKey`), if any. */
  statusOf(key: string): unknown
  /** Replaces and removes the statuses of objects. Removing an object removes its status. */
  writeStatuses(change: StatusWrites): void
}

/** What is known of the files that objects are from. */
export interface FileDiagnostics {
  /** Files whose previous objects are in use. */
  stale(): readonly StaleFile[]
  /** The objects that were removed from files while these have had problems, and that no other file contains. */
  removed(): readonly RemovedObject[]
  /** The position of a field of an object in its file. */
  locate(origin: Origin, fieldPath: string): FilePosition | undefined
  /** Reads changed files again. Notifies subscribers if anything is different. */
  reload(): void
}

/** The objects of a gateway on one machine. */
export interface ObjectStore extends ObjectSource, Statuses, FileDiagnostics {}

/** Statuses to write, by key of the object (`objectKey`). */
export interface StatusWrites {
  readonly written: readonly (readonly [key: string, status: unknown])[]
  readonly withdrawn: readonly string[]
}

/** Writes statuses elsewhere, such as to a Kubernetes API, in its own time. */
export interface StatusSink {
  write(writes: StatusWrites): void
}

/** Objects that commands check: they do not change, and nobody writes statuses. The first `takeChange` has all. */
export type CheckedObjects = Pick<ObjectSource, 'list' | 'takeChange' | 'problems'> & Pick<FileDiagnostics, 'locate'>
