import { charge } from './budget.ts'
import { CelError } from './error.ts'
import { Double, Duration, HostObject, MapValue, Optional, Timestamp, TypeValue, Uint, type Value } from './value.ts'
import { WEIGHTS } from './weights.ts'

/**
 * CEL equality: numbers by mathematical value regardless of type, lists and maps by elements. Values of different types are unequal. NaN is
 * unequal to itself.
 */
export function equals(a: Value, b: Value): boolean {
  if (typeof a === 'string' && typeof b === 'string') return equalTexts(a, b)
  // Not for objects: a list or map with a NaN is unequal to itself.
  if (a === b && (a === null || typeof a !== 'object')) return true
  if (a instanceof HostObject) return a.equals(b)
  const x = numberOf(a)
  if (x !== undefined) {
    const y = numberOf(b)
    // biome-ignore lint/suspicious/noDoubleEquals: `==` compares bigint and number by value
    return y !== undefined && x == y
  }
  return a !== null && b !== null && typeof a === 'object' && typeof b === 'object' && equalObjects(a, b)
}

/** `a === b`; it compares the contents only if the lengths are equal. */
export function equalTexts(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  charge(a.length * WEIGHTS.equalUnit)
  return a === b
}

/** The value of an int, uint or double. */
export function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  return value instanceof Double || value instanceof Uint ? value.value : undefined
}

function equalObjects(a: Value & object, b: Value & object): boolean {
  if (a instanceof MapValue) return b instanceof MapValue && equalMaps(a, b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b)
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b)
  return Array.isArray(a) && Array.isArray(b) && equalLists(a, b)
}

function equalLists(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    charge(WEIGHTS.comparison)
    if (!equals(a[i]!, b[i]!)) return false
  }
  return true
}

function equalMaps(a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    charge(WEIGHTS.entry)
    const x = a.get(key)
    const y = b.get(key)
    if (x === undefined || y === undefined || x instanceof CelError || y instanceof CelError || !equals(x, y))
      return false
  }
  return true
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  charge(a.length * WEIGHTS.orderedUnit)
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function equalOptionals(a: Optional, b: Optional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  charge(WEIGHTS.comparison)
  return equals(a.value, b.value)
}

/** Order of two values: negative, positive or zero. @returns NaN for a NaN, undefined for types without an order between them */
export function compare(a: Value, b: Value): number | undefined {
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : undefined
  if (numberOf(a) !== undefined) return compareNumbers(a, b)
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined
  if (a instanceof Timestamp) return b instanceof Timestamp ? compareTimes(a, b) : undefined
  if (a instanceof Duration) return b instanceof Duration ? compareTimes(a, b) : undefined
  return undefined
}

/** A double and an int outside the range of exact doubles are compared as doubles, as the language defines. */
function compareNumbers(a: Value, b: Value): number | undefined {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x === undefined || y === undefined) return undefined
  if (a instanceof Double !== b instanceof Double) return Number(x) - Number(y)
  if (x < y) return -1
  if (x > y) return 1
  // biome-ignore lint/suspicious/noDoubleEquals: `==` compares bigint and number by value
  return x == y ? 0 : Number.NaN
}

/** By code points: UTF-16 order differs between surrogates and the code units above them. */
function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  charge(length * WEIGHTS.orderedUnit)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Orders surrogates above all other code units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  charge(length * WEIGHTS.orderedUnit)
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return a.length - b.length
}

function compareTimes(a: Timestamp | Duration, b: Timestamp | Duration): number {
  return a.seconds - b.seconds || a.nanos - b.nanos
}
