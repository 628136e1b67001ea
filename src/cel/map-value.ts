import { CelError } from './error.ts'
import { Double, MapValue, type Result, Uint, type Value } from './value.ts'

/** Keys as JavaScript compares them: equal numbers of different CEL types are one key. */
export type MapKey = string | boolean | number | bigint

/** @returns undefined for a value that no key equals */
export function toMapKey(value: Value): MapKey | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Uint) return value.value
  if (!(value instanceof Double) || !Number.isInteger(value.value)) return undefined
  return Number.isSafeInteger(value.value) ? value.value + 0 : BigInt(value.value)
}

/** A map that an expression or a function built. */
export class EntryMap extends MapValue {
  override readonly isBuilt = true
  readonly #entries = new Map<MapKey, Value>()
  #uintKeys: Set<MapKey> | undefined

  get size(): number {
    return this.#entries.size
  }

  get(key: Value): Value | undefined {
    if (typeof key === 'string') return this.#entries.get(key)
    const normal = toMapKey(key)
    return normal === undefined ? undefined : this.#entries.get(normal)
  }

  has(key: Value): boolean {
    return this.get(key) !== undefined
  }

  *keys(): Iterable<Value> {
    for (const key of this.#entries.keys()) {
      yield this.#uintKeys?.has(key) ? new Uint(key as number | bigint) : key
    }
  }

  /** Only while building. The key must be a string, int, uint or bool. */
  set(key: Value, value: Value): this {
    if (key instanceof Uint) {
      this.#uintKeys ??= new Set()
      this.#uintKeys.add(key.value)
    }
    this.#entries.set(toMapKey(key)!, value)
    return this
  }
}

/** Whether CEL admits the value as a key. */
export function isMapKey(value: Value): boolean {
  const type = typeof value
  return type === 'string' || type === 'boolean' || type === 'number' || type === 'bigint' || value instanceof Uint
}

/** One member of a lazily read map; `undefined` when it is absent now. */
export type MemberReader<C> = (context: C) => Result | undefined

/** A root such as `request` as a map: reads declared members on access and copies nothing. */
export class ContextMap<C> extends MapValue {
  readonly #members: ReadonlyMap<string, MemberReader<C>>
  readonly #context: C

  constructor(members: ReadonlyMap<string, MemberReader<C>>, context: C) {
    super()
    this.#members = members
    this.#context = context
  }

  get size(): number {
    return [...this.keys()].length
  }

  get(key: Value): Result | undefined {
    return typeof key === 'string' ? this.#members.get(key)?.(this.#context) : undefined
  }

  has(key: Value): boolean {
    return this.get(key) !== undefined
  }

  *keys(): Iterable<Value> {
    for (const [name, read] of this.#members) {
      const value = read(this.#context)
      if (value !== undefined && !(value instanceof CelError)) yield name
    }
  }
}
