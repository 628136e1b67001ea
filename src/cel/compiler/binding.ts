import type { Bind } from '../ast.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { typeNameOf } from '../type-name.ts'
import { Optional, type Result } from '../value.ts'
import { type Code, constantNode, type Node, nodeOf } from './node.ts'

/** `cel.bind`, `with`: an error is stored in the slot, because the body might never read the variable. */
export function compileBind<C>(macro: Bind['macro'], slot: number, value: Node<C>, body: Node<C>): Node<C> {
  if (macro === 'optMap' || macro === 'optFlatMap') return nodeOf(optionalBind(macro, slot, value.code, body.code))
  if (body.constant !== undefined) return constantNode(body.constant)
  const [init, use] = [value.code, body.code]
  return nodeOf((context, frame) => {
    frame[slot] = init(context, frame)
    return use(context, frame)
  })
}

function optionalBind<C>(macro: 'optMap' | 'optFlatMap', slot: number, init: Code<C>, use: Code<C>): Code<C> {
  return (context, frame) => {
    const optional = init(context, frame)
    if (optional instanceof CelError) return optional
    if (!(optional instanceof Optional)) return noSuchOverload(`${macro}() on ${typeNameOf(optional)}`)
    if (optional.value === undefined) return optional
    frame[slot] = optional.value
    return wrap(macro, use(context, frame))
  }
}

function wrap(macro: 'optMap' | 'optFlatMap', result: Result): Result {
  if (result instanceof CelError) return result
  if (macro === 'optMap') return new Optional(result)
  return result instanceof Optional ? result : noSuchOverload(`optFlatMap() to ${typeNameOf(result)}`)
}

/** `cel.block`: slots are computed in order; an error matters only where its slot is read. */
export function compileBlock<C>(slots: readonly number[], values: readonly Node<C>[], body: Node<C>): Node<C> {
  const codes = values.map((value) => value.code)
  const use = body.code
  return nodeOf((context, frame) => {
    codes.forEach((code, i) => {
      frame[slots[i]!] = code(context, frame)
    })
    return use(context, frame)
  })
}

export function compileLocal<C>(slot: number): Node<C> {
  return nodeOf((_, frame) => frame[slot]!)
}
