import { type CelError, DIVISION_BY_ZERO, MODULUS_BY_ZERO, OVERFLOW } from './error.ts'
import { Uint } from './value.ts'

/** An int in canonical form: `number` if safe, else `bigint`. */
export type Int = number | bigint

const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n
const UINT_MAX = 2n ** 64n - 1n

/** The canonical form of an exact integer; an error outside int64. */
export function toInt(exact: bigint): Int | CelError {
  if (exact < INT_MIN || exact > INT_MAX) return OVERFLOW
  return shorten(exact)
}

/** The canonical form of an exact integer as uint; an error outside uint64. */
export function toUint(exact: bigint): Uint | CelError {
  if (exact < 0n || exact > UINT_MAX) return OVERFLOW
  return new Uint(shorten(exact))
}

function shorten(exact: bigint): Int {
  const near = Number(exact)
  return Number.isSafeInteger(near) ? near : exact
}

export function addInts(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return toInt(BigInt(a) + BigInt(b))
}

export function subtractInts(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (Number.isSafeInteger(difference)) return difference
  }
  return toInt(BigInt(a) - BigInt(b))
}

export function multiplyInts(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (Number.isSafeInteger(product)) return product + 0
  }
  return toInt(BigInt(a) * BigInt(b))
}

/** Truncates towards zero. */
export function divideInts(a: Int, b: Int): Int | CelError {
  if (b === 0) return DIVISION_BY_ZERO
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0
  return toInt(BigInt(a) / BigInt(b))
}

/** The result has the sign of the dividend. */
export function remainderOfInts(a: Int, b: Int): Int | CelError {
  if (b === 0) return MODULUS_BY_ZERO
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0
  return toInt(BigInt(a) % BigInt(b))
}

export function negateInt(a: Int): Int | CelError {
  return typeof a === 'number' ? 0 - a : toInt(-a)
}

export function addUints(a: Uint, b: Uint): Uint | CelError {
  return toUint(BigInt(a.value) + BigInt(b.value))
}

export function subtractUints(a: Uint, b: Uint): Uint | CelError {
  return toUint(BigInt(a.value) - BigInt(b.value))
}

export function multiplyUints(a: Uint, b: Uint): Uint | CelError {
  return toUint(BigInt(a.value) * BigInt(b.value))
}

export function divideUints(a: Uint, b: Uint): Uint | CelError {
  return b.value === 0 ? DIVISION_BY_ZERO : toUint(BigInt(a.value) / BigInt(b.value))
}

export function remainderOfUints(a: Uint, b: Uint): Uint | CelError {
  return b.value === 0 ? MODULUS_BY_ZERO : toUint(BigInt(a.value) % BigInt(b.value))
}

/** Truncates a double to an int; an error at the limits of int64, where doubles are not exact. */
export function doubleToInt(value: number): Int | CelError {
  if (!(Math.abs(value) < 2 ** 63)) return OVERFLOW
  return toInt(BigInt(Math.trunc(value)))
}

export function doubleToUint(value: number): Uint | CelError {
  return value >= 0 && value < Number.POSITIVE_INFINITY ? toUint(BigInt(Math.trunc(value))) : OVERFLOW
}
