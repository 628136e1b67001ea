import type { BinaryOperator } from '../ast.ts'
import { charge } from '../budget.ts'
import { compare, equals, equalTexts } from '../equality.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { type MapKey, toMapKey } from '../map-value.ts'
import { typeNameOf } from '../type-name.ts'
import { HostObject, MapValue, type Result, type Value } from '../value.ts'
import { WEIGHTS } from '../weights.ts'
import { type Code, fold, type Node, nodeOf, type RawCode } from './node.ts'

type Ordering = '<' | '<=' | '>' | '>='

export function compileComparison<C>(operator: BinaryOperator, left: Node<C>, right: Node<C>): Node<C> {
  return fold(nodeOf(comparisonCode(operator, left, right)), [left, right])
}

function comparisonCode<C>(operator: BinaryOperator, left: Node<C>, right: Node<C>): Code<C> {
  if (operator === '==' || operator === '!=') return equalityCode(operator === '!=', left, right)
  if (operator === 'in') return membershipCode(left, right)
  return orderingCode(operator as Ordering, left, right)
}

// Equality

function equalityCode<C>(negated: boolean, left: Node<C>, right: Node<C>): Code<C> {
  if (isPlain(right.constant)) return negated ? unequalTo(left, right.constant) : equalTo(left, right.constant)
  if (isPlain(left.constant)) return negated ? unequalTo(right, left.constant) : equalTo(right, left.constant)
  const [a, b] = [left.code, right.code]
  return (context, frame) => {
    const x = a(context, frame)
    const y = b(context, frame)
    if (typeof x === 'string' && typeof y === 'string') return equalTexts(x, y) !== negated
    if (x instanceof CelError) return x
    return y instanceof CelError ? y : equals(x, y) !== negated
  }
}

/** Constants that can be compared with `===`, except numbers of other types. */
function isPlain(constant: Value | undefined): constant is string | boolean | null | number {
  return (
    constant === null || typeof constant === 'string' || typeof constant === 'boolean' || typeof constant === 'number'
  )
}

function equalTo<C>({ raw, absent }: Node<C>, constant: string | boolean | null | number): Code<C> {
  return (context, frame) => {
    const value = raw(context, frame)
    if (value === constant) return true
    return typeof value === 'string' ? false : isEqual(value, constant, absent)
  }
}

function unequalTo<C>({ raw, absent }: Node<C>, constant: string | boolean | null | number): Code<C> {
  return (context, frame) => {
    const value = raw(context, frame)
    if (value === constant) return false
    if (typeof value === 'string') return true
    const equal = isEqual(value, constant, absent)
    return typeof equal === 'boolean' ? !equal : equal
  }
}

function isEqual(value: Result | undefined, constant: Value, absent: CelError): boolean | CelError {
  if (value === undefined) return absent
  return value instanceof CelError ? value : equals(value, constant)
}

// Order

const FLIPPED: Readonly<Record<Ordering, Ordering>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

function orderingCode<C>(operator: Ordering, left: Node<C>, right: Node<C>): Code<C> {
  if (typeof right.constant === 'number') return orderToNumber(operator, left, right.constant)
  if (typeof left.constant === 'number') return orderToNumber(FLIPPED[operator], right, left.constant)
  const [a, b] = [left.code, right.code]
  return (context, frame) => order(operator, a(context, frame), b(context, frame))
}

/** One closure per operator, for a direct comparison. */
function orderToNumber<C>(operator: Ordering, { raw, absent }: Node<C>, limit: number): Code<C> {
  const slowly = (value: Result | undefined): Result => order(operator, value === undefined ? absent : value, limit)
  const codes: Readonly<Record<Ordering, Code<C>>> = {
    '<': (context, frame) => {
      const value = raw(context, frame)
      return typeof value === 'number' ? value < limit : slowly(value)
    },
    '<=': (context, frame) => {
      const value = raw(context, frame)
      return typeof value === 'number' ? value <= limit : slowly(value)
    },
    '>': (context, frame) => {
      const value = raw(context, frame)
      return typeof value === 'number' ? value > limit : slowly(value)
    },
    '>=': (context, frame) => {
      const value = raw(context, frame)
      return typeof value === 'number' ? value >= limit : slowly(value)
    },
  }
  return codes[operator]
}

function order(operator: Ordering, a: Result, b: Result): Result {
  if (a instanceof CelError) return a
  if (b instanceof CelError) return b
  const sign = compare(a, b)
  if (sign === undefined) return noSuchOverload(`${typeNameOf(a)} ${operator} ${typeNameOf(b)}`)
  switch (operator) {
    case '<':
      return sign < 0
    case '<=':
      return sign <= 0
    case '>':
      return sign > 0
    case '>=':
      return sign >= 0
  }
}

// Membership

/** Up to this size, a linear search is faster than hashing a new string. */
const SMALL_LIST = 8

function membershipCode<C>(left: Node<C>, right: Node<C>): Code<C> {
  const keys = constantKeys(right.constant)
  if (keys !== undefined) return isOneOf(left, keys)
  const [a, b] = [left.code, right.code]
  return (context, frame) => {
    const value = a(context, frame)
    const container = b(context, frame)
    if (value instanceof CelError) return value
    return container instanceof CelError ? container : contains(container, value)
  }
}

/** The elements of a constant list, if all of them can be map keys. */
function constantKeys(list: Value | undefined): readonly MapKey[] | undefined {
  if (!Array.isArray(list)) return undefined
  const keys = (list as readonly Value[]).map(toMapKey)
  return keys.some((key) => key === undefined) ? undefined : (keys as MapKey[])
}

function isOneOf<C>({ raw, absent }: Node<C>, keys: readonly MapKey[]): Code<C> {
  const set = new Set(keys)
  const slowly = (value: Result | undefined): Result => {
    if (value === undefined) return absent
    if (value instanceof CelError) return value
    const key = toMapKey(value)
    return key !== undefined && set.has(key)
  }
  const direct: RawCode<C> = raw
  if (keys.length > SMALL_LIST || keys.some((key) => typeof key !== 'string')) {
    return (context, frame) => {
      const value = direct(context, frame)
      return typeof value === 'string' ? set.has(value) : slowly(value)
    }
  }
  return (context, frame) => {
    const value = direct(context, frame)
    if (typeof value !== 'string') return slowly(value)
    for (let i = 0; i < keys.length; i++) if (keys[i] === value) return true
    return false
  }
}

function contains(container: Value, value: Value): Result {
  if (Array.isArray(container)) {
    for (const element of container as readonly Value[]) {
      charge(WEIGHTS.comparison)
      if (equals(element, value)) return true
    }
    return false
  }
  if (container instanceof MapValue || container instanceof HostObject) {
    if (typeof value === 'string') charge(value.length * WEIGHTS.keyUnit)
    return container.has(value)
  }
  return noSuchOverload(`in ${typeNameOf(container)}`)
}
