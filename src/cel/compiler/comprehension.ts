import type { Comprehension } from '../ast.ts'
import { charge } from '../budget.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { sortBy } from '../functions/collections.ts'
import { EntryMap } from '../map-value.ts'
import { typeNameOf } from '../type-name.ts'
import { HostObject, MapValue, type Result, type Value } from '../value.ts'
import { keyProblem } from './literals.ts'
import { type Code, type Frame, type Node, nodeOf } from './node.ts'

interface Loop<C> {
  readonly macro: Comprehension['macro']
  readonly range: Code<C>
  readonly filter: Code<C> | undefined
  readonly body: Code<C>
  /** Slots of the variables; the second is -1 if the macro has one variable. */
  readonly first: number
  readonly second: number
  /** Steps of one iteration, without those that depend on the sizes of values. */
  readonly weight: number
  /** Creates the error for exhausted steps. */
  readonly exceeded: CelError
}

/** Compiles a macro over a list, a map or a host object. */
export function compileComprehension<C>(
  expr: Comprehension,
  slots: readonly number[],
  range: Node<C>,
  filter: Node<C> | undefined,
  body: Node<C>,
  cost: { readonly weight: number; readonly exceeded: CelError },
): Node<C> {
  const [first, second = -1] = slots as [number, number?]
  const loop: Loop<C> = {
    macro: expr.macro,
    range: range.code,
    filter: filter?.code,
    body: body.code,
    first,
    second,
    ...cost,
  }
  return nodeOf(loopCode(loop))
}

function loopCode<C>(loop: Loop<C>): Code<C> {
  switch (loop.macro) {
    case 'all':
      return quantifier(loop, false)
    case 'exists':
      return quantifier(loop, true)
    case 'exists_one':
    case 'existsOne':
      return existsOne(loop)
    case 'map':
    case 'transformList':
      return mapping(loop)
    case 'filter':
      return filtering(loop)
    case 'sortBy':
      return sorting(loop)
    default:
      return mapBuilding(loop)
  }
}

/**
 * Sets the variables and calls `turn` for every element, until it returns a value.
 * @returns the value of `turn`, or an error of the range; undefined if every call returned undefined
 */
function run<C>(
  loop: Loop<C>,
  context: C,
  frame: Frame,
  turn: (key: Value, value: Result) => Result | undefined,
): Result | undefined {
  return runOver(loop, loop.range(context, frame), frame, turn)
}

function runOver<C>(
  loop: Loop<C>,
  range: Result,
  frame: Frame,
  turn: (key: Value, value: Result) => Result | undefined,
): Result | undefined {
  if (Array.isArray(range)) return runList(loop, range, frame, turn)
  if (range instanceof MapValue) return runKeys(loop, range.keys(), (key) => range.get(key), frame, turn)
  if (range instanceof HostObject) return runKeys(loop, range.keys(), (key) => range.index(key), frame, turn)
  return range instanceof CelError ? range : noSuchOverload(`${loop.macro}() over ${typeNameOf(range)}`)
}

function runList<C>(
  { macro, first, second, weight, exceeded }: Loop<C>,
  list: readonly Value[],
  frame: Frame,
  turn: (key: Value, value: Result) => Result | undefined,
): Result | undefined {
  if (macro === 'mapValues' || macro === 'filterKeys') return noSuchOverload(`${macro}() over list`)
  for (let i = 0; i < list.length; i++) {
    charge(weight, exceeded)
    const element = list[i]!
    if (second < 0) frame[first] = element
    else {
      frame[first] = i
      frame[second] = element
    }
    const outcome = turn(i, element)
    if (outcome !== undefined) return outcome
  }
  return undefined
}

function runKeys<C>(
  { macro, first, second, weight, exceeded }: Loop<C>,
  keys: Iterable<Value>,
  readValue: (key: Value) => Result | undefined,
  frame: Frame,
  turn: (key: Value, value: Result) => Result | undefined,
): Result | undefined {
  const needsValue = second >= 0 || macro === 'mapValues' || macro === 'filterKeys'
  for (const key of keys) {
    charge(weight, exceeded)
    const value = needsValue ? readValue(key) : null
    if (value === undefined) continue
    frame[first] = macro === 'mapValues' ? value : key
    if (second >= 0) frame[second] = value
    const outcome = turn(key, value)
    if (outcome !== undefined) return outcome
  }
  return undefined
}

function notBoolean(macro: string, value: Result): CelError {
  return value instanceof CelError ? value : noSuchOverload(`condition of ${macro}() is ${typeNameOf(value)}`)
}

/** `all` (decided by false) and `exists` (decided by true): a deciding element takes precedence over errors of other elements. */
function quantifier<C>(loop: Loop<C>, decisive: boolean): Code<C> {
  const { body, macro, range, first, second, weight, exceeded } = loop
  return (context, frame) => {
    const list = range(context, frame)
    let failure: CelError | undefined
    const turn = (): boolean | undefined => {
      const value = body(context, frame)
      if (value === decisive) return decisive
      if (value !== !decisive) failure ??= notBoolean(macro, value)
      return undefined
    }
    if (!Array.isArray(list) || second >= 0) return runOver(loop, list, frame, turn) ?? failure ?? !decisive
    for (let i = 0; i < list.length; i++) {
      charge(weight, exceeded)
      frame[first] = list[i]
      const value = body(context, frame)
      if (value === decisive) return decisive
      if (value !== !decisive) failure ??= notBoolean(macro, value)
    }
    return failure ?? !decisive
  }
}

function existsOne<C>(loop: Loop<C>): Code<C> {
  const { body, macro } = loop
  return (context, frame) => {
    let count = 0
    const outcome = run(loop, context, frame, () => {
      const value = body(context, frame)
      if (value === true) count++
      return typeof value === 'boolean' ? undefined : notBoolean(macro, value)
    })
    return outcome ?? count === 1
  }
}

/** Whether the filter accepts the current element; an error if it fails. */
function admits<C>({ filter, macro }: Loop<C>, context: C, frame: Frame): boolean | CelError {
  if (filter === undefined) return true
  const value = filter(context, frame)
  return typeof value === 'boolean' ? value : notBoolean(macro, value)
}

function mapping<C>(loop: Loop<C>): Code<C> {
  const { body } = loop
  return (context, frame) => {
    const list: Value[] = []
    const outcome = run(loop, context, frame, () => {
      const admitted = admits(loop, context, frame)
      if (admitted !== true) return admitted === false ? undefined : admitted
      const value = body(context, frame)
      if (value instanceof CelError) return value
      list.push(value)
      return undefined
    })
    return outcome ?? list
  }
}

function filtering<C>(loop: Loop<C>): Code<C> {
  const { body, macro, first } = loop
  return (context, frame) => {
    const list: Value[] = []
    const outcome = run(loop, context, frame, () => {
      const value = body(context, frame)
      if (value === true) list.push(frame[first] as Value)
      return typeof value === 'boolean' ? undefined : notBoolean(macro, value)
    })
    return outcome ?? list
  }
}

function sorting<C>(loop: Loop<C>): Code<C> {
  const { body, first } = loop
  return (context, frame) => {
    const list: Value[] = []
    const keys: Value[] = []
    const outcome = run(loop, context, frame, () => {
      const key = body(context, frame)
      if (key instanceof CelError) return key
      list.push(frame[first] as Value)
      keys.push(key)
      return undefined
    })
    return outcome ?? sortBy(list, keys)
  }
}

/** `transformMap`, `transformMapEntry`, `mapValues` and `filterKeys`. */
function mapBuilding<C>(loop: Loop<C>): Code<C> {
  const { body } = loop
  const add = ENTRY_BUILDERS[loop.macro]!
  return (context, frame) => {
    const map = new EntryMap()
    const outcome = run(loop, context, frame, (key, value) => {
      const admitted = admits(loop, context, frame)
      if (admitted !== true) return admitted === false ? undefined : admitted
      const result = body(context, frame)
      if (result instanceof CelError) return result
      return value instanceof CelError ? value : add(map, key, value, result)
    })
    return outcome ?? map
  }
}

type EntryBuilder = (map: EntryMap, key: Value, value: Value, result: Value) => CelError | undefined

const ENTRY_BUILDERS: Readonly<Partial<Record<Comprehension['macro'], EntryBuilder>>> = {
  transformMap: setEntry,
  mapValues: setEntry,
  filterKeys: (map, key, value, result) => {
    if (result === true) map.set(key, value)
    return typeof result === 'boolean' ? undefined : notBoolean('filterKeys', result)
  },
  transformMapEntry: (map, _key, _value, result) => {
    if (!(result instanceof MapValue)) return noSuchOverload(`transformMapEntry() to ${typeNameOf(result)}`)
    for (const key of result.keys()) {
      const value = result.get(key)!
      if (value instanceof CelError) return value
      const problem = keyProblem(map, key)
      if (problem !== undefined) return problem
      map.set(key, value)
    }
    return undefined
  },
}

function setEntry(map: EntryMap, key: Value, _value: Value, result: Value): undefined {
  map.set(key, result)
}
