import { CelError, noSuchOverload } from '../error.ts'
import { acceptsCount, type Guard, guardOf, type Implementation, type Overload, paramsFor } from '../overload.ts'
import { typeNameOf } from '../type-name.ts'
import type { Result, Value } from '../value.ts'
import { metered } from './metering.ts'
import { type Code, failingNode, fold, type Node, nodeOf } from './node.ts'

interface Candidate {
  readonly guards: readonly Guard[]
  /** The first parameter is a string. */
  readonly onText: boolean
  readonly call: Implementation
}

interface CallSite {
  /** Called for a constant argument that makes every call fail, such as an invalid regular expression. */
  readonly onInvalidConstant: (error: CelError) => void
  /** Creates the error for exhausted steps, with the position of the call. */
  readonly exceeded: () => CelError
}

/** A call of the possible overloads; the argument values select one. */
export function compileCall<C>(
  name: string,
  overloads: readonly Overload[],
  args: readonly Node<C>[],
  { onInvalidConstant, exceeded }: CallSite,
): Node<C> {
  const usable = overloads.filter((overload) => acceptsCount(overload, args.length))
  const inContext = usable[0]?.callInContext as ((context: C) => Result) | undefined
  if (inContext !== undefined) return nodeOf(inContext)
  const constants = args.map((arg) => arg.constant)
  const candidates: Candidate[] = []
  for (const overload of usable) {
    const prepared = overload.prepare?.(constants)
    if (prepared instanceof CelError && usable.length === 1) {
      onInvalidConstant(prepared)
      return failingNode(prepared)
    }
    const call = prepared === undefined || prepared instanceof CelError ? overload.call : prepared
    candidates.push({
      guards: paramsFor(overload, args.length).map(guardOf),
      onText: overload.params[0]?.kind === 'string',
      call: metered(overload, constants, call, exceeded),
    })
  }
  const node = nodeOf(callCode(name, candidates, args))
  return usable.every((overload) => overload.pure) ? fold(node, args) : node
}

function callCode<C>(name: string, candidates: readonly Candidate[], args: readonly Node<C>[]): Code<C> {
  const only = candidates.length === 1 ? candidates[0] : undefined
  if (only !== undefined && args.length === 1) return unaryCall(name, only, args[0]!)
  if (only !== undefined && args.length === 2) return binaryCall(name, only, args[0]!, args[1]!)
  const codes = args.map((arg) => arg.code)
  return (context, frame) => {
    const values: Result[] = []
    for (const code of codes) values.push(code(context, frame))
    return dispatch(name, candidates, values)
  }
}

function unaryCall<C>(name: string, { guards, call }: Candidate, arg: Node<C>): Code<C> {
  const { code } = arg
  const guard = guards[0]!
  return (context, frame) => {
    const value = code(context, frame)
    return guard(value) ? call(value as Value) : refuse(name, [value])
  }
}

function binaryCall<C>(name: string, { guards, onText, call }: Candidate, left: Node<C>, right: Node<C>): Code<C> {
  const [a, b] = [left.code, right.code]
  const [guardA, guardB] = guards as [Guard, Guard]
  const constant = right.constant
  if (typeof constant === 'string' && onText && guardB(constant)) return textCall(name, call, left, constant)
  return (context, frame) => {
    const x = a(context, frame)
    const y = b(context, frame)
    return guardA(x) && guardB(y) ? call(x as Value, y as Value) : refuse(name, [x, y])
  }
}

/** `text.method("constant")`, the most frequent form of call. */
function textCall<C>(name: string, call: Implementation, { raw, absent }: Node<C>, constant: string): Code<C> {
  const slowly = (value: Result | undefined): Result => refuse(name, [value === undefined ? absent : value])
  if (name === 'startsWith') {
    return (context, frame) => {
      const value = raw(context, frame)
      return typeof value === 'string' ? value.startsWith(constant) : slowly(value)
    }
  }
  return (context, frame) => {
    const value = raw(context, frame)
    return typeof value === 'string' ? call(value, constant) : slowly(value)
  }
}

function dispatch(name: string, candidates: readonly Candidate[], values: readonly Result[]): Result {
  for (const { guards, call } of candidates) {
    let fits = true
    for (let i = 0; fits && i < guards.length; i++) fits = guards[i]!(values[i])
    if (fits) return call(...(values as readonly Value[]))
  }
  return refuse(name, values)
}

function refuse(name: string, values: readonly Result[]): CelError {
  for (const value of values) if (value instanceof CelError) return value
  return noSuchOverload(`${name}(${values.map(typeNameOf).join(', ')})`)
}
