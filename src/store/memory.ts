import { type ApiObject, keyOf } from '#api/object.ts'
import { type ObjectChange, ObjectChanges } from '#api/object-change.ts'
import type { ObjectStore } from './store.ts'
import { Subscribers } from './subscribers.ts'

/** A store without persistence: for tests, examples, and objects that the gateway creates. */
export class MemoryStore implements ObjectStore {
  readonly #objects = new Map<string, ApiObject>()
  readonly #statuses = new Map<string, unknown>()
  readonly #subscribers = new Subscribers()
  readonly #changes = new ObjectChanges()
  #list: readonly ApiObject[] | undefined

  constructor(objects: readonly ApiObject[] = []) {
    for (const object of objects) this.#put(object)
  }

  list(): readonly ApiObject[] {
    this.#list ??= Object.freeze([...this.#objects.values()])
    return this.#list
  }

  get(key: string): ApiObject | undefined {
    return this.#objects.get(key)
  }

  /** Adds an object, or replaces the one of the same kind, namespace and name. */
  put(object: ApiObject): void {
    this.#put(object)
    this.#changed()
  }

  /** @returns whether the object existed */
  remove(key: string): boolean {
    const object = this.#objects.get(key)
    if (object === undefined) return false
    this.#changes.note(key, object)
    this.#objects.delete(key)
    this.#statuses.delete(key)
    this.#changed()
    return true
  }

  /** Replaces all objects at once. */
  replaceAll(objects: readonly ApiObject[]): void {
    for (const [key, object] of this.#objects) this.#changes.note(key, object)
    this.#objects.clear()
    for (const object of objects) this.#put(object)
    for (const key of this.#statuses.keys()) if (!this.#objects.has(key)) this.#statuses.delete(key)
    this.#changed()
  }

  takeChange(): ObjectChange {
    return this.#changes.take(this.#objects)
  }

  subscribe(onChange: () => void): () => void {
    return this.#subscribers.add(onChange)
  }

  statusOf(key: string): unknown {
    return this.#statuses.get(key)
  }

  writeStatus(key: string, status: unknown): void {
    if (this.#objects.has(key)) this.#statuses.set(key, status)
  }

  withdrawStatus(key: string): void {
    this.#statuses.delete(key)
  }

  #put(object: ApiObject): void {
    const key = keyOf(object)
    this.#changes.note(key, this.#objects.get(key))
    this.#objects.set(key, object)
  }

  #changed(): void {
    this.#list = undefined
    this.#subscribers.notify()
  }
}
