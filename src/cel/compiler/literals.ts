import type { TypeProvider } from '../environment.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { EntryMap, isMapKey } from '../map-value.ts'
import { typeNameOf } from '../type-name.ts'
import { Optional, type Result, type Value } from '../value.ts'
import { fold, type Node, nodeOf } from './node.ts'

interface Element<C> {
  readonly value: Node<C>
  /** Written `?value`: an empty optional adds no element. */
  readonly optional: boolean
}

export function compileList<C>(elements: readonly Element<C>[]): Node<C> {
  const parts = elements.map(({ value, optional }) => ({ code: value.code, optional }))
  const node = nodeOf<C>((context, frame) => {
    const list: Value[] = []
    for (const { code, optional } of parts) {
      const value = optional ? unwrap(code(context, frame)) : code(context, frame)
      if (value instanceof CelError) return value
      if (value !== undefined) list.push(value)
    }
    return list
  })
  return fold(
    node,
    elements.map((element) => element.value),
  )
}

/** The value of an optional; undefined if it is empty. */
function unwrap(value: Result): Result | undefined {
  if (value instanceof Optional) return value.value
  return value instanceof CelError ? value : noSuchOverload(`?${typeNameOf(value)}`)
}

export function compileMap<C>(entries: readonly (Element<C> & { readonly key: Node<C> })[]): Node<C> {
  const parts = entries.map(({ key, value, optional }) => ({ key: key.code, value: value.code, optional }))
  const node = nodeOf<C>((context, frame) => {
    const map = new EntryMap()
    for (const part of parts) {
      const key = part.key(context, frame)
      if (key instanceof CelError) return key
      const value = part.optional ? unwrap(part.value(context, frame)) : part.value(context, frame)
      if (value instanceof CelError) return value
      const problem = keyProblem(map, key)
      if (problem !== undefined) return problem
      if (value !== undefined) map.set(key, value)
    }
    return map
  })
  return fold(
    node,
    entries.flatMap((entry) => [entry.key, entry.value]),
  )
}

/** The reason why a key is invalid. */
export function keyProblem(map: EntryMap, key: Value): CelError | undefined {
  if (!isMapKey(key)) return noSuchOverload(`map key of type ${typeNameOf(key)}`)
  return map.has(key) ? new CelError('invalid', 'map has the same key twice') : undefined
}

export function compileStruct<C>(
  typeName: string,
  provider: TypeProvider,
  fields: readonly (Element<C> & { readonly name: string })[],
): Node<C> {
  const parts = fields.map(({ name, value, optional }) => ({ name, code: value.code, optional }))
  return nodeOf((context, frame) => {
    const values: [string, Value][] = []
    for (const { name, code, optional } of parts) {
      const value = optional ? unwrap(code(context, frame)) : code(context, frame)
      if (value instanceof CelError) return value
      if (value !== undefined) values.push([name, value])
    }
    return provider.construct(typeName, values)
  })
}
