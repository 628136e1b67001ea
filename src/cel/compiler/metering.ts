import type { Type } from '../type.ts'
import { MapValue, type Result } from '../value.ts'
import type { Node } from './node.ts'

/** Text units and list elements that count as one step. */
const TEXT_PER_STEP = 256
const ELEMENTS_PER_STEP = 4

/** Counts the size of an operand or result as steps, where the type does not say that it is small. */
export function charged<C>(node: Node<C>, type: Type | undefined): Node<C> {
  if (node.constant !== undefined || isSmall(type)) return node
  const { code, raw, absent } = node
  return {
    code: (context, frame) => {
      const value = code(context, frame)
      frame.steps += stepsFor(value)
      return value
    },
    raw: (context, frame) => {
      const value = raw(context, frame)
      if (value !== undefined) frame.steps += stepsFor(value)
      return value
    },
    absent,
    constant: undefined,
  }
}

function isSmall(type: Type | undefined): boolean {
  switch (type?.kind) {
    case 'bool':
    case 'int':
    case 'uint':
    case 'double':
    case 'null':
    case 'timestamp':
    case 'duration':
      return true
    default:
      return false
  }
}

function stepsFor(value: Result): number {
  if (typeof value === 'string') return Math.floor(value.length / TEXT_PER_STEP)
  if (value === null || typeof value !== 'object') return 0
  if (Array.isArray(value)) return Math.floor(value.length / ELEMENTS_PER_STEP)
  if (value instanceof Uint8Array) return Math.floor(value.length / TEXT_PER_STEP)
  return value instanceof MapValue ? 1 : 0
}
