import type { ApiObject } from '#api/object.ts'
import { keyOf } from '#api/object.ts'
import { type ObjectChange, ObjectChanges } from '#api/object-change.ts'
import { standInForDuplicate } from '#api/refused-route.ts'
import { compareText } from '#base/compare-text.ts'
import { Generations } from './generations.ts'
import type { LoadedFile } from './loaded-file.ts'

/** An object that an earlier position, in the same or another file, also defines. */
export interface Duplicate {
  readonly object: ApiObject
  readonly first: ApiObject
}

/** The objects of all files. If an object is defined several times, the first definition in the order of the files applies. */
export class FileObjects {
  readonly #generations = new Generations()
  readonly #objects = new Map<string, ApiObject>()
  /** All definitions of an object, in order of position, by its key. */
  readonly #definitions = new Map<string, readonly ApiObject[]>()
  readonly #repeated = new Set<string>()
  /** By the key of an object: the keys of the stand-ins for its other definitions. */
  readonly #standIns = new Map<string, ReadonlyMap<ApiObject, string>>()
  readonly #changes = new ObjectChanges()

  get(key: string): ApiObject | undefined {
    return this.#objects.get(key)
  }

  has(key: string): boolean {
    return this.#objects.has(key)
  }

  /** A stand-in for an invalid object is not a version of it. */
  hasVersion(key: string): boolean {
    const object = this.#objects.get(key)
    return object !== undefined && object.refusal === undefined
  }

  /** The object at a position in a file; if an earlier position defines it, its stand-in, if any. */
  at(written: ApiObject): ApiObject | undefined {
    const key = keyOf(written)
    if (this.#definitions.get(key)?.[0] === written) return this.#objects.get(key)
    const standIn = this.#standIns.get(key)?.get(written)
    return standIn === undefined ? undefined : this.#objects.get(standIn)
  }

  get hasDuplicates(): boolean {
    return this.#repeated.size > 0
  }

  /** Duplicates, in the order of the keys. */
  get duplicates(): readonly Duplicate[] {
    return [...this.#repeated].sort().flatMap((key) => {
      const [first, ...others] = this.#definitions.get(key)!
      return others.map((object) => ({ object, first: first! }))
    })
  }

  takeChange(): ObjectChange {
    return this.#changes.take(this.#objects)
  }

  /** Replaces the content of changed files. @returns the keys of removed objects */
  replace(
    changed: readonly (readonly [before: LoadedFile | undefined, after: LoadedFile | undefined])[],
  ): readonly string[] {
    const touched = new Set<string>()
    for (const [before, after] of changed) {
      for (const object of before?.objects ?? []) {
        const key = keyOf(object)
        touched.add(key)
        this.#definitions.set(
          key,
          (this.#definitions.get(key) ?? []).filter((other) => other !== object),
        )
      }
      for (const object of after?.objects ?? []) {
        const key = keyOf(object)
        touched.add(key)
        this.#definitions.set(key, [...(this.#definitions.get(key) ?? []), object].sort(byPosition))
      }
    }
    return [...touched].flatMap((key) => this.#update(key))
  }

  /** @returns the keys of removed objects: the object itself, and stand-ins for its other definitions */
  #update(key: string): readonly string[] {
    const definitions = this.#definitions.get(key) ?? []
    if (definitions.length > 1) this.#repeated.add(key)
    else this.#repeated.delete(key)
    const removed = this.#updateStandIns(key, definitions)
    const [first] = definitions
    if (first !== undefined) {
      this.#set(key, first)
      return removed
    }
    this.#definitions.delete(key)
    return this.#remove(key) ? [...removed, key] : removed
  }

  #updateStandIns(key: string, [first, ...others]: readonly ApiObject[]): readonly string[] {
    const before = this.#standIns.get(key)
    if (before === undefined && others.length === 0) return []
    const standIns = new Map<ApiObject, string>()
    for (const [index, other] of others.entries()) {
      const standIn = standInForDuplicate(other, first!, index + 2)
      if (standIn === undefined) continue
      standIns.set(other, keyOf(standIn))
      this.#set(keyOf(standIn), standIn)
    }
    if (standIns.size > 0) this.#standIns.set(key, standIns)
    else this.#standIns.delete(key)
    const current = new Set(standIns.values())
    return [...(before?.values() ?? [])].filter((standIn) => !current.has(standIn) && this.#remove(standIn))
  }

  #set(key: string, object: ApiObject): void {
    this.#changes.note(key, this.#objects.get(key))
    this.#objects.set(key, this.#generations.number(key, object))
  }

  #remove(key: string): boolean {
    this.#changes.note(key, this.#objects.get(key))
    this.#generations.forget(key)
    return this.#objects.delete(key)
  }
}

/** Stand-ins come last: a valid definition in another file takes precedence. */
function byPosition({ origin: a, refusal }: ApiObject, { origin: b, refusal: other }: ApiObject): number {
  if ((refusal === undefined) !== (other === undefined)) return refusal === undefined ? -1 : 1
  return compareText(a.file ?? '', b.file ?? '') || (a.line ?? 0) - (b.line ?? 0)
}
