import { suggest } from '#base/suggest.ts'
import { assignAll, moreGeneral, Substitution } from './assignability.ts'
import type { Bind, Binding, Block, Call, Expr, Has, Index, MapLiteral, Select, StructLiteral } from './ast.ts'
import { checkComprehension } from './check-comprehension.ts'
import type { Environment, Scope } from './environment.ts'
import { OPERATORS } from './operators.ts'
import type { Overload } from './overload.ts'
import { resolveOverloads, resolveSignatures } from './overload-resolution.ts'
import { isAbsolute, qualifiedName } from './qualified-name.ts'
import { candidateNames, headOf, type Resolution, resolveQualified, variablesBelow } from './resolve-name.ts'
import type { ProblemCode, ProblemList, Range } from './source.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalElement,
  optionalOf,
  STRING,
  type Type,
  UINT,
} from './type.ts'
import { typeNameOf } from './type-name.ts'

/** What checking found out, for the compiler. */
export interface Checked<C> {
  readonly type: Type
  readonly types: ReadonlyMap<Expr, Type>
  /** Names that stand for variables, constants and locals; an unresolved name is absent. */
  readonly resolutions: ReadonlyMap<Expr, Resolution<C>>
  /** For calls: the overloads that may run; empty when the function is unknown. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>
  /** Slots of comprehensions, binds and blocks. */
  readonly slots: ReadonlyMap<Expr, readonly number[]>
  readonly slotCount: number
  /** Declared paths that the expression reads. */
  readonly references: ReadonlySet<string>
}

/** Functions that evaluate their arguments themselves: errors inside may be what they are for. */
export const LAZY_FUNCTIONS: ReadonlySet<string> = new Set(['default', 'coalesce', 'variables'])

/** Finds the types of all parts of an expression and reports what cannot work. Never throws, always yields a result. */
export function check<C>(expr: Expr, environment: Environment<C>, problems: ProblemList): Checked<C> {
  return new Checker(environment, problems).run(expr)
}

interface Local {
  readonly name: string
  readonly slot: number
  readonly type: Type
}

export class Checker<C> {
  readonly #environment: Environment<C>
  readonly #problems: ProblemList
  readonly #types = new Map<Expr, Type>()
  readonly #resolutions = new Map<Expr, Resolution<C>>()
  readonly #overloads = new Map<Expr, readonly Overload[]>()
  readonly #slots = new Map<Expr, readonly number[]>()
  readonly #references = new Set<string>()
  readonly #locals: Local[] = []
  #substitution = new Substitution()
  #freshCount = 0
  #slotCount = 0
  /** Above zero inside `default()` and `coalesce()`, where a missing name is no error. */
  #forgiving = 0

  constructor(environment: Environment<C>, problems: ProblemList) {
    this.#environment = environment
    this.#problems = problems
  }

  run(expr: Expr): Checked<C> {
    this.check(expr)
    const types = new Map<Expr, Type>()
    for (const [part, type] of this.#types) types.set(part, this.#substitution.apply(type, true))
    return {
      type: types.get(expr)!,
      types,
      resolutions: this.#resolutions,
      overloads: this.#overloads,
      slots: this.#slots,
      slotCount: this.#slotCount,
      references: this.#references,
    }
  }

  check(expr: Expr): Type {
    const type = this.#typeOf(expr)
    this.#types.set(expr, type)
    return type
  }

  #typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value)
      case 'ident':
        return this.#checkIdent(expr, expr.name, expr.absolute)
      case 'select':
        return this.#checkSelect(expr)
      case 'has':
        return this.#checkHas(expr)
      case 'index':
        return this.#checkIndex(expr)
      case 'call':
        return this.#checkCall(expr)
      case 'unary':
        return this.#operator(expr.operator === '-' ? '-x' : '!', expr, [expr.operand])
      case 'binary':
        return this.#checkBinary(expr.operator, expr, [expr.left, expr.right])
      case 'logic':
        for (const operand of expr.operands)
          this.requireType(operand, this.check(operand), BOOL, `operand of ${expr.operator}`)
        return BOOL
      case 'conditional':
        return this.#checkConditional(expr.condition, expr.then, expr.otherwise, expr)
      case 'list':
        return listOf(this.#join(expr.elements.map(({ value, optional }) => this.#elementType(value, optional))))
      case 'map':
        return this.#checkMap(expr)
      case 'struct':
        return this.#checkStruct(expr)
      case 'comprehension':
        return checkComprehension(expr, this)
      case 'bind':
        return this.#checkBind(expr)
      case 'block':
        return this.#checkBlock(expr)
      case 'bad':
        return ERROR
    }
  }

  // Names

  #checkIdent(expr: Expr, name: string, absolute: boolean): Type {
    const local = absolute ? undefined : this.#findLocal(name)
    if (local !== undefined) return this.#resolveTo(expr, { kind: 'local', slot: local.slot, type: local.type })
    const found = resolveQualified(name, absolute, this.#environment)
    if (found !== undefined) return this.#resolveTo(expr, found)
    const near = suggest(name, this.#knownNames())
    this.missing('undeclared', expr, `undeclared reference to ${name}${didYouMean(near)}`, near)
    return ERROR
  }

  #knownNames(): string[] {
    return [...this.#locals.map((local) => local.name), ...this.#environment.root.children.keys()]
  }

  #findLocal(name: string): Local | undefined {
    return this.#locals.findLast((local) => local.name === name)
  }

  #resolveTo(expr: Expr, resolution: Resolution<C>): Type {
    if (resolution.kind === 'unavailable') {
      const { path, unavailable } = resolution.scope
      this.missing('unavailable', expr, `${path} is not available here: ${unavailable}`)
      return ERROR
    }
    this.#resolutions.set(expr, resolution)
    if (resolution.kind === 'variable') this.#references.add(resolution.scope.path)
    if (resolution.kind === 'root') this.#referWhole(resolution.scope)
    return resolution.type
  }

  /** A root used as a whole reads everything below it. */
  #referWhole(scope: Scope<C>): void {
    this.#references.add(scope.path)
    for (const path of variablesBelow(scope)) this.#references.add(path)
  }

  /** A fault that is only a warning where the expression provides for it. */
  missing(code: ProblemCode, range: Range, message: string, suggestion?: string): void {
    if (this.#forgiving > 0) this.#problems.warn(code, range, message, suggestion)
    else this.#problems.error(code, range, message, suggestion)
  }

  /** The resolution of `a.b.c` as one declared name, unless a local variable hides it. */
  #resolvePath(expr: Expr): Resolution<C> | undefined {
    const name = qualifiedName(expr)
    if (name === undefined) return undefined
    const absolute = isAbsolute(expr)
    if (!absolute && this.#findLocal(headOf(expr)!) !== undefined) return undefined
    return resolveQualified(name, absolute, this.#environment)
  }

  #checkSelect(expr: Select): Type {
    const found = expr.optional ? undefined : this.#resolvePath(expr)
    if (found !== undefined) return this.#resolveTo(expr, found)
    const operand = this.#checkOperand(expr.operand)
    const inner = optionalElement(operand)
    const field = this.#fieldType(inner ?? operand, expr)
    return inner === undefined && !expr.optional ? field : optionalOf(optionalElement(field) ?? field)
  }

  /** The operand of a selection: naming a root there does not use the root as a whole. */
  #checkOperand(operand: Expr): Type {
    return this.#substitution.apply(this.check(operand))
  }

  #checkHas(expr: Has): Type {
    const selection: Select = { ...expr, kind: 'select', start: expr.start, end: expr.end - 1 }
    const found = expr.optional ? undefined : this.#resolvePath(selection)
    if (found !== undefined) {
      this.#resolveTo(expr, found)
      return BOOL
    }
    const operand = this.#checkOperand(expr.operand)
    this.#fieldType(optionalElement(operand) ?? operand, selection)
    return BOOL
  }

  #fieldType(operand: Type, select: Select): Type {
    const range = { start: select.operand.end, end: select.end }
    switch (operand.kind) {
      case 'map':
        if (operand.members !== undefined)
          return this.#unknownMember(select, operand.members.path, operand.members.names())
        return operand.value
      case 'object':
        return this.#objectField(operand.name, select)
      case 'param':
        this.#substitution = assignAll(this.#substitution, [DYN], [operand]) ?? this.#substitution
        return DYN
      case 'dyn':
      case 'any':
      case 'error':
        return operand.kind === 'error' ? ERROR : DYN
      default:
        this.#problems.error(
          'type-mismatch',
          range,
          `type ${formatType(operand)} has no members, so .${select.field} cannot work`,
        )
        return ERROR
    }
  }

  #objectField(name: string, select: Select): Type {
    const host = this.#environment.hostTypes.get(name)
    if (host !== undefined) {
      const type = host.members.get(select.field) ?? host.element
      return type ?? this.#unknownMember(select, name, host.members.keys())
    }
    const { provider } = this.#environment
    if (provider === undefined) return DYN
    return provider.findField(name, select.field) ?? this.#unknownMember(select, name, provider.fieldNames(name))
  }

  #unknownMember(select: Select, owner: string, names: Iterable<string>): Type {
    const near = suggest(select.field, names)
    const full = qualifiedName(select.operand) ?? owner
    const suggestion = near === undefined ? undefined : `${full}.${near}`
    this.missing('unknown-field', select, `${owner} has no member ${select.field}${didYouMean(suggestion)}`, suggestion)
    return ERROR
  }

  // Operators

  #operator(operator: string, expr: Expr, operands: readonly Expr[]): Type {
    const types = operands.map((operand) => this.check(operand))
    return this.#applyOperator(operator, expr, types)
  }

  #applyOperator(operator: string, expr: Expr, types: readonly Type[]): Type {
    const resolved = resolveSignatures(OPERATORS.get(operator)!, types, this.#substitution, this.freshName)
    if (resolved !== undefined) {
      this.#substitution = resolved.substitution
      return resolved.result
    }
    const shown = types.map((type) => formatType(this.#substitution.apply(type, true))).join(', ')
    this.#problems.error(
      'no-overload',
      operatorRange(expr),
      `no matching overload for ${operatorName(operator)} with (${shown})`,
    )
    return ERROR
  }

  #checkBinary(operator: string, expr: Expr, operands: readonly Expr[]): Type {
    const types = operands.map((operand) => this.check(operand))
    if (operator === 'in' && this.#elementOfHost(types[1]!) !== undefined) return BOOL
    return this.#applyOperator(operator, expr, types)
  }

  /** What `x[key]` of a host object is; undefined when the type is no host object. */
  #elementOfHost(type: Type): Type | undefined {
    const applied = this.#substitution.apply(type)
    if (applied.kind !== 'object') return undefined
    const host = this.#environment.hostTypes.get(applied.name)
    return host === undefined ? undefined : (host.element ?? DYN)
  }

  #checkIndex(expr: Index): Type {
    const member = this.#memberByKey(expr)
    if (member !== undefined) return member
    const operand = this.#substitution.apply(this.check(expr.operand))
    const index = this.check(expr.index)
    const inner = optionalElement(operand)
    const container = inner ?? operand
    const host = this.#elementOfHost(container)
    if (host === undefined) return this.#applyOperator(expr.optional ? '[?]' : '[]', expr, [operand, index])
    const element = this.#hostMember(container, expr.index) ?? host
    return expr.optional || inner !== undefined ? optionalOf(element) : element
  }

  #hostMember(type: Type, index: Expr): Type | undefined {
    if (type.kind !== 'object' || index.kind !== 'literal' || typeof index.value !== 'string') return undefined
    return this.#environment.hostTypes.get(type.name)?.members.get(index.value)
  }

  /** `request["method"]` is `request.method` when `request` is a declared root. */
  #memberByKey(expr: Index): Type | undefined {
    if (expr.optional || expr.index.kind !== 'literal' || typeof expr.index.value !== 'string') return undefined
    if (this.#resolvePath(expr.operand)?.kind !== 'root') return undefined
    const select: Select = { ...expr, kind: 'select', field: expr.index.value }
    const type = this.check(select)
    const resolution = this.#resolutions.get(select)
    if (resolution !== undefined) this.#resolutions.set(expr, resolution)
    return type
  }

  #checkConditional(condition: Expr, then: Expr, otherwise: Expr, expr: Expr): Type {
    this.requireType(condition, this.check(condition), BOOL, 'condition')
    const types = [this.check(then), this.check(otherwise)] as const
    const [a, b] = types.map((type) => this.#substitution.apply(type))
    // Not in the language definition: `x ? "v" : null` says "no value" in transformations, which take null for that.
    if ((a!.kind === 'null') !== (b!.kind === 'null') && assignAll(this.#substitution, [a!], [b!]) === undefined)
      return DYN
    return this.#applyOperator('?:', expr, [BOOL, ...types])
  }

  // Literals

  #elementType(value: Expr, optional: boolean): Type {
    const type = this.check(value)
    if (!optional) return type
    const applied = this.#substitution.apply(type)
    if (isWild(applied)) return DYN
    const element = optionalElement(applied)
    if (element !== undefined) return element
    this.#problems.error('type-mismatch', value, `expected an optional after ?, found ${formatType(applied)}`)
    return ERROR
  }

  /** The type that fits all; `dyn` when they differ, an open type when there are none. */
  #join(types: readonly Type[]): Type {
    let joined: Type | undefined
    for (const type of types) {
      if (joined === undefined) {
        joined = type
        continue
      }
      const next = assignAll(this.#substitution, [joined], [type])
      if (next === undefined) return DYN
      this.#substitution = next
      joined = moreGeneral(this.#substitution.apply(joined), this.#substitution.apply(type))
    }
    return joined ?? this.fresh()
  }

  #checkMap(expr: MapLiteral): Type {
    const keys = expr.entries.map((entry) => this.check(entry.key))
    const values = expr.entries.map((entry) => this.#elementType(entry.value, entry.optional))
    return mapOf(this.#join(keys), this.#join(values))
  }

  #checkStruct(expr: StructLiteral): Type {
    const { provider, container } = this.#environment
    const names = candidateNames(expr.name, expr.absolute ? '' : container)
    const type = names.map((name) => provider?.findType(name)).find((found) => found !== undefined)
    const values = expr.fields.map((field) => this.#elementType(field.value, field.optional))
    if (type === undefined) {
      this.#problems.error('undeclared', expr, `undeclared type ${expr.name}`)
      return ERROR
    }
    const typeName = type.kind === 'object' ? type.name : names.find((name) => provider?.findType(name) !== undefined)!
    this.#resolutions.set(expr, { kind: 'constant', value: typeName, type })
    expr.fields.forEach((field, i) => {
      const expected = provider!.findField(typeName, field.name)
      if (expected === undefined) {
        const near = suggest(field.name, provider!.fieldNames(typeName))
        this.#problems.error('unknown-field', field, `${typeName} has no field ${field.name}${didYouMean(near)}`, near)
      } else this.requireType(field, values[i]!, expected, `field ${field.name}`)
    })
    return type
  }

  // Calls

  #checkCall(expr: Call): Type {
    const qualified = this.#qualifiedFunction(expr)
    const name = qualified ?? expr.name
    if (expr.target === undefined || qualified !== undefined) {
      if (LAZY_FUNCTIONS.has(name) && expr.target === undefined) return this.#checkLazy(expr)
      return this.#checkArguments(expr, name, this.#functionsNamed(name, expr), expr.args, false)
    }
    return this.#checkArguments(
      expr,
      name,
      this.#environment.functions.get(name) ?? [],
      [expr.target, ...expr.args],
      true,
    )
  }

  /** `math.least(...)`: the full name when the target is a namespace and no variable. */
  #qualifiedFunction(expr: Call): string | undefined {
    const prefix = expr.target === undefined ? undefined : qualifiedName(expr.target)
    if (prefix === undefined || this.#findLocal(headOf(expr.target!)!) !== undefined) return undefined
    const name = `${prefix}.${expr.name}`
    return this.#functionsNamed(name, expr).length > 0 ? name : undefined
  }

  #functionsNamed(name: string, expr: Call): readonly Overload[] {
    const absolute = expr.absolute || (expr.target !== undefined && isAbsolute(expr.target))
    for (const candidate of candidateNames(name, absolute ? '' : this.#environment.container)) {
      const found = this.#environment.functions.get(candidate) ?? this.#environment.provider?.findFunction?.(candidate)
      if (found?.some((overload) => !overload.isMember)) return found
    }
    return []
  }

  #checkArguments(expr: Call, name: string, all: readonly Overload[], args: readonly Expr[], isMember: boolean): Type {
    const types = args.map((arg) => this.check(arg))
    const overloads = all.filter((overload) => overload.isMember === isMember)
    this.#overloads.set(expr, overloads)
    const range = { start: expr.nameStart, end: expr.nameStart + expr.name.length }
    if (overloads.length === 0) return this.#unknownFunction(name, all, isMember, range)
    const resolved = resolveOverloads(overloads, types, this.#substitution, this.freshName)
    if (resolved !== undefined) {
      this.#substitution = resolved.substitution
      this.#overloads.set(expr, resolved.chosen)
      return resolved.result
    }
    const shown = types.map((type) => formatType(this.#substitution.apply(type, true)))
    const form = isMember ? `(${shown[0]}).${name}(${shown.slice(1).join(', ')})` : `${name}(${shown.join(', ')})`
    const known = overloads.map((overload) => overload.signature).slice(0, 4)
    this.#problems.error('no-overload', range, `no matching overload for ${form}; there is ${known.join('; ')}`)
    return ERROR
  }

  #unknownFunction(name: string, all: readonly Overload[], isMember: boolean, range: Range): Type {
    if (all.length > 0) {
      const form = isMember ? `${name}(...)` : `x.${name}(...)`
      this.#problems.error('no-overload', range, `${name} has another form: ${form}`)
      return ERROR
    }
    const names = [...this.#environment.functions]
      .filter(([, list]) => list.some((o) => o.isMember === isMember))
      .map(([n]) => n)
    const near = suggest(name, names)
    this.#problems.error('undeclared', range, `undeclared function ${name}${didYouMean(near)}`, near)
    return ERROR
  }

  #checkLazy(expr: Call): Type {
    this.#overloads.set(expr, [])
    if (expr.name === 'variables') return this.#checkVariables(expr)
    const min = expr.name === 'default' ? 2 : 1
    const max = expr.name === 'default' ? 2 : Number.POSITIVE_INFINITY
    if (expr.args.length < min || expr.args.length > max) {
      const form = expr.name === 'default' ? 'default(value, fallback)' : 'coalesce(value, ...)'
      this.#problems.error('no-overload', expr, `wrong number of arguments: ${form}`)
    }
    const types = expr.args.map((arg, i) => {
      this.#forgiving++
      // The last alternative has nothing behind it that could help.
      if (i === expr.args.length - 1) this.#forgiving--
      const type = this.check(arg)
      if (i < expr.args.length - 1) this.#forgiving--
      return type
    })
    const known = types.filter((type) => type.kind !== 'error' && type.kind !== 'null')
    return known.length === 0 ? DYN : this.#join(known)
  }

  #checkVariables(expr: Call): Type {
    if (expr.args.length > 0) this.#problems.error('no-overload', expr, 'variables() takes no arguments')
    this.#referWhole(this.#environment.root)
    this.#references.delete('')
    return mapOf(STRING, DYN)
  }

  // Scopes

  /** Runs `work` with local variables; their slots are kept for the expression. */
  withLocals<T>(expr: Expr, bindings: readonly Binding[], types: readonly Type[], work: () => T): T {
    const slots = bindings.map(() => this.#slotCount++)
    this.#slots.set(expr, [...(this.#slots.get(expr) ?? []), ...slots])
    bindings.forEach((binding, i) => {
      this.#locals.push({ name: binding.name, slot: slots[i]!, type: types[i]! })
    })
    const result = work()
    this.#locals.length -= bindings.length
    return result
  }

  #checkBind(expr: Bind): Type {
    const value = this.check(expr.value)
    if (expr.macro === 'bind' || expr.macro === 'with') {
      return this.withLocals(expr, [expr.variable], [value], () => this.check(expr.body))
    }
    const applied = this.#substitution.apply(value)
    const element = isWild(applied) ? DYN : optionalElement(applied)
    if (element === undefined) {
      this.#problems.error('no-overload', expr.value, `${expr.macro}() needs an optional, found ${formatType(applied)}`)
    }
    const body = this.withLocals(expr, [expr.variable], [element ?? ERROR], () => this.check(expr.body))
    return expr.macro === 'optMap' ? optionalOf(body) : body
  }

  #checkBlock(expr: Block): Type {
    const checkFrom = (i: number): Type => {
      const slot = expr.slots[i]
      if (slot === undefined) return this.check(expr.body)
      const type = this.check(slot)
      const binding = { name: `@index:${i}`, start: slot.start, end: slot.end }
      return this.withLocals(expr, [binding], [type], () => checkFrom(i + 1))
    }
    return checkFrom(0)
  }

  // For the other parts of the checker

  freshName = (): string => `@${this.#freshCount++}`

  fresh(): Type {
    return { kind: 'param', name: this.freshName() }
  }

  apply(type: Type): Type {
    return this.#substitution.apply(type)
  }

  elementOfHost(type: Type): Type | undefined {
    return this.#elementOfHost(type)
  }

  /** Reports unless `found` can be passed where `wanted` is needed. */
  requireType(range: Range, found: Type, wanted: Type, what: string): void {
    const next = assignAll(this.#substitution, [found], [wanted])
    if (next !== undefined) this.#substitution = next
    else {
      const shown = formatType(this.#substitution.apply(found, true))
      this.#problems.error('type-mismatch', range, `${what} must be ${formatType(wanted)}, found ${shown}`)
    }
  }

  /** A type parameter of which nothing is known yet becomes `dyn`. */
  bindToDyn(type: Type): void {
    this.#substitution = assignAll(this.#substitution, [DYN], [type]) ?? this.#substitution
  }
}

function isWild(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'error' || type.kind === 'any'
}

function didYouMean(near: string | undefined): string {
  return near === undefined ? '' : `; did you mean ${near}?`
}

function operatorRange(expr: Expr): Range {
  if (expr.kind === 'binary') return { start: expr.operatorStart, end: expr.operatorStart + expr.operator.length }
  if (expr.kind === 'index') return { start: expr.operand.end, end: expr.end }
  return expr
}

function operatorName(operator: string): string {
  return operator === '-x' ? '-' : operator
}

function literalType(value: unknown): Type {
  switch (typeNameOf(value as never)) {
    case 'bool':
      return BOOL
    case 'int':
      return INT
    case 'uint':
      return UINT
    case 'double':
      return DOUBLE
    case 'bytes':
      return BYTES
    case 'null_type':
      return NULL
    default:
      return STRING
  }
}
