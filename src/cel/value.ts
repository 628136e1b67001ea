/**
 * CEL values as JavaScript values.
 *
 * | CEL       | JavaScript |
 * |-----------|------------|
 * | null, bool, string | `null`, `boolean`, `string` |
 * | int       | `number` when it is a safe integer (never -0), else `bigint`; one form per value, so `===` compares ints |
 * | uint      | `Uint`, holding a `number` or `bigint` by the same rule |
 * | double    | `Double`, holding a `number` |
 * | bytes     | `Uint8Array` |
 * | list      | `readonly Value[]` |
 * | map       | `MapValue` |
 * | timestamp, duration, optional, type | `Timestamp`, `Duration`, `Optional`, `TypeValue` |
 * | anything a host brings | `HostObject` |
 *
 * Ints outnumber doubles by far in gateway rules, so they are the unboxed numbers; doubles and uints pay for an object.
 * A failed evaluation is a `CelError`, never part of a `Value`.
 */
import type { CelError } from './error.ts'

export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  | Uint
  | Double
  | Uint8Array
  | readonly Value[]
  | MapValue
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | HostObject

/** The result of an evaluation. */
export type Result = Value | CelError

export class Uint {
  readonly value: number | bigint
  constructor(value: number | bigint) {
    this.value = value
  }
}

export class Double {
  readonly value: number
  /** The number as written in JSON, if `String(value)` differs: `1.0`, `18446744073709551616`. */
  readonly written: string | undefined
  constructor(value: number, written?: string) {
    this.value = value
    this.written = written
  }
}

/** Seconds since the epoch (whole, may be negative) and 0 to 999,999,999 nanoseconds after them. */
export class Timestamp {
  readonly seconds: number
  readonly nanos: number
  constructor(seconds: number, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }

  /** The instant of a JavaScript time in milliseconds since the epoch. */
  static fromMs(ms: number): Timestamp {
    const seconds = Math.floor(ms / 1000)
    return new Timestamp(seconds, Math.round((ms - seconds * 1000) * 1e6))
  }
}

/** Whole seconds, rounded down, and 0 to 999,999,999 nanoseconds after them: -1ns is `{-1, 999999999}`. */
export class Duration {
  readonly seconds: number
  readonly nanos: number
  constructor(seconds: number, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }

  /** A JavaScript duration in milliseconds, with fractions. */
  static fromMs(ms: number): Duration {
    const seconds = Math.floor(ms / 1000)
    return new Duration(seconds, Math.round((ms - seconds * 1000) * 1e6))
  }
}

export class Optional {
  static readonly none = new Optional(undefined)
  readonly value: Value | undefined
  constructor(value: Value | undefined) {
    this.value = value
  }
}

/** A type as a value: what `type(x)` returns. */
export class TypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A map. Keys are strings, ints, uints and bools; numeric keys of equal value are one key. */
export abstract class MapValue {
  /** Whether an expression created it from other values, rather than the host. */
  readonly isBuilt: boolean = false
  abstract readonly size: number
  /** @returns undefined if the key is absent */
  abstract get(key: Value): Result | undefined
  abstract has(key: Value): boolean
  abstract keys(): Iterable<Value>
}

/**
 * An object of the host: request headers, a secret, a message. Extend it and override the supported operations; all others return "absent"
 * or "no such overload". Declare its type with `HostType` so that it can be checked.
 */
export abstract class HostObject {
  /** The CEL type name, as `type(x)` prints it. */
  abstract readonly typeName: string

  /** `x.name`; undefined if absent. */
  member(_name: string): Result | undefined {
    return undefined
  }

  /** `x[key]`, also `key in x` unless `has` is overridden; undefined if absent. */
  index(key: Value): Result | undefined {
    return typeof key === 'string' ? this.member(key) : undefined
  }

  /** `has(x.name)`, `"name" in x`; an error for a name that the object can never have. */
  has(name: Value): boolean | CelError {
    return this.index(name) !== undefined
  }

  /** The keys for macros and `size()`. */
  keys(): Iterable<Value> {
    return []
  }

  /** `x.method(args...)`; undefined if there is no such method for these arguments. */
  call(_method: string, _args: readonly Value[]): Result | undefined {
    return undefined
  }

  /** `x == other`. */
  equals(other: Value): boolean {
    return this === other
  }

  /** Whether it is the zero value of its type, for `optional.ofNonZeroValue`. */
  isZero(): boolean {
    return false
  }

  /** The JSON form for `toJson` and access logs; secrets return their redacted form. By default a map of `keys()`. */
  toJson(): unknown {
    return undefined
  }
}
