import type { Binary, Conditional, Expr } from '../ast.ts'
import type { Range } from '../source.ts'
import { BOOL, DYN, ERROR, type Type } from '../type.ts'
import type { CheckState } from './check-state.ts'
import { OPERATORS } from './operator-signatures.ts'

/** The result type of an operator on operands of these types, or a report. */
export function applyOperator<C>(operator: string, expr: Expr, types: readonly Type[], state: CheckState<C>): Type {
  const result = state.resolveOperator(OPERATORS.get(operator)!, types)
  if (result !== undefined) return result
  const shown = types.map((type) => state.show(type)).join(', ')
  const name = operator === '-x' ? '-' : operator
  state.problems.error('no-overload', operatorRange(expr), `no matching overload for ${name} with (${shown})`)
  return ERROR
}

function operatorRange(expr: Expr): Range {
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
  // Not in the language definition: `x ? "v" : null` says "no value" in transformations, which take null for that.
  const oneIsNull = (state.apply(then).kind === 'null') !== (state.apply(otherwise).kind === 'null')
  if (oneIsNull && !state.isAssignable(then, otherwise)) return DYN
  return applyOperator('?:', expr, [BOOL, then, otherwise], state)
}
