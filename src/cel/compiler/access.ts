import { charge } from '../budget.ts'
import { CelError, NO_SUCH_KEY, noSuchKey, noSuchOverload } from '../error.ts'
import { toMapKey } from '../map-value.ts'
import { typeNameOf } from '../type-name.ts'
import { HostObject, MapValue, Optional, type Result, type Value } from '../value.ts'
import { WEIGHTS } from '../weights.ts'
import { fold, type Node, nodeOf, readingNode } from './node.ts'

/** Before `.?` or `[?`, an absent variable is an empty optional: `jwt.?sub` is `optional.none()` without a token. */
export function orNone<C>({ raw }: Node<C>): Node<C> {
  return nodeOf((context, frame) => {
    const value = raw(context, frame)
    return value === undefined ? Optional.none : value
  })
}

/** `operand.field`, or `operand.?field` */
export function compileSelect<C>(operand: Node<C>, field: string, optional: boolean): Node<C> {
  const { code } = operand
  if (optional)
    return fold(
      nodeOf((context, frame) => selectOptional(code(context, frame), field)),
      [operand],
    )
  return fold(
    readingNode(field, (context, frame) => select(code(context, frame), field)),
    [operand],
  )
}

function select(value: Result, field: string): Result | undefined {
  if (value instanceof MapValue) return value.get(field)
  if (value instanceof HostObject) return value.member(field)
  if (value instanceof Optional) return value.value === undefined ? Optional.none : selectOptional(value.value, field)
  return value instanceof CelError ? value : noSuchOverload(`${typeNameOf(value)} has no members`)
}

function selectOptional(value: Result, field: string): Result {
  if (value instanceof Optional) return value.value === undefined ? value : selectOptional(value.value, field)
  if (value instanceof HostObject) {
    const present = value.has(field)
    if (present !== true) return present === false ? Optional.none : present
  }
  return toOptional(select(value, field))
}

function toOptional(value: Result | undefined): Result {
  if (value === undefined) return Optional.none
  return value instanceof CelError || value instanceof Optional ? value : new Optional(value)
}

/**
 * `has(operand.field)`. With `forgiving`, an absent operand has no fields: without a token `has(jwt.sub)` is false, so `!has(jwt.sub)` is
 * true.
 */
export function compileHas<C>(operand: Node<C>, field: string, forgiving = false): Node<C> {
  const { code, raw } = operand
  if (forgiving) {
    return nodeOf((context, frame) => {
      const value = raw(context, frame)
      return value !== undefined && hasField(value, field)
    })
  }
  return fold(
    nodeOf((context, frame) => hasField(code(context, frame), field)),
    [operand],
  )
}

function hasField(value: Result, field: string): Result {
  if (value instanceof MapValue || value instanceof HostObject) return value.has(field)
  if (value instanceof Optional) return value.value === undefined ? false : hasField(value.value, field)
  return value instanceof CelError ? value : noSuchOverload(`has() on ${typeNameOf(value)}`)
}

/** `operand[index]`, or `operand[?index]` */
export function compileIndex<C>(operand: Node<C>, index: Node<C>, optional: boolean): Node<C> {
  const [a, b] = [operand.code, index.code]
  const absent = typeof index.constant === 'string' ? noSuchKey(index.constant) : NO_SUCH_KEY
  const at = optional ? optionalAt : (container: Value, key: Value) => valueAt(container, key, absent)
  const node = nodeOf<C>((context, frame) => {
    const container = a(context, frame)
    const key = b(context, frame)
    if (container instanceof CelError) return container
    return key instanceof CelError ? key : at(container, key)
  })
  return fold(node, [operand, index])
}

function valueAt(container: Value, key: Value, absent: CelError): Result {
  if (container instanceof Optional) return container.value === undefined ? container : optionalAt(container.value, key)
  const value = find(container, key)
  if (value !== undefined) return value
  return Array.isArray(container) ? OUT_OF_RANGE : absent
}

function optionalAt(container: Value, key: Value): Result {
  if (container instanceof Optional) return container.value === undefined ? container : optionalAt(container.value, key)
  return toOptional(find(container, key))
}

function find(container: Value, key: Value): Result | undefined {
  if (Array.isArray(container)) return elementAt(container, key)
  if (typeof key === 'string') charge(key.length * WEIGHTS.keyUnit)
  if (container instanceof MapValue)
    return isKeyLike(key) ? container.get(key) : noSuchOverload(`map key of type ${typeNameOf(key)}`)
  if (container instanceof HostObject) return container.index(key)
  return noSuchOverload(`${typeNameOf(container)}[${typeNameOf(key)}]`)
}

/** Doubles are included: they find the int key with the same value. */
function isKeyLike(key: Value): boolean {
  return toMapKey(key) !== undefined || typeNameOf(key) === 'double'
}

function elementAt(list: readonly Value[], key: Value): Result | undefined {
  const index =
    typeof key === 'number' ? key : typeof key === 'string' || typeof key === 'boolean' ? undefined : toMapKey(key)
  if (typeof index === 'number' || typeof index === 'bigint') return list[Number(index)]
  return noSuchOverload(`list index of type ${typeNameOf(key)}`)
}

const OUT_OF_RANGE = new CelError('range', 'list index out of range')
