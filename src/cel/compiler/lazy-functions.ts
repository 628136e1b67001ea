import { CelError } from '../error.ts'
import { ContextMap, type MemberReader } from '../map-value.ts'
import { type Node, nodeOf } from './node.ts'

/** `default(value, fallback)`: the fallback for null, an absent key or an unknown name; other errors are returned. */
export function compileDefault<C>(value: Node<C>, fallback: Node<C>): Node<C> {
  if (value.constant !== undefined) return value.constant === null ? fallback : value
  const { raw } = value
  const other = fallback.code
  return nodeOf((context, frame) => {
    const result = raw(context, frame)
    if (result === undefined || result === null) return other(context, frame)
    if (!(result instanceof CelError)) return result
    return result.code === 'no-such-key' || result.code === 'undeclared' ? other(context, frame) : result
  })
}

/** `coalesce(a, b, ...)`: the first value that is neither an error nor null; null if one was null; else the last error. An unknown value may be the first. */
export function compileCoalesce<C>(values: readonly Node<C>[]): Node<C> {
  const codes = values.map((value) => value.code)
  return nodeOf((context, frame) => {
    let sawNull = false
    let failure: CelError | null = null
    for (const code of codes) {
      const result = code(context, frame)
      if (result === null) sawNull = true
      else if (result instanceof CelError && result.code === 'unknown') return result
      else if (result instanceof CelError) failure = result
      else return result
    }
    return sawNull ? null : failure
  })
}

/** `variables()`: every root as a map whose members are read on access. */
export function compileVariables<C>(readers: ReadonlyMap<string, MemberReader<C>>): Node<C> {
  return nodeOf((context) => new ContextMap(readers, context))
}
