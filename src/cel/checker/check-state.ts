import { suggest } from '#base/suggest.ts'
import type { Binding, BindingExpr, Expr } from '../ast.ts'
import type { Environment, VariableNode } from '../environment.ts'
import type { Overload } from '../overload.ts'
import type { Signature } from '../parse-type.ts'
import type { ProblemCode, ProblemList, Range } from '../source.ts'
import { DYN, formatType, optionalElement, type Type } from '../type.ts'
import { assignAll, moreGeneral, Substitution } from './assignability.ts'
import { resolveOverloads, resolveSignatures } from './overload-resolution.ts'
import { type Resolution, variablesBelow } from './resolve-name.ts'

/** Results of checking, for the compiler. */
export interface Checked<C> {
  readonly type: Type
  readonly types: ReadonlyMap<Expr, Type>
  /** Names that refer to variables, constants and locals; unresolved names are absent. */
  readonly resolutions: ReadonlyMap<Expr, Resolution<C>>
  /** For calls: the overloads that may run; empty for an unknown function. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>
  /** Slots of the variables of comprehensions, binds and blocks. */
  readonly slots: ReadonlyMap<BindingExpr, readonly number[]>
  readonly slotCount: number
  /** Declared paths that the expression reads. */
  readonly references: ReadonlySet<string>
}

export interface Local {
  readonly name: string
  readonly slot: number
  readonly type: Type
}

/** Shared state of the checker for one expression. */
export class CheckState<C> {
  readonly environment: Environment<C>
  readonly problems: ProblemList
  /** Checks a subexpression and records its type. */
  readonly check: (expr: Expr) => Type
  readonly resolutions = new Map<Expr, Resolution<C>>()
  readonly overloads = new Map<Expr, readonly Overload[]>()
  readonly references = new Set<string>()
  readonly #types = new Map<Expr, Type>()
  readonly #slots = new Map<BindingExpr, readonly number[]>()
  readonly #locals: Local[] = []
  readonly #substitution = new Substitution()
  #freshCount = 0
  #slotCount = 0
  #forgiving = 0

  constructor(environment: Environment<C>, problems: ProblemList, typeOf: (expr: Expr, state: CheckState<C>) => Type) {
    this.environment = environment
    this.problems = problems
    this.check = (expr) => {
      const type = typeOf(expr, this)
      this.#types.set(expr, type)
      return type
    }
  }

  /** The results; types that are still unbound become `dyn`. */
  finish(expr: Expr): Checked<C> {
    const types = new Map<Expr, Type>()
    for (const [part, type] of this.#types) types.set(part, this.#substitution.apply(type, true))
    const { resolutions, overloads, references } = this
    const slots = this.#slots
    return { type: types.get(expr)!, types, resolutions, overloads, slots, slotCount: this.#slotCount, references }
  }

  // Types

  /** The type with the current bindings. */
  apply(type: Type): Type {
    return this.#substitution.apply(type)
  }

  /** The type for messages; unbound parts are `dyn`. */
  show(type: Type): string {
    return formatType(this.#substitution.apply(type, true))
  }

  #freshName = (): string => `@${this.#freshCount++}`

  /** An unbound type. */
  fresh(): Type {
    return { kind: 'param', name: this.#freshName() }
  }

  bindToDyn(type: Type): void {
    assignAll(this.#substitution, [DYN], [type])
  }

  isAssignable(from: Type, to: Type): boolean {
    const mark = this.#substitution.mark()
    const fits = assignAll(this.#substitution, [from], [to])
    this.#substitution.rollBack(mark)
    return fits
  }

  /** Reports a problem unless `found` is assignable to `wanted`. */
  requireType(range: Range, found: Type, wanted: Type, what: string): void {
    if (assignAll(this.#substitution, [found], [wanted])) return
    this.problems.error('type-mismatch', range, `${what} must be ${formatType(wanted)}, found ${this.show(found)}`)
  }

  /** The common type; `dyn` if they differ, an unbound type if the list is empty. */
  join(types: readonly Type[]): Type {
    let joined: Type | undefined
    for (const type of types) {
      if (joined === undefined) {
        joined = type
        continue
      }
      if (!assignAll(this.#substitution, [joined], [type])) return DYN
      joined = moreGeneral(this.apply(joined), this.apply(type))
    }
    return joined ?? this.fresh()
  }

  /** The applicable overloads and the result type; undefined if none is applicable. */
  resolveCall(
    overloads: readonly Overload[],
    args: readonly Type[],
  ): { chosen: readonly Overload[]; result: Type } | undefined {
    return resolveOverloads(overloads, args, this.#substitution, this.#freshName)
  }

  resolveOperator(signatures: readonly Signature[], operands: readonly Type[]): Type | undefined {
    return resolveSignatures(signatures, operands, this.#substitution, this.#freshName)?.result
  }

  /** The type of an element, possibly written `?value`. */
  checkElement(value: Expr, optional: boolean): Type {
    const type = this.check(value)
    if (!optional) return type
    const applied = this.apply(type)
    if (isWild(applied)) return DYN
    const element = optionalElement(applied)
    if (element !== undefined) return element
    this.problems.error('type-mismatch', value, `expected an optional after ?, found ${this.show(applied)}`)
    return { kind: 'error' }
  }

  // Names

  findLocal(name: string): Local | undefined {
    return this.#locals.findLast((local) => local.name === name)
  }

  /** The most similar name; undefined for long names, which are not misspellings. */
  nearest(word: string, names: Iterable<string>): string | undefined {
    return word.length > 100 ? undefined : suggest(word, names)
  }

  /** Names that an expression may begin with, for suggestions. */
  knownNames(): string[] {
    return [...this.#locals.map((local) => local.name), ...this.environment.root.children.keys()]
  }

  /** Records that a root used as a whole reads everything below it. */
  referWhole(scope: VariableNode<C>): void {
    for (const path of variablesBelow(scope)) {
      this.references.add(path)
      this.references.add(scope.path === '' ? path.split('.', 1)[0]! : scope.path)
    }
  }

  /** The element type of `x[key]` for a host object; undefined for other types. */
  elementOfHost(type: Type): Type | undefined {
    const applied = this.apply(type)
    return applied.kind === 'object' ? this.environment.hostTypes.get(applied.name)?.anyMember : undefined
  }

  /** Runs `work` with local variables, and records their slots for the expression. */
  withLocals<T>(expr: BindingExpr, bindings: readonly Binding[], types: readonly Type[], work: () => T): T {
    const slots = bindings.map(() => this.#slotCount++)
    this.#slots.set(expr, [...(this.#slots.get(expr) ?? []), ...slots])
    bindings.forEach((binding, i) => {
      this.#locals.push({ name: binding.name, slot: slots[i]!, type: types[i]! })
    })
    const result = work()
    this.#locals.length -= bindings.length
    return result
  }

  // Problems

  /** Runs `work` in a context where missing names are not errors, because the expression handles them. */
  forgiving<T>(work: () => T): T {
    this.#forgiving++
    const result = work()
    this.#forgiving--
    return result
  }

  /** Reports a missing name: an error, or a warning if the expression handles it. */
  missing(code: ProblemCode, range: Range, message: string, suggestion?: string): void {
    if (this.#forgiving > 0) this.problems.warn(code, range, message, suggestion)
    else this.problems.error(code, range, message, suggestion)
  }
}

/** Types that are unknown at check time. */
export function isWild(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'error' || type.kind === 'any'
}
