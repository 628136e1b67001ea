import { CelError, noSuchOverload } from '../error.ts'
import { typeNameOf } from '../type-name.ts'
import type { Result } from '../value.ts'
import { type Code, constantNode, type Node, nodeOf } from './node.ts'

/**
 * `&&` and `||`: a deciding operand (`false` for `&&`) takes precedence over errors of any other; operands are evaluated from the left
 * until one decides. Constant operands are removed.
 */
export function compileLogic<C>(operator: '&&' | '||', operands: readonly Node<C>[]): Node<C> {
  const decisive = operator === '||'
  const rest: Node<C>[] = []
  for (const operand of operands) {
    if (operand.constant === decisive) return constantNode(decisive)
    if (operand.constant !== !decisive) rest.push(operand)
  }
  if (rest.length === 0) return constantNode(!decisive)
  const codes = rest.map((operand) => operand.code)
  return nodeOf(decisive ? anyOf(codes) : allOf(codes))
}

function notBoolean(value: Result): CelError {
  return value instanceof CelError ? value : noSuchOverload(`bool expected, found ${typeNameOf(value)}`)
}

function allOf<C>(codes: readonly Code<C>[]): Code<C> {
  const [a, b, c, d] = codes as [Code<C>, Code<C>, Code<C>, Code<C>]
  if (codes.length === 1) return onlyBoolean(a)
  if (codes.length === 2) return bothOf(a, b)
  if (codes.length === 3) return allOfThree(a, b, c)
  if (codes.length === 4) return bothOf(bothOf(a, b), bothOf(c, d))
  return (context, frame) => {
    let failure: CelError | undefined
    for (const code of codes) {
      const value = code(context, frame)
      if (value === false) return false
      if (value !== true) failure ??= notBoolean(value)
    }
    return failure ?? true
  }
}

function allOfThree<C>(a: Code<C>, b: Code<C>, c: Code<C>): Code<C> {
  return (context, frame) => {
    const x = a(context, frame)
    if (x === false) return false
    const y = b(context, frame)
    if (y === false) return false
    const z = c(context, frame)
    if (z === false) return false
    if (x !== true) return notBoolean(x)
    if (y !== true) return notBoolean(y)
    return z === true ? true : notBoolean(z)
  }
}

function bothOf<C>(a: Code<C>, b: Code<C>): Code<C> {
  return (context, frame) => {
    const x = a(context, frame)
    if (x === false) return false
    const y = b(context, frame)
    if (y === false) return false
    if (x !== true) return notBoolean(x)
    return y === true ? true : notBoolean(y)
  }
}

function anyOf<C>(codes: readonly Code<C>[]): Code<C> {
  const [a, b] = codes as [Code<C>, Code<C>]
  if (codes.length === 2) return eitherOf(a, b)
  if (codes.length === 1) return onlyBoolean(a)
  return (context, frame) => {
    let failure: CelError | undefined
    for (const code of codes) {
      const value = code(context, frame)
      if (value === true) return true
      if (value !== false) failure ??= notBoolean(value)
    }
    return failure ?? false
  }
}

function eitherOf<C>(a: Code<C>, b: Code<C>): Code<C> {
  return (context, frame) => {
    const x = a(context, frame)
    if (x === true) return true
    const y = b(context, frame)
    if (y === true) return true
    if (x !== false) return notBoolean(x)
    return y === false ? false : notBoolean(y)
  }
}

function onlyBoolean<C>(code: Code<C>): Code<C> {
  return (context, frame) => {
    const value = code(context, frame)
    return value === true || value === false ? value : notBoolean(value)
  }
}

export function compileNot<C>({ code, constant }: Node<C>): Node<C> {
  if (typeof constant === 'boolean') return constantNode(!constant)
  return nodeOf((context, frame) => {
    const value = code(context, frame)
    return value === true ? false : value === false ? true : notBoolean(value)
  })
}

export function compileConditional<C>(condition: Node<C>, then: Node<C>, otherwise: Node<C>): Node<C> {
  if (condition.constant === true) return then
  if (condition.constant === false) return otherwise
  const [test, a, b] = [condition.code, then.code, otherwise.code]
  return nodeOf((context, frame) => {
    const value = test(context, frame)
    if (value === true) return a(context, frame)
    return value === false ? b(context, frame) : notBoolean(value)
  })
}
