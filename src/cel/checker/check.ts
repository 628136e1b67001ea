import type { Bind, Block, Expr, Literal, MapLiteral, StructLiteral } from '../ast.ts'
import type { Environment } from '../environment.ts'
import type { ProblemList } from '../source.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalElement,
  optionalOf,
  STRING,
  type Type,
  UINT,
} from '../type.ts'
import { typeNameOf } from '../type-name.ts'
import { checkCall } from './calls.ts'
import { type Checked, CheckState, isWild } from './check-state.ts'
import { checkComprehension } from './comprehensions.ts'
import { checkHas, checkIdent, checkIndex, checkSelect } from './names.ts'
import { applyOperator, checkBinary, checkConditional } from './operators.ts'
import { candidateNames } from './resolve-name.ts'

/** Determines the types of all subexpressions and reports errors. Never throws, and always returns a result. */
export function check<C>(expr: Expr, environment: Environment<C>, problems: ProblemList): Checked<C> {
  const state = new CheckState<C>(environment, problems, typeOf)
  state.check(expr)
  return state.finish(expr)
}

function typeOf<C>(expr: Expr, state: CheckState<C>): Type {
  switch (expr.kind) {
    case 'literal':
      return literalType(expr)
    case 'ident':
      return checkIdent(expr, state)
    case 'select':
      return checkSelect(expr, state)
    case 'has':
      return checkHas(expr, state)
    case 'index':
      return checkIndex(expr, state)
    case 'call':
      return checkCall(expr, state)
    case 'unary':
      return applyOperator(expr.operator === '-' ? '-x' : '!', expr, [state.check(expr.operand)], state)
    case 'binary':
      return checkBinary(expr, state)
    case 'logic':
      for (const operand of expr.operands) {
        state.requireType(operand, state.check(operand), BOOL, `operand of ${expr.operator}`)
      }
      return BOOL
    case 'conditional':
      return checkConditional(expr, state)
    case 'list':
      return listOf(state.join(expr.elements.map(({ value, optional }) => state.checkElement(value, optional))))
    case 'map':
      return checkMap(expr, state)
    case 'struct':
      return checkStruct(expr, state)
    case 'comprehension':
      return checkComprehension(expr, state)
    case 'bind':
      return checkBind(expr, state)
    case 'block':
      return checkBlock(expr, 0, state)
    case 'bad':
      return ERROR
  }
}

const LITERAL_TYPES: Readonly<Record<string, Type>> = {
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  bytes: BYTES,
  null_type: NULL,
}

function literalType({ value }: Literal): Type {
  return LITERAL_TYPES[typeNameOf(value)] ?? STRING
}

function checkMap<C>(expr: MapLiteral, state: CheckState<C>): Type {
  const keys = expr.entries.map((entry) => state.check(entry.key))
  const values = expr.entries.map((entry) => state.checkElement(entry.value, entry.optional))
  return mapOf(state.join(keys), state.join(values))
}

function checkStruct<C>(expr: StructLiteral, state: CheckState<C>): Type {
  const { provider, container } = state.environment
  const values = expr.fields.map((field) => state.checkElement(field.value, field.optional))
  const names = candidateNames(expr.name, expr.absolute ? '' : container)
  const typeName = names.find((name) => provider?.findType(name) !== undefined)
  if (provider === undefined || typeName === undefined) {
    state.problems.error('undeclared', expr, `undeclared type ${expr.name}`)
    return ERROR
  }
  const type = provider.findType(typeName)!
  state.resolutions.set(expr, { kind: 'constant', value: typeName, type })
  for (const [i, field] of expr.fields.entries()) {
    const expected = provider.findField(typeName, field.name)
    if (expected !== undefined) {
      state.requireType(field, values[i]!, expected, `field ${field.name}`)
      continue
    }
    const near = state.nearest(field.name, provider.fieldNames(typeName))
    state.problems.error('unknown-field', field, `${typeName} has no field ${field.name}`, near)
  }
  return type
}

function checkBind<C>(expr: Bind, state: CheckState<C>): Type {
  const value = state.check(expr.value)
  if (expr.macro === 'bind' || expr.macro === 'with') {
    return state.withLocals(expr, [expr.variable], [value], () => state.check(expr.body))
  }
  const applied = state.apply(value)
  const element = isWild(applied) ? DYN : optionalElement(applied)
  if (element === undefined) {
    state.problems.error(
      'no-overload',
      expr.value,
      `${expr.macro}() requires an optional, found ${state.show(applied)}`,
    )
  }
  const body = state.withLocals(expr, [expr.variable], [element ?? ERROR], () => state.check(expr.body))
  return expr.macro === 'optMap' ? optionalOf(body) : body
}

/** Each slot may refer to earlier ones. */
function checkBlock<C>(expr: Block, index: number, state: CheckState<C>): Type {
  const slot = expr.slots[index]
  if (slot === undefined) return state.check(expr.body)
  const type = state.check(slot)
  const binding = { name: `@index:${index}`, start: slot.start, end: slot.end }
  return state.withLocals(expr, [binding], [type], () => checkBlock(expr, index + 1, state))
}
