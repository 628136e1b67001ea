import type { Expr, Has, Ident, Index, Select } from '../ast.ts'
import { isAbsolute, qualifiedName } from '../qualified-name.ts'
import { BOOL, DYN, ERROR, optionalElement, optionalOf, type Type } from '../type.ts'
import type { CheckState } from './check-state.ts'
import { applyOperator } from './operators.ts'
import { headOf, type Resolution, resolveQualified } from './resolve-name.ts'

export function checkIdent<C>(expr: Ident, state: CheckState<C>): Type {
  const { name, absolute } = expr
  const local = absolute ? undefined : state.findLocal(name)
  if (local !== undefined) return resolveTo(expr, { kind: 'local', slot: local.slot, type: local.type }, state)
  const found = resolveQualified(name, absolute, state.environment)
  if (found !== undefined) return resolveTo(expr, found, state)
  const near = state.nearest(name, state.knownNames())
  state.missing('undeclared', expr, `undeclared reference to ${name}`, near)
  return ERROR
}

function resolveTo<C>(expr: Expr, resolution: Resolution<C>, state: CheckState<C>): Type {
  if (resolution.kind === 'unavailable') {
    const { path, unavailable } = resolution.scope
    state.missing('unavailable', expr, `${path} is not available here: ${unavailable}`)
    return ERROR
  }
  state.resolutions.set(expr, resolution)
  if (resolution.kind === 'variable') state.references.add(resolution.scope.path)
  if (resolution.kind === 'root') state.referWhole(resolution.scope)
  return resolution.type
}

/** The resolution of `a.b.c` as one declared name, unless a local variable hides it. */
function resolvePath<C>(expr: Expr, state: CheckState<C>): Resolution<C> | undefined {
  const name = qualifiedName(expr)
  if (name === undefined) return undefined
  const absolute = isAbsolute(expr)
  if (!absolute && state.findLocal(headOf(expr)!) !== undefined) return undefined
  return resolveQualified(name, absolute, state.environment)
}

export function checkSelect<C>(expr: Select, state: CheckState<C>): Type {
  const found = expr.optional ? undefined : resolvePath(expr, state)
  if (found !== undefined) return resolveTo(expr, found, state)
  if (expr.optional) referToMember(expr, state)
  const operand = checkOperand(expr.operand, state)
  const inner = optionalElement(operand)
  const field = fieldType(inner ?? operand, expr, state)
  return inner === undefined && !expr.optional ? field : optionalOf(optionalElement(field) ?? field)
}

/** `request.?path` reads the same as `request.path`. */
function referToMember<C>(expr: Select, state: CheckState<C>): void {
  const found = resolvePath({ ...expr, optional: false }, state)
  if (found?.kind === 'variable') state.references.add(found.scope.path)
  if (found?.kind === 'root') state.referWhole(found.scope)
}

/** A root before an unknown member is not recorded as read. */
function checkOperand<C>(operand: Expr, state: CheckState<C>): Type {
  const found = resolvePath(operand, state)
  if (found?.kind !== 'root') return state.apply(state.check(operand))
  state.resolutions.set(operand, found)
  return found.type
}

export function checkHas<C>(expr: Has, state: CheckState<C>): Type {
  const selection: Select = { ...expr, kind: 'select' }
  const found = expr.optional ? undefined : resolvePath(selection, state)
  if (found !== undefined) {
    resolveTo(expr, found, state)
    return BOOL
  }
  if (expr.optional) referToMember(selection, state)
  const operand = checkOperand(expr.operand, state)
  fieldType(optionalElement(operand) ?? operand, selection, state)
  return BOOL
}

function fieldType<C>(operand: Type, select: Select, state: CheckState<C>): Type {
  switch (operand.kind) {
    case 'map': {
      const { members } = operand
      if (members === undefined) return operand.value
      const found = members.typeOf(select.field)
      if (found !== undefined) return found
      const readable = [...members.names()].filter((name) => members.typeOf(name) !== undefined)
      return unknownMember(select, members.path, readable, state)
    }
    case 'object':
      return objectField(operand.name, select, state)
    case 'param':
      state.bindToDyn(operand)
      return DYN
    case 'dyn':
    case 'any':
      return DYN
    case 'error':
      return ERROR
    default: {
      const range = { start: select.operand.end, end: select.end }
      const message = `type ${state.show(operand)} has no members, so .${select.field} cannot work`
      state.problems.error('type-mismatch', range, message)
      return ERROR
    }
  }
}

function objectField<C>(name: string, select: Select, state: CheckState<C>): Type {
  const host = state.environment.hostTypes.get(name)
  if (host !== undefined) {
    return host.memberType(select.field) ?? unknownMember(select, name, host.members.keys(), state)
  }
  const { provider } = state.environment
  if (provider === undefined) return DYN
  return provider.findField(name, select.field) ?? unknownMember(select, name, provider.fieldNames(name), state)
}

function unknownMember<C>(select: Select, owner: string, names: Iterable<string>, state: CheckState<C>): Type {
  const parent = qualifiedName(select.operand) ?? owner
  const near = state.nearest(select.field, names)
  const suggestion = meantBy(`${parent}.${select.field}`, state) ?? (near && `${parent}.${near}`)
  const message = `${owner} has no member ${select.field}`
  state.missing('unknown-field', select, message, suggestion)
  return ERROR
}

/** What a path of another language means, if it can be read here. */
function meantBy<C>(path: string, { environment }: CheckState<C>): string | undefined {
  const meant = environment.meanings.get(path)
  return meant !== undefined && resolveQualified(meant, false, environment)?.kind === 'variable' ? meant : undefined
}

export function checkIndex<C>(expr: Index, state: CheckState<C>): Type {
  const member = memberByKey(expr, state)
  if (member !== undefined) return member
  const operand = state.apply(state.check(expr.operand))
  const index = state.check(expr.index)
  const inner = optionalElement(operand)
  const container = inner ?? operand
  const host = state.elementOfHost(container)
  if (host === undefined) return applyOperator(expr.optional ? '[?]' : '[]', expr, [operand, index], state)
  const element = hostMember(container, expr.index, state) ?? host
  return expr.optional || inner !== undefined ? optionalOf(element) : element
}

function hostMember<C>(type: Type, index: Expr, state: CheckState<C>): Type | undefined {
  if (type.kind !== 'object' || index.kind !== 'literal' || typeof index.value !== 'string') return undefined
  return state.environment.hostTypes.get(type.name)?.memberType(index.value)
}

/** `request["method"]` is the same as `request.method` if `request` is a declared root. */
function memberByKey<C>(expr: Index, state: CheckState<C>): Type | undefined {
  if (expr.optional || expr.index.kind !== 'literal' || typeof expr.index.value !== 'string') return undefined
  if (resolvePath(expr.operand, state)?.kind !== 'root') return undefined
  const select: Select = { ...expr, kind: 'select', field: expr.index.value }
  const type = state.check(select)
  const resolution = state.resolutions.get(select)
  if (resolution !== undefined) state.resolutions.set(expr, resolution)
  return type
}
