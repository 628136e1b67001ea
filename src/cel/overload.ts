import { CelError } from './error.ts'
import { parseSignature, type Signature } from './parse-type.ts'
import type { Type } from './type.ts'
import {
  Double,
  Duration,
  HostObject,
  MapValue,
  Optional,
  type Result,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './value.ts'

/** Called with values that match the signature, the receiver first. Returns a value or an error value, and never throws. */
export type Implementation = (...args: readonly Value[]) => Result

/**
 * Prepares a call with constant arguments (`undefined`: not constant): compiles a pattern once, parses a network once. Returns a faster
 * implementation for the same arguments, an error if the constant makes every call fail, or undefined to use the ordinary implementation.
 */
export type Prepare = (args: readonly (Value | undefined)[]) => Implementation | CelError | undefined

export interface OverloadOptions {
  /** False if equal arguments may give different results; such calls are not evaluated at compile time. Default true. */
  readonly pure?: boolean
  /** Runs if no earlier overload matches the values, and does not affect the result type while one may match. */
  readonly fallback?: boolean
  readonly prepare?: Prepare
}

/** One signature of a function with its implementation. */
export interface Overload {
  readonly signature: string
  readonly name: string
  readonly isMember: boolean
  /** The receiver, if any, comes first. */
  readonly params: readonly Type[]
  readonly variadic: boolean
  readonly result: Type
  readonly call: Implementation
  /** Runs instead of `call`, with the context of the evaluation; only for functions without parameters. */
  readonly callInContext: ((context: never) => Result) | undefined
  readonly pure: boolean
  readonly fallback: boolean
  readonly prepare: Prepare | undefined
}

/**
 * Declares a function: `define('(string).startsWith(string) -> bool', (s: string, prefix: string) => s.startsWith(prefix))`. Single capital
 * letters in a signature are type parameters; `...` after the last parameter makes it variadic.
 */
export function define(signature: string, call: (...args: never[]) => Result, options: OverloadOptions = {}): Overload {
  const parsed = parseSignature(signature)
  return {
    signature,
    name: parsed.name,
    isMember: parsed.receiver !== undefined,
    params: paramsOf(parsed),
    variadic: parsed.variadic,
    result: parsed.result,
    call: call as Implementation,
    callInContext: undefined,
    pure: options.pure ?? true,
    fallback: options.fallback ?? false,
    prepare: options.prepare,
  }
}

/** Declares a function without parameters whose result depends on the context: `random() -> double`. */
export function defineInContext<C>(signature: string, callInContext: (context: C) => Result): Overload {
  return { ...define(signature, () => NO_CONTEXT, { pure: false }), callInContext }
}

const NO_CONTEXT = new CelError('failed', 'there is no context')

function paramsOf({ receiver, params }: Signature): readonly Type[] {
  return receiver === undefined ? params : [receiver, ...params]
}

export type Guard = (value: Result | undefined) => boolean

/** A test whether a value matches a parameter type. It refuses errors, so that a passed guard means that the argument was evaluated. */
export function guardOf(type: Type): Guard {
  switch (type.kind) {
    case 'bool':
      return (value) => typeof value === 'boolean'
    case 'string':
      return (value) => typeof value === 'string'
    case 'int':
      return (value) => typeof value === 'number' || typeof value === 'bigint'
    case 'null':
      return (value) => value === null
    case 'uint':
      return (value) => value instanceof Uint
    case 'double':
      return (value) => value instanceof Double
    case 'bytes':
      return (value) => value instanceof Uint8Array
    case 'timestamp':
      return (value) => value instanceof Timestamp
    case 'duration':
      return (value) => value instanceof Duration
    case 'list':
      return (value) => Array.isArray(value)
    case 'map':
      return (value) => value instanceof MapValue
    case 'type':
      return (value) => value instanceof TypeValue
    case 'object':
      return (value) => value instanceof HostObject && value.typeName === type.name
    case 'opaque':
      return guardOfOpaque(type.name)
    default:
      return (value) => value !== undefined && !(value instanceof CelError)
  }
}

function guardOfOpaque(name: string): Guard {
  if (name === 'optional_type') return (value) => value instanceof Optional
  return (value) => value instanceof HostObject && value.typeName === name
}

/** Whether a call may have this number of arguments, including the receiver. */
export function acceptsCount(overload: Overload, count: number): boolean {
  return overload.variadic ? count >= overload.params.length : count === overload.params.length
}

/** The parameter types for a number of arguments; the last one is repeated if variadic. */
export function paramsFor(overload: Overload, count: number): readonly Type[] {
  if (count === overload.params.length) return overload.params
  const last = overload.params[overload.params.length - 1]!
  return [...overload.params, ...Array.from({ length: count - overload.params.length }, () => last)]
}
