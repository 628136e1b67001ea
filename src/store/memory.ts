import { type ApiObject, keyOf } from '#api/object.ts'
import type { ObjectStore } from './store.ts'
import { Subscribers } from './subscribers.ts'

/** A store without persistence: tests, examples, and objects that the gateway makes itself. */
export class MemoryStore implements ObjectStore {
  readonly #objects = new Map<string, ApiObject>()
  readonly #statuses = new Map<string, unknown>()
  readonly #subscribers = new Subscribers()
  #list: readonly ApiObject[] | undefined

  constructor(objects: readonly ApiObject[] = []) {
    for (const object of objects) this.#objects.set(keyOf(object), object)
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
    this.#objects.set(keyOf(object), object)
    this.#changed()
  }

  /** @returns whether there was such an object */
  remove(key: string): boolean {
    if (!this.#objects.delete(key)) return false
    this.#statuses.delete(key)
    this.#changed()
    return true
  }

  /** Replaces all objects at once. */
  replaceAll(objects: readonly ApiObject[]): void {
    this.#objects.clear()
    for (const object of objects) this.#objects.set(keyOf(object), object)
    for (const key of this.#statuses.keys()) if (!this.#objects.has(key)) this.#statuses.delete(key)
    this.#changed()
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

  #changed(): void {
    this.#list = undefined
    this.#subscribers.notify()
  }
}
