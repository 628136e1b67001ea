import type { Binding, BindingExpr, Comprehension, Expr } from '../ast.ts'
import type { ProblemCode, Range as SourceRange } from '../source.ts'
import { BOOL, DYN, ERROR, formatType, INT, listOf, mapOf, STRING, type Type } from '../type.ts'

/** The part of the checker that macros use. */
export interface ScopedChecker {
  check(expr: Expr): Type
  apply(type: Type): Type
  bindToDyn(type: Type): void
  elementOfHost(type: Type): Type | undefined
  requireType(range: SourceRange, found: Type, wanted: Type, what: string): void
  missing(code: ProblemCode, range: SourceRange, message: string): void
  withLocals<T>(expr: BindingExpr, bindings: readonly Binding[], types: readonly Type[], work: () => T): T
}

/** The range of a comprehension; for a list, `key` is the index. */
interface Range {
  readonly isMap: boolean
  readonly key: Type
  readonly value: Type
}

/** Checks a macro over a list or map and returns its result type. */
export function checkComprehension(expr: Comprehension, checker: ScopedChecker): Type {
  const range = rangeOf(expr, checker)
  const types = expr.variables.length === 2 ? [range.key, range.value] : [range.isMap ? range.key : range.value]
  // mapValues binds the value, although its range is a map.
  if (expr.macro === 'mapValues') types[0] = range.value
  return checker.withLocals(expr, expr.variables, types, () => {
    if (expr.filter !== undefined) checker.requireType(expr.filter, checker.check(expr.filter), BOOL, 'filter')
    return resultOf(expr, range, checker.check(expr.body), checker)
  })
}

function rangeOf(expr: Comprehension, checker: ScopedChecker): Range {
  const type = checker.apply(checker.check(expr.range))
  const mapOnly = expr.macro === 'mapValues' || expr.macro === 'filterKeys'
  if (type.kind === 'map') return { isMap: true, key: type.key, value: type.value }
  const element = checker.elementOfHost(type)
  if (element !== undefined) return { isMap: true, key: STRING, value: element }
  if (type.kind === 'list' && !mapOnly) return { isMap: false, key: INT, value: type.element }
  checker.bindToDyn(type)
  const isOpen = type.kind === 'dyn' || type.kind === 'any' || type.kind === 'error' || type.kind === 'param'
  if (isOpen) return { isMap: mapOnly, key: DYN, value: DYN }
  const wanted = mapOnly ? 'a map' : 'a list or map'
  checker.missing('type-mismatch', expr.range, `${expr.macro}() requires ${wanted}, found ${formatType(type)}`)
  return { isMap: false, key: ERROR, value: ERROR }
}

function resultOf(expr: Comprehension, range: Range, body: Type, checker: ScopedChecker): Type {
  const condition = (): void => checker.requireType(expr.body, body, BOOL, `condition of ${expr.macro}()`)
  switch (expr.macro) {
    case 'all':
    case 'exists':
    case 'exists_one':
    case 'existsOne':
      condition()
      return BOOL
    case 'filter':
      condition()
      return listOf(range.isMap ? range.key : range.value)
    case 'filterKeys':
      condition()
      return mapOf(range.key, range.value)
    case 'map':
    case 'transformList':
      return listOf(body)
    case 'transformMap':
      return mapOf(range.key, body)
    case 'transformMapEntry':
      return entryType(expr, body, checker)
    case 'mapValues':
      return mapOf(range.key, body)
    case 'sortBy':
      return listOf(range.isMap ? range.key : range.value)
  }
}

function entryType(expr: Comprehension, body: Type, checker: ScopedChecker): Type {
  const type = checker.apply(body)
  if (type.kind === 'map') return type
  if (type.kind !== 'dyn' && type.kind !== 'error') {
    checker.missing('type-mismatch', expr.body, `transformMapEntry() requires a map, found ${formatType(type)}`)
  }
  return mapOf(DYN, DYN)
}
