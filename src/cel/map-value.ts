import { CelError } from './error.ts'
import { Double, MapValue, type Result, Uint, type Value } from './value.ts'

/** Map keys as JavaScript values: numbers of different CEL types with equal value are one key. */
export type MapKey = string | boolean | number | bigint

/** @returns undefined for a value that cannot equal a key */
export function toMapKey(value: Value): MapKey | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Uint) return value.value
  if (!(value instanceof Double) || !Number.isInteger(value.value)) return undefined
  return Number.isSafeInteger(value.value) ? value.value + 0 : BigInt(value.value)
}

/** A map that an expression or a function created. */
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

  /** Only during construction. The key must be a string, int, uint or bool. */
  set(key: Value, value: Value): this {
    if (key instanceof Uint) {
      this.#uintKeys ??= new Set()
      this.#uintKeys.add(key.value)
    }
    this.#entries.set(toMapKey(key)!, value)
    return this
  }
}

/** Whether CEL allows the value as a key. */
export function isMapKey(value: Value): boolean {
  const type = typeof value
  return type === 'string' || type === 'boolean' || type === 'number' || type === 'bigint' || value instanceof Uint
}

/** Reads one member; `undefined` if it is absent. */
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
    return isPresent(this.get(key))
  }

  *keys(): Iterable<Value> {
    for (const [name, read] of this.#members) {
      const value = read(this.#context)
      if (isPresent(value) && !(value instanceof CelError)) yield name
    }
  }
}

/** A root below which every variable is absent is absent, too. */
function isPresent(value: Result | undefined): value is Result {
  return value !== undefined && !(value instanceof ContextMap && value.size === 0)
}
