import type { BinaryOperator } from '../ast.ts'
import { charge } from '../budget.ts'
import { CelError, noSuchOverload, tooLarge } from '../error.ts'
import { MAX_LIST } from '../functions/collections.ts'
import { MAX_TEXT } from '../functions/text-functions.ts'
import {
  addInts,
  addUints,
  divideInts,
  divideUints,
  multiplyInts,
  multiplyUints,
  negateInt,
  remainderOfInts,
  remainderOfUints,
  subtractInts,
  subtractUints,
} from '../numbers.ts'
import { checkedDuration, checkedTimestamp } from '../time-format.ts'
import { typeNameOf } from '../type-name.ts'
import { Double, Duration, type Result, Timestamp, Uint, type Value } from '../value.ts'
import { WEIGHTS } from '../weights.ts'
import { type Code, fold, type Node, nodeOf } from './node.ts'

type Arithmetic = '+' | '-' | '*' | '/' | '%'

export function compileArithmetic<C>(operator: BinaryOperator, left: Node<C>, right: Node<C>): Node<C> {
  return fold(nodeOf(arithmeticCode(operator as Arithmetic, left.code, right.code)), [left, right])
}

function arithmeticCode<C>(operator: Arithmetic, a: Code<C>, b: Code<C>): Code<C> {
  if (operator === '+') return additionCode(a, b)
  const apply = OPERATIONS[operator]
  return (context, frame) => {
    const x = a(context, frame)
    const y = b(context, frame)
    if (x instanceof CelError) return x
    return y instanceof CelError ? y : apply(x, y)
  }
}

function additionCode<C>(a: Code<C>, b: Code<C>): Code<C> {
  return (context, frame) => {
    const x = a(context, frame)
    const y = b(context, frame)
    if (typeof x === 'string' && typeof y === 'string') return joinTexts(x, y)
    if (typeof x === 'number' && typeof y === 'number') return addInts(x, y)
    if (x instanceof CelError) return x
    return y instanceof CelError ? y : add(x, y)
  }
}

/** A chain of `+` whose operands are statically strings: one loop instead of nested additions. */
export function compileConcatenation<C>(parts: readonly Node<C>[]): Node<C> {
  if (parts.length === 2) return compileArithmetic('+', parts[0]!, parts[1]!)
  const codes = parts.map((part) => part.code)
  const concatenate: Code<C> = (context, frame) => {
    let text = ''
    for (let i = 0; i < codes.length; i++) {
      const part = codes[i]!(context, frame)
      if (typeof part !== 'string')
        return part instanceof CelError ? part : noSuchOverload(`string + ${typeNameOf(part)}`)
      text = joinTexts(text, part)
    }
    return text
  }
  const [first, middle, last] = parts
  if (parts.length !== 3 || typeof middle?.constant !== 'string') return fold(nodeOf(concatenate), parts)
  return fold(nodeOf(joinCode(first!, middle.constant, last!, concatenate)), parts)
}

/** `a + "/" + b` */
function joinCode<C>(first: Node<C>, middle: string, last: Node<C>, slowly: Code<C>): Code<C> {
  const [a, b] = [first.raw, last.raw]
  return (context, frame) => {
    const x = a(context, frame)
    const y = b(context, frame)
    if (typeof x !== 'string' || typeof y !== 'string') return slowly(context, frame)
    return joinTexts(x + middle, y)
  }
}

export function compileNegation<C>(operand: Node<C>): Node<C> {
  const { code } = operand
  const negate: Code<C> = (context, frame) => {
    const value = code(context, frame)
    if (typeof value === 'number' || typeof value === 'bigint') return negateInt(value)
    if (value instanceof Double) return new Double(-value.value)
    return value instanceof CelError ? value : noSuchOverload(`-${typeNameOf(value)}`)
  }
  return fold(nodeOf(negate), [operand])
}

type Operation = (a: Value, b: Value) => Result

function isInt(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function mismatch(operator: Arithmetic, a: Value, b: Value): CelError {
  return noSuchOverload(`${typeNameOf(a)} ${operator} ${typeNameOf(b)}`)
}

function add(a: Value, b: Value): Result {
  if (isInt(a) && isInt(b)) return addInts(a, b)
  if (a instanceof Double && b instanceof Double) return new Double(a.value + b.value)
  if (a instanceof Uint && b instanceof Uint) return addUints(a, b)
  if (Array.isArray(a) && Array.isArray(b)) return joinLists(a, b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return concatBytes(a, b)
  return addTimes(a, b) ?? mismatch('+', a, b)
}

/** Up to this length, concatenation costs no more than any other operator. */
const SHORT_TEXT = 1024

function joinTexts(a: string, b: string): string {
  const length = a.length + b.length
  if (length > SHORT_TEXT) {
    if (length > MAX_TEXT) return tooLarge()
    charge(length * WEIGHTS.joinedUnit)
  }
  return a + b
}

function joinLists(a: readonly Value[], b: readonly Value[]): readonly Value[] {
  const length = a.length + b.length
  if (length > MAX_LIST) return tooLarge()
  charge(length * WEIGHTS.element)
  return a.concat(b)
}

function concatBytes(a: Uint8Array, b: Uint8Array): Result {
  if (a.length + b.length > MAX_TEXT) return tooLarge()
  charge((a.length + b.length) * WEIGHTS.joinedUnit)
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

function addTimes(a: Value, b: Value): Result | undefined {
  if (a instanceof Timestamp && b instanceof Duration) return checkedTimestamp(a.seconds + b.seconds, a.nanos + b.nanos)
  if (a instanceof Duration && b instanceof Timestamp) return checkedTimestamp(a.seconds + b.seconds, a.nanos + b.nanos)
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.seconds + b.seconds, a.nanos + b.nanos)
  return undefined
}

function subtract(a: Value, b: Value): Result {
  if (isInt(a) && isInt(b)) return subtractInts(a, b)
  if (a instanceof Double && b instanceof Double) return new Double(a.value - b.value)
  if (a instanceof Uint && b instanceof Uint) return subtractUints(a, b)
  if (a instanceof Timestamp && b instanceof Timestamp) return checkedDuration(a.seconds - b.seconds, a.nanos - b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return checkedTimestamp(a.seconds - b.seconds, a.nanos - b.nanos)
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.seconds - b.seconds, a.nanos - b.nanos)
  return mismatch('-', a, b)
}

function multiply(a: Value, b: Value): Result {
  if (isInt(a) && isInt(b)) return multiplyInts(a, b)
  if (a instanceof Double && b instanceof Double) return new Double(a.value * b.value)
  return a instanceof Uint && b instanceof Uint ? multiplyUints(a, b) : mismatch('*', a, b)
}

function divide(a: Value, b: Value): Result {
  if (isInt(a) && isInt(b)) return divideInts(a, b)
  if (a instanceof Double && b instanceof Double) return new Double(a.value / b.value)
  return a instanceof Uint && b instanceof Uint ? divideUints(a, b) : mismatch('/', a, b)
}

function remainder(a: Value, b: Value): Result {
  if (isInt(a) && isInt(b)) return remainderOfInts(a, b)
  return a instanceof Uint && b instanceof Uint ? remainderOfUints(a, b) : mismatch('%', a, b)
}

const OPERATIONS: Readonly<Record<Arithmetic, Operation>> = {
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '%': remainder,
}
