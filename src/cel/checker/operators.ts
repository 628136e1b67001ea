import type { Binary, Conditional, Expr } from '../ast.ts'
import { print } from '../printer.ts'
import type { Range } from '../source.ts'
import { BOOL, DYN, ERROR, type Type } from '../type.ts'
import type { Value } from '../value.ts'
import type { CheckState } from './check-state.ts'
import { OPERATORS } from './operator-signatures.ts'

interface Fault extends Range {
  readonly suggestion?: string
}

/** The result type of an operator for these operand types; reports a problem if there is none. */
export function applyOperator<C>(operator: string, expr: Expr, types: readonly Type[], state: CheckState<C>): Type {
  const result = state.resolveOperator(OPERATORS.get(operator)!, types)
  if (result !== undefined) return result
  const shown = types.map((type) => state.show(type)).join(', ')
  const name = operator === '-x' ? '-' : operator
  const message = `no matching overload for ${name} with (${shown})`
  const { suggestion, ...range } = intendedLiteral(expr, types, state) ?? operatorRange(expr)
  state.problems.error('no-overload', range, message, suggestion)
  return ERROR
}

/** The literal of the intended type, as a suggestion: 7 for `"7"`, `7u` for 7. */
function intendedLiteral<C>(expr: Expr, types: readonly Type[], state: CheckState<C>): Fault | undefined {
  if (expr.kind !== 'binary') return undefined
  const { left, operator, right, operatorStart } = expr
  const after = right.kind === 'literal' ? literalAs(right.value, state.apply(types[0]!)) : undefined
  if (after !== undefined) return { start: operatorStart, end: right.end, suggestion: `${operator} ${after}` }
  const before = left.kind === 'literal' ? literalAs(left.value, state.apply(types[1]!)) : undefined
  if (before === undefined) return undefined
  return { start: left.start, end: operatorStart + operator.length, suggestion: `${before} ${operator}` }
}

function literalAs(value: Value, type: Type): string | undefined {
  const { kind } = type.kind === 'wrapper' ? type.of : type
  if (typeof value === 'string') return kind === 'int' && /^-?\d+$/.test(value) ? value : undefined
  if (typeof value !== 'number') return undefined
  if (kind === 'string') return `"${value}"`
  if (kind === 'double') return `${value}.0`
  return kind === 'uint' && value >= 0 ? `${value}u` : undefined
}

function operatorRange(expr: Expr): Fault {
  if (expr.kind === 'binary') return { start: expr.operatorStart, end: expr.operatorStart + expr.operator.length }
  return expr.kind === 'index' ? { start: expr.operand.end, end: expr.end } : expr
}

export function checkBinary<C>(expr: Binary, state: CheckState<C>): Type {
  const types = [state.check(expr.left), state.check(expr.right)] as const
  if (expr.operator === 'in' && state.elementOfHost(types[1]) !== undefined) return BOOL
  return applyOperator(expr.operator, expr, types, state)
}

export function checkConditional<C>(expr: Conditional, state: CheckState<C>): Type {
  state.requireType(expr.condition, state.check(expr.condition), BOOL, 'condition')
  const [then, otherwise] = [state.check(expr.then), state.check(expr.otherwise)]
  // An extension of the language definition: `x ? "v" : null` is valid, because transformations treat null as no value.
  const oneIsNull = (state.apply(then).kind === 'null') !== (state.apply(otherwise).kind === 'null')
  if (oneIsNull && !state.isAssignable(then, otherwise)) return DYN
  const result = state.resolveOperator(OPERATORS.get('?:')!, [BOOL, then, otherwise])
  if (result !== undefined) return result
  const { range, hint } = converted(expr, [state.apply(then), state.apply(otherwise)]) ?? { range: expr, hint: '' }
  const message = `the branches differ in type (${state.show(then)}, ${state.show(otherwise)})${hint}`
  state.problems.error('no-overload', range, message)
  return ERROR
}

/** The types to which others are converted without a loss; what a later one can be converted to comes before it. */
const CONVERSIONS = [
  { to: 'bytes', from: ['string'] },
  { to: 'string', from: ['int', 'uint', 'double', 'bool', 'timestamp', 'duration'] },
  { to: 'double', from: ['int', 'uint'] },
  { to: 'int', from: ['uint'] },
] as const satisfies readonly { readonly to: Type['kind']; readonly from: readonly Type['kind'][] }[]

/** Longer branches are not repeated in messages. */
const LONGEST_SHOWN = 40

/** The branch that can be converted to the type of the other one, and how. */
function converted(
  { then, otherwise }: Conditional,
  types: readonly [Type, Type],
): { readonly range: Range; readonly hint: string } | undefined {
  const [first, second] = types.map((type) => (type.kind === 'wrapper' ? type.of : type).kind)
  for (const { to, from } of CONVERSIONS) {
    const kinds: readonly (string | undefined)[] = from
    const branch =
      first === to && kinds.includes(second) ? otherwise : second === to && kinds.includes(first) ? then : undefined
    if (branch === undefined) continue
    const text = print(branch)
    return { range: branch, hint: `; write ${to}(${text.length > LONGEST_SHOWN ? '...' : text})` }
  }
  return undefined
}
