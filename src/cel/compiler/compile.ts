import type { Binary, Bind, Block, Call, Comprehension, Expr, Has, Index, Select } from '../ast.ts'
import { LAZY_FUNCTIONS } from '../checker/calls.ts'
import type { Checked } from '../checker/check-state.ts'
import type { Resolution } from '../checker/resolve-name.ts'
import type { Environment, Scope } from '../environment.ts'
import { CelError } from '../error.ts'
import { ContextMap } from '../map-value.ts'
import { qualifiedName } from '../qualified-name.ts'
import type { ProblemList } from '../source.ts'
import { compileHas, compileIndex, compileSelect, orNone } from './access.ts'
import { compileArithmetic, compileConcatenation, compileNegation } from './arithmetic.ts'
import { compileBind, compileBlock, compileLocal } from './binding.ts'
import { compileCall } from './call.ts'
import { compileComparison } from './comparison.ts'
import { compileComprehension } from './comprehension.ts'
import { compileCoalesce, compileDefault, compileVariables } from './lazy-functions.ts'
import { compileList, compileMap, compileStruct } from './literals.ts'
import { compileConditional, compileLogic, compileNot } from './logic.ts'
import { charged } from './metering.ts'
import { constantNode, failingNode, type Node, nodeOf, readingNode } from './node.ts'

/** Turns a checked expression into closures. Never throws; what cannot work becomes code that fails. */
export function compileChecked<C>(
  expr: Expr,
  checked: Checked<C>,
  environment: Environment<C>,
  problems: ProblemList,
): Node<C> {
  return new Compiler(checked, environment, problems).compile(expr)
}

class Compiler<C> {
  readonly #checked: Checked<C>
  readonly #environment: Environment<C>
  readonly #problems: ProblemList
  /** Above zero inside the body of a loop, where work on large values counts as steps. */
  #loopDepth = 0

  constructor(checked: Checked<C>, environment: Environment<C>, problems: ProblemList) {
    this.#checked = checked
    this.#environment = environment
    this.#problems = problems
  }

  compile(expr: Expr): Node<C> {
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
        return readingNode(resolution.scope.path, resolution.scope.variable!.read)
      case 'root': {
        const { readers } = resolution.scope
        return nodeOf((context) => new ContextMap(readers, context))
      }
      case 'unavailable':
        return this.#undeclared(resolution.scope.path)
    }
  }

  /** The declared variable that an expression names, if it can be read by key. */
  #indexed(expr: Expr): Scope<C> | undefined {
    const resolution = this.#checked.resolutions.get(expr)
    return resolution?.kind === 'variable' && resolution.scope.variable!.index !== undefined
      ? resolution.scope
      : undefined
  }

  #readByKey(scope: Scope<C>, key: string): Node<C> {
    const { index, prepareIndex } = scope.variable!
    return readingNode(`${scope.path}.${key}`, prepareIndex?.(key) ?? ((context) => index!(context, key)))
  }

  /** A member of something undeclared is undeclared, too: `default()` forgives both. */
  #select(expr: Select): Node<C> {
    const indexed = expr.optional ? undefined : this.#indexed(expr.operand)
    if (indexed !== undefined) return this.#readByKey(indexed, expr.field)
    const name = qualifiedName(expr)
    if (name !== undefined && this.#isUnknownMember(expr)) return this.#undeclared(name)
    return compileSelect(this.#operand(expr), expr.field, expr.optional)
  }

  #operand({ operand, optional }: Select | Index): Node<C> {
    const node = this.compile(operand)
    return optional && this.#isVariable(operand) ? orNone(node) : node
  }

  #isVariable(expr: Expr): boolean {
    return this.#checked.resolutions.get(expr)?.kind === 'variable'
  }

  /** `request.nope` under a declared root. */
  #isUnknownMember(expr: Select): boolean {
    return this.#checked.resolutions.get(expr.operand)?.kind === 'root'
  }

  #has(expr: Has): Node<C> {
    const resolution = this.#checked.resolutions.get(expr)
    if (resolution?.kind === 'variable') {
      const { read } = resolution.scope.variable!
      return presence(readingNode(resolution.scope.path, read))
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
    if (indexed === undefined) return compileIndex(this.#operand(expr), index, expr.optional)
    if (typeof index.constant === 'string') return this.#readByKey(indexed, index.constant)
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
    if (operator === '+' && this.#checked.types.get(expr)?.kind === 'string' && this.#loopDepth === 0) {
      return compileConcatenation(this.#compileAll(summands(expr)))
    }
    if (operator === 'in') {
      const member = this.#membershipByKey(expr)
      if (member !== undefined) return member
    }
    const [left, right] = this.#metered([expr.left, expr.right]) as [Node<C>, Node<C>]
    const isComparison =
      operator === 'in' || operator === '==' || operator === '!=' || operator[0] === '<' || operator[0] === '>'
    return isComparison ? compileComparison(operator, left, right) : compileArithmetic(operator, left, right)
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
    const node = compileCall(expr.name, overloads, this.#metered(args), (error) => {
      this.#problems.error('invalid-pattern', expr, `this call always fails: ${error.message}`)
    })
    return this.#loopDepth === 0 ? node : charged(node, this.#checked.types.get(expr))
  }

  #lazyCall(expr: Call): Node<C> {
    if (expr.name === 'variables') return compileVariables(this.#environment.root.readers)
    const args = this.#compileAll(expr.args)
    if (expr.name === 'coalesce') return compileCoalesce(args)
    const [value, fallback] = args
    if (value === undefined || fallback === undefined)
      return failingNode(new CelError('no-such-overload', 'default() takes two'))
    return compileDefault(value, fallback)
  }

  /** Inside loops, values whose size is not known count for the work they cause. */
  #metered(exprs: readonly Expr[]): Node<C>[] {
    const nodes = this.#compileAll(exprs)
    if (this.#loopDepth === 0 || nodes.every((node) => node.constant !== undefined)) return nodes
    return nodes.map((node, i) => charged(node, this.#checked.types.get(exprs[i]!)))
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
    this.#loopDepth++
    const filter = expr.filter === undefined ? undefined : this.compile(expr.filter)
    const body = this.compile(expr.body)
    this.#loopDepth--
    const weight = 1 + ((expr.body.end - expr.body.start) >> 6)
    return compileComprehension(expr, this.#checked.slots.get(expr)!, range, filter, body, weight)
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

/** Whether a reading node finds something. */
function presence<C>({ raw }: Node<C>): Node<C> {
  return nodeOf((context, frame) => {
    const value = raw(context, frame)
    if (value === undefined) return false
    return value instanceof CelError ? (value.code === 'no-such-key' ? false : value) : true
  })
}

/** `a + b + c` as its parts, from the left. */
function summands(expr: Expr): Expr[] {
  const parts: Expr[] = []
  let rest = expr
  while (rest.kind === 'binary' && rest.operator === '+') {
    parts.unshift(rest.right)
    rest = rest.left
  }
  return [rest, ...parts]
}
