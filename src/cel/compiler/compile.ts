import type { Binary, Bind, Block, Call, Comprehension, Expr, Has, Index, Select } from '../ast.ts'
import { LAZY_FUNCTIONS } from '../checker/calls.ts'
import type { Checked } from '../checker/check-state.ts'
import type { Resolution } from '../checker/resolve-name.ts'
import type { Environment, VariableNode } from '../environment.ts'
import { CelError, COST_EXCEEDED } from '../error.ts'
import { ContextMap } from '../map-value.ts'
import { qualifiedName } from '../qualified-name.ts'
import type { ProblemList, Range } from '../source.ts'
import { STRING, type Type } from '../type.ts'
import { WEIGHTS, weightOf } from '../weights.ts'
import { compileHas, compileIndex, compileSelect, orNone } from './access.ts'
import { compileArithmetic, compileConcatenation, compileNegation } from './arithmetic.ts'
import { compileBind, compileBlock, compileLocal } from './binding.ts'
import { compileCall } from './call.ts'
import { compileComparison } from './comparison.ts'
import { compileComprehension } from './comprehension.ts'
import type { FailureTrail } from './failure-trail.ts'
import { compileCoalesce, compileDefault, compileVariables } from './lazy-functions.ts'
import { compileList, compileMap, compileStruct } from './literals.ts'
import { compileConditional, compileLogic, compileNot } from './logic.ts'
import { constantNode, failingNode, type Node, nodeOf, readingNode } from './node.ts'

/** A compiled expression, with properties of its evaluation. */
export interface CompiledExpression<C> {
  readonly node: Node<C>
  /** Whether some of its work is charged to a budget. */
  readonly metered: boolean
  /** Source ranges where steps can run out, by the error that reports it. */
  readonly limits: ReadonlyMap<CelError, Range>
}

/** Compiles a checked expression to closures. Never throws; what cannot work becomes code that returns an error. */
export function compileChecked<C>(
  expr: Expr,
  checked: Checked<C>,
  environment: Environment<C>,
  problems: ProblemList,
  trail?: FailureTrail,
): CompiledExpression<C> {
  const compiler = new Compiler(checked, environment, problems, trail)
  const node = compiler.compile(expr)
  return { node, metered: compiler.metered, limits: compiler.limits }
}

class Compiler<C> {
  readonly #checked: Checked<C>
  readonly #environment: Environment<C>
  readonly #problems: ProblemList
  readonly #trail: FailureTrail | undefined
  /** Steps of one iteration of the innermost loop, for the part of its body that has been compiled. */
  #steps = 0
  metered = false
  readonly limits = new Map<CelError, Range>()

  constructor(checked: Checked<C>, environment: Environment<C>, problems: ProblemList, trail?: FailureTrail) {
    this.#checked = checked
    this.#environment = environment
    this.#problems = problems
    this.#trail = trail
  }

  compile(expr: Expr): Node<C> {
    const node = this.#compileQuietly(expr)
    return this.#trail === undefined || node.constant !== undefined ? node : this.#trail.follow(expr, node)
  }

  #compileQuietly(expr: Expr): Node<C> {
    this.#steps += WEIGHTS.node
    const node = this.#compile(expr)
    if (node.failure !== undefined && !this.#problems.hasErrors)
      this.#problems.warn('always-fails', expr, `always fails: ${node.failure.message}`)
    return node
  }

  #compile(expr: Expr): Node<C> {
    const resolution = this.#checked.resolutions.get(expr)
    if (resolution !== undefined && expr.kind !== 'has' && expr.kind !== 'struct') return this.#name(resolution)
    switch (expr.kind) {
      case 'literal':
        return constantNode(expr.value)
      case 'ident':
        return this.#undeclared(expr.name)
      case 'select':
        return this.#select(expr)
      case 'has':
        return this.#has(expr)
      case 'index':
        return this.#index(expr)
      case 'call':
        return this.#call(expr)
      case 'unary':
        return expr.operator === '!'
          ? compileNot(this.compile(expr.operand))
          : compileNegation(this.compile(expr.operand))
      case 'binary':
        return this.#binary(expr)
      case 'logic':
        return compileLogic(expr.operator, this.#compileAll(expr.operands))
      case 'conditional':
        return compileConditional(this.compile(expr.condition), this.compile(expr.then), this.compile(expr.otherwise))
      case 'list':
        return compileList(expr.elements.map(({ value, optional }) => ({ value: this.compile(value), optional })))
      case 'map':
        this.#steps += expr.entries.length * WEIGHTS.entry
        return compileMap(
          expr.entries.map(({ key, value, optional }) => ({
            key: this.compile(key),
            value: this.compile(value),
            optional,
          })),
        )
      case 'struct':
        return this.#struct(expr)
      case 'comprehension':
        return this.#comprehension(expr)
      case 'bind':
        return this.#bind(expr)
      case 'block':
        return this.#block(expr)
      case 'bad':
        return failingNode(new CelError('failed', 'expression has errors'))
    }
  }

  #compileAll(exprs: readonly Expr[]): Node<C>[] {
    return exprs.map((expr) => this.compile(expr))
  }

  #undeclared(name: string): Node<C> {
    return failingNode(new CelError('undeclared', `undeclared reference to ${name}`))
  }

  // Names

  #name(resolution: Resolution<C>): Node<C> {
    switch (resolution.kind) {
      case 'constant':
        return constantNode(resolution.value)
      case 'local':
        return compileLocal(resolution.slot)
      case 'variable':
        return this.#read(resolution.scope)
      case 'root': {
        const { readers } = resolution.scope
        return nodeOf((context) => new ContextMap(readers, context))
      }
      case 'unavailable':
        return this.#undeclared(resolution.scope.path)
    }
  }

  /** The declared variable of an expression, if it can be read by key. */
  #indexed(expr: Expr): VariableNode<C> | undefined {
    const resolution = this.#checked.resolutions.get(expr)
    return resolution?.kind === 'variable' && resolution.scope.variable!.index !== undefined
      ? resolution.scope
      : undefined
  }

  #read({ path, variable }: VariableNode<C>): Node<C> {
    this.#steps += WEIGHTS.variable
    this.metered ||= isConverted(variable!.type)
    return readingNode(path, variable!.read)
  }

  #readByKey(scope: VariableNode<C>, key: string): Node<C> {
    this.#steps += WEIGHTS.field
    this.metered ||= isConverted(memberType(scope.variable!.type))
    const { index, prepareIndex } = scope.variable!
    return readingNode(`${scope.path}.${key}`, prepareIndex?.(key) ?? ((context) => index!(context, key)))
  }

  /** A member of an undeclared name is undeclared too, so that `default()` handles both. */
  #select(expr: Select): Node<C> {
    const indexed = expr.optional ? undefined : this.#indexed(expr.operand)
    if (indexed !== undefined) return this.#readByKey(indexed, expr.field)
    const name = qualifiedName(expr)
    if (name !== undefined && this.#isUnknownMember(expr)) return this.#undeclared(name)
    this.metered = true
    return compileSelect(this.#operand(expr), expr.field, expr.optional)
  }

  #operand({ operand, optional }: Select | Index): Node<C> {
    const node = this.compile(operand)
    return optional && this.#isVariable(operand) ? orNone(node) : node
  }

  #isVariable(expr: Expr): boolean {
    return this.#checked.resolutions.get(expr)?.kind === 'variable'
  }

  /** `request.nope`, where `request` is a declared root. */
  #isUnknownMember(expr: Select): boolean {
    return this.#checked.resolutions.get(expr.operand)?.kind === 'root'
  }

  #has(expr: Has): Node<C> {
    const resolution = this.#checked.resolutions.get(expr)
    if (resolution?.kind === 'variable') {
      return presence(this.#read(resolution.scope))
    }
    if (resolution?.kind === 'root') {
      const { readers } = resolution.scope
      return nodeOf((context) => new ContextMap(readers, context).size > 0)
    }
    if (resolution !== undefined) return constantNode(true)
    const indexed = expr.optional ? undefined : this.#indexed(expr.operand)
    if (indexed !== undefined) return presence(this.#readByKey(indexed, expr.field))
    if (expr.optional) return compileHas(compileSelect(this.compile(expr.operand), expr.field, true), expr.field)
    const operand = this.compile(expr.operand)
    return compileHas(operand, expr.field, this.#isVariable(expr.operand))
  }

  #index(expr: Index): Node<C> {
    const indexed = expr.optional ? undefined : this.#indexed(expr.operand)
    const index = this.compile(expr.index)
    if (indexed === undefined) {
      this.metered = true
      return compileIndex(this.#operand(expr), index, expr.optional)
    }
    if (typeof index.constant === 'string') return this.#readByKey(indexed, index.constant)
    this.#steps += WEIGHTS.field
    this.metered = true
    const read = indexed.variable!.index!
    const [keyCode, generic] = [index.code, compileIndex(this.compile(expr.operand), index, false).code]
    return readingNode(indexed.path, (context, frame) => {
      const key = keyCode(context, frame)
      return typeof key === 'string' ? read(context, key) : generic(context, frame)
    })
  }

  // Operators and calls

  #binary(expr: Binary): Node<C> {
    const { operator } = expr
    if (operator === '+' && this.#checked.types.get(expr)?.kind === 'string') {
      const parts = summands(expr)
      this.metered ||= !parts.every((part) => this.#isShort(part))
      return compileConcatenation(this.#compileAll(parts))
    }
    if (operator === 'in') {
      const member = this.#membershipByKey(expr)
      if (member !== undefined) return member
    }
    const [left, right] = [this.compile(expr.left), this.compile(expr.right)]
    this.metered ||= left.constant === undefined && right.constant === undefined
    const isComparison =
      operator === 'in' || operator === '==' || operator === '!=' || operator[0] === '<' || operator[0] === '>'
    return isComparison ? compileComparison(operator, left, right) : compileArithmetic(operator, left, right)
  }

  /** Whether the value is a string of bounded length: a literal, or a field of a message head. */
  #isShort(expr: Expr): boolean {
    return expr.kind === 'literal' || this.#checked.resolutions.get(expr)?.kind === 'variable'
  }

  /** `"name" in request.headers` */
  #membershipByKey(expr: Binary): Node<C> | undefined {
    const indexed = this.#indexed(expr.right)
    const key = expr.left.kind === 'literal' ? expr.left.value : undefined
    return indexed === undefined || typeof key !== 'string' ? undefined : presence(this.#readByKey(indexed, key))
  }

  #call(expr: Call): Node<C> {
    if (expr.target === undefined && LAZY_FUNCTIONS.has(expr.name)) return this.#lazyCall(expr)
    const overloads = this.#checked.overloads.get(expr) ?? []
    const isMember = expr.target !== undefined && (overloads.length === 0 || overloads[0]!.isMember)
    const args = isMember ? [expr.target!, ...expr.args] : expr.args
    if (overloads.length === 0) return failingNode(new CelError('no-such-overload', `undeclared function ${expr.name}`))
    this.#steps += weightOf(overloads[0]!.name).call
    return compileCall(expr.name, overloads, this.#compileAll(args), {
      onInvalidConstant: (error) => {
        this.#problems.error('invalid-pattern', expr, `this call always fails: ${error.message}`)
      },
      exceeded: () => this.#limitAt(expr),
    })
  }

  /** Creates the error for exhausted steps in a range. */
  #limitAt({ start, end }: Range): CelError {
    this.metered = true
    const limit = new CelError('limit', COST_EXCEEDED.message)
    this.limits.set(limit, { start, end })
    return limit
  }

  #lazyCall(expr: Call): Node<C> {
    if (expr.name === 'variables') return compileVariables(this.#environment.root.readers)
    const args = this.#compileAll(expr.args)
    if (expr.name === 'coalesce') return compileCoalesce(args)
    const [value, fallback] = args
    if (value === undefined || fallback === undefined)
      return failingNode(new CelError('no-such-overload', 'default() takes two arguments'))
    return compileDefault(value, fallback)
  }

  #struct(expr: Expr & { kind: 'struct' }): Node<C> {
    const resolution = this.#checked.resolutions.get(expr)
    const { provider } = this.#environment
    if (resolution?.kind !== 'constant' || provider === undefined) return this.#undeclared(expr.name)
    const fields = expr.fields.map(({ name, value, optional }) => ({ name, value: this.compile(value), optional }))
    return compileStruct(resolution.value as string, provider, fields)
  }

  // Scopes

  #comprehension(expr: Comprehension): Node<C> {
    const range = this.compile(expr.range)
    const outside = this.#steps
    this.#steps = WEIGHTS.turn
    const filter = expr.filter === undefined ? undefined : this.compile(expr.filter)
    const body = this.compile(expr.body)
    const cost = { weight: this.#steps, exceeded: this.#limitAt(expr) }
    this.#steps = outside
    return compileComprehension(expr, this.#checked.slots.get(expr)!, range, filter, body, cost)
  }

  #bind(expr: Bind): Node<C> {
    return compileBind(
      expr.macro,
      this.#checked.slots.get(expr)![0]!,
      this.compile(expr.value),
      this.compile(expr.body),
    )
  }

  #block(expr: Block): Node<C> {
    return compileBlock(this.#checked.slots.get(expr) ?? [], this.#compileAll(expr.slots), this.compile(expr.body))
  }
}

/** Whether reading a value of the type may convert data of unbounded size, such as JSON. */
function isConverted({ kind }: Type): boolean {
  return kind === 'dyn' || kind === 'list'
}

/** Fields of a head have bounded size. */
function memberType(type: Type): Type {
  return type.kind === 'map' ? type.value : STRING
}

/** Whether a read finds a value. */
function presence<C>({ raw }: Node<C>): Node<C> {
  return nodeOf((context, frame) => {
    const value = raw(context, frame)
    if (value === undefined) return false
    return value instanceof CelError ? (value.code === 'no-such-key' ? false : value) : true
  })
}

/** The operands of `a + b + c`, from the left. */
function summands(expr: Expr): Expr[] {
  const parts: Expr[] = []
  let rest = expr
  while (rest.kind === 'binary' && rest.operator === '+') {
    parts.unshift(rest.right)
    rest = rest.left
  }
  return [rest, ...parts]
}
