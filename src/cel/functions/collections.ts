import { charge } from '../budget.ts'
import { compare, equals } from '../equality.ts'
import { CelError, noSuchOverload, tooLarge } from '../error.ts'
import { EntryMap, toMapKey } from '../map-value.ts'
import { define, type Overload } from '../overload.ts'
import { Double, type MapValue, Optional, type Result, type Value } from '../value.ts'
import { WEIGHTS } from '../weights.ts'

type List = readonly Value[]

/** Maximum length of a list that a function creates. */
export const MAX_LIST = 100_000

/** The lists and sets extensions, and `merge` of maps. */
export const COLLECTION_FUNCTIONS: readonly Overload[] = [
  define('lists.range(int) -> list(int)', range),
  define('(list(A)).slice(int, int) -> list(A)', slice),
  define('(list(list(A))).flatten() -> list(A)', (list: List) => flatten(list, 1)),
  define('(list(dyn)).flatten() -> list(dyn)', (list: List) => flatten(list, 1), { fallback: true }),
  define('(list(dyn)).flatten(int) -> list(dyn)', flatten),
  define('(list(A)).distinct() -> list(A)', distinct),
  define('(list(A)).reverse() -> list(A)', (list: List) => list.toReversed()),
  define('(list(A)).sort() -> list(A)', (list: List) => sortBy(list, list)),
  define('(list(A)).first() -> optional_type(A)', (list: List) => optionalAt(list, 0)),
  define('(list(A)).last() -> optional_type(A)', (list: List) => optionalAt(list, list.length - 1)),
  define('sets.contains(list(A), list(A)) -> bool', containsAll),
  define('sets.equivalent(list(A), list(A)) -> bool', areEquivalent),
  define('sets.intersects(list(A), list(A)) -> bool', intersects),
  define('(map(A, B)).merge(map(A, B)) -> map(A, B)', merge),
  define('(map(dyn, dyn)).merge(map(dyn, dyn)) -> map(dyn, dyn)', merge, { fallback: true }),
]

function range(count: number | bigint): Result {
  if (count > MAX_LIST) return tooLarge()
  charge(Math.max(0, Number(count)) * WEIGHTS.element)
  return Array.from({ length: Math.max(0, Number(count)) }, (_, i) => i)
}

function slice(list: List, start: number | bigint, end: number | bigint): Result {
  if (start < 0 || end > list.length || start > end) return new CelError('range', 'slice out of range')
  return list.slice(Number(start), Number(end))
}

function flatten(list: List, depth: number | bigint): Result {
  if (depth < 0) return new CelError('invalid', 'depth must not be negative')
  const flat: Value[] = []
  const add = (elements: List, left: number): boolean => {
    for (const element of elements) {
      charge(WEIGHTS.element)
      if (left > 0 && Array.isArray(element)) {
        if (!add(element as List, left - 1)) return false
      } else flat.push(element)
      if (flat.length > MAX_LIST) return false
    }
    return true
  }
  return add(list, Math.min(Number(depth), 1000)) ? flat : tooLarge()
}

function optionalAt(list: List, index: number): Optional {
  const value = list[index]
  return value === undefined ? Optional.none : new Optional(value)
}

/** Maximum number of set members without an equality key: they are compared one by one. */
const MAX_OPAQUE = 1000

/** A set of values with lookups in nearly constant time. */
class Members {
  readonly #keys = new Set<string>()
  readonly #opaque: Value[] = []

  constructor(list: List = []) {
    for (const value of list) this.add(value)
  }

  get isFull(): boolean {
    return this.#opaque.length > MAX_OPAQUE
  }

  add(value: Value): void {
    charge(WEIGHTS.setMember)
    const key = equalityKey(value)
    if (key !== undefined) this.#keys.add(key)
    else if (!this.isFull) this.#opaque.push(value)
  }

  has(value: Value): boolean {
    charge(WEIGHTS.setMember)
    const key = equalityKey(value)
    return key === undefined ? this.#opaque.some((other) => isEqual(other, value)) : this.#keys.has(key)
  }
}

function isEqual(a: Value, b: Value): boolean {
  charge(WEIGHTS.comparison)
  return equals(a, b)
}

/** A text that is equal exactly for equal values; undefined if there is none. */
function equalityKey(value: Value): string | undefined {
  if (typeof value === 'string') {
    charge(value.length * WEIGHTS.keyUnit)
    return `"${value.length}:${value}`
  }
  if (value === null || typeof value === 'boolean') return String(value)
  const key = toMapKey(value)
  if (key !== undefined) return String(key)
  if (value instanceof Double && !Number.isNaN(value.value)) return String(value.value)
  if (!Array.isArray(value)) return undefined
  const keys = (value as List).map(equalityKey)
  if (keys.includes(undefined)) return undefined
  const text = `[${keys.join(' ')}]`
  charge(keys.length * WEIGHTS.setMember + text.length * WEIGHTS.keyUnit)
  return text
}

function distinct(list: List): Result {
  const seen = new Members()
  const first = list.filter((value) => {
    if (seen.has(value)) return false
    seen.add(value)
    return true
  })
  return seen.isFull ? tooLarge() : first
}

function containsAll(list: List, wanted: List): Result {
  const members = new Members(list)
  return members.isFull ? tooLarge() : wanted.every((value) => members.has(value))
}

function areEquivalent(a: List, b: List): Result {
  const forth = containsAll(a, b)
  return forth === true ? containsAll(b, a) : forth
}

function intersects(a: List, b: List): Result {
  const members = new Members(a)
  return members.isFull ? tooLarge() : b.some((value) => members.has(value))
}

/** Sorts a list by keys, one per element; the keys must be comparable with each other. */
export function sortBy(list: List, keys: List): Result {
  let comparable = true
  const order = list.map((_, i) => i)
  order.sort((i, j) => {
    charge(WEIGHTS.comparison)
    const sign = compare(keys[i]!, keys[j]!)
    if (sign === undefined) comparable = false
    return sign ?? 0
  })
  if (keys.length === 1 && compare(keys[0]!, keys[0]!) === undefined) comparable = false
  return comparable ? order.map((i) => list[i]!) : noSuchOverload('sort() of values without a common order')
}

function merge(a: MapValue, b: MapValue): Result {
  const merged = new EntryMap()
  for (const map of [a, b]) {
    for (const key of map.keys()) {
      charge(WEIGHTS.entry)
      const value = map.get(key)
      if (value instanceof CelError) return value
      if (value !== undefined) merged.set(key, value)
    }
  }
  return merged
}
