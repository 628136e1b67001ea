import type { Call, Expr } from '../ast.ts'
import type { Overload } from '../overload.ts'
import { isAbsolute, qualifiedName } from '../qualified-name.ts'
import type { Range } from '../source.ts'
import { DYN, ERROR, mapOf, STRING, type Type } from '../type.ts'
import type { CheckState } from './check-state.ts'
import { candidateNames, headOf } from './resolve-name.ts'

/** Functions that evaluate their arguments themselves, because they handle errors of arguments. */
export const LAZY_FUNCTIONS: ReadonlySet<string> = new Set(['default', 'coalesce', 'variables'])

/** Maximum number of overloads in a message. */
const SHOWN_OVERLOADS = 4

export function checkCall<C>(expr: Call, state: CheckState<C>): Type {
  if (expr.target === undefined && LAZY_FUNCTIONS.has(expr.name)) return checkLazy(expr, state)
  const qualified = qualifiedFunction(expr, state)
  const name = qualified ?? expr.name
  if (expr.target === undefined || qualified !== undefined) {
    const functions = functionsNamed(name, expr, state)
    const all = functions.length > 0 ? functions : (state.environment.functions.get(name) ?? [])
    return checkArguments(expr, name, all, expr.args, false, state)
  }
  const methods = state.environment.functions.get(name) ?? []
  return checkArguments(expr, name, methods, [expr.target, ...expr.args], true, state)
}

/** `math.least(...)`: the full name if the target is a namespace and not a variable. */
function qualifiedFunction<C>(expr: Call, state: CheckState<C>): string | undefined {
  const prefix = expr.target === undefined ? undefined : qualifiedName(expr.target)
  if (prefix === undefined || state.findLocal(headOf(expr.target!)!) !== undefined) return undefined
  const name = `${prefix}.${expr.name}`
  return functionsNamed(name, expr, state).length > 0 ? name : undefined
}

function functionsNamed<C>(name: string, expr: Call, { environment }: CheckState<C>): readonly Overload[] {
  const absolute = expr.absolute || (expr.target !== undefined && isAbsolute(expr.target))
  for (const candidate of candidateNames(name, absolute ? '' : environment.container)) {
    const found = environment.functions.get(candidate) ?? environment.provider?.findFunction?.(candidate)
    if (found?.some((overload) => !overload.isMember)) return found
  }
  return []
}

function checkArguments<C>(
  expr: Call,
  name: string,
  all: readonly Overload[],
  args: readonly Expr[],
  isMember: boolean,
  state: CheckState<C>,
): Type {
  const types = args.map((arg) => state.check(arg))
  const overloads = all.filter((overload) => overload.isMember === isMember)
  state.overloads.set(expr, overloads)
  const range = { start: expr.nameStart, end: expr.nameStart + expr.name.length }
  if (overloads.length === 0) return unknownFunction(name, all, isMember, range, state)
  const resolved = state.resolveCall(overloads, types)
  if (resolved !== undefined) {
    state.overloads.set(expr, resolved.chosen)
    return resolved.result
  }
  const shown = types.map((type) => state.show(type))
  const form = isMember ? `(${shown[0]}).${name}(${shown.slice(1).join(', ')})` : `${name}(${shown.join(', ')})`
  const known = overloads.slice(0, SHOWN_OVERLOADS).map((overload) => overload.signature)
  state.problems.error('no-overload', range, `no matching overload for ${form}; available: ${known.join('; ')}`)
  return ERROR
}

function unknownFunction<C>(
  name: string,
  all: readonly Overload[],
  isMember: boolean,
  range: Range,
  state: CheckState<C>,
): Type {
  if (all.length > 0) {
    const form = isMember ? `${name}(...)` : `x.${name}(...)`
    state.problems.error('no-overload', range, `wrong form of ${name}: use ${form}`)
    return ERROR
  }
  const alike = [...state.environment.functions].filter(([, list]) => list.some((o) => o.isMember === isMember))
  const near = state.nearest(
    name,
    alike.map(([known]) => known),
  )
  state.problems.error('undeclared', range, `undeclared function ${name}`, near)
  return ERROR
}

function checkLazy<C>(expr: Call, state: CheckState<C>): Type {
  state.overloads.set(expr, [])
  const { name, args } = expr
  if (name === 'variables') return checkVariables(expr, state)
  if (name === 'default' ? args.length !== 2 : args.length === 0) {
    const form = name === 'default' ? 'default(value, fallback)' : 'coalesce(value, ...)'
    state.problems.error('no-overload', expr, `wrong number of arguments: ${form}`)
  }
  // Errors in the last alternative are reported, because no later one could replace it.
  const types = args.map((arg, i) => (i < args.length - 1 ? state.forgiving(() => state.check(arg)) : state.check(arg)))
  const known = types.filter((type) => type.kind !== 'error' && type.kind !== 'null')
  return known.length === 0 ? DYN : state.join(known)
}

function checkVariables<C>(expr: Call, state: CheckState<C>): Type {
  if (expr.args.length > 0) state.problems.error('no-overload', expr, 'variables() takes no arguments')
  state.referWhole(state.environment.root)
  return mapOf(STRING, DYN)
}
