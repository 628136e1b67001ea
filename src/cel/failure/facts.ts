import type { Expr, Index } from '../ast.ts'
import { print } from '../printer.ts'

/** Facts that hold for an expression because of its context. */
export class Facts {
  static readonly none = new Facts(undefined, new Set())
  readonly #outer: Facts | undefined
  readonly #facts: ReadonlySet<string>

  private constructor(outer: Facts | undefined, facts: ReadonlySet<string>) {
    this.#outer = outer
    this.#facts = facts
  }

  has(fact: string): boolean {
    return this.#facts.has(fact) || this.#outer?.has(fact) === true
  }

  with(facts: ReadonlySet<string>): Facts {
    return facts.size === 0 ? this : new Facts(this, facts)
  }
}

/** Maximum list size that facts record. */
const MAX_KNOWN_SIZE = 100

export const present = (key: string) => `present ${key}`
export const notNull = (key: string) => `not null ${key}`
export const typed = (key: string) => `typed ${key}`
export const holdsValue = (key: string) => `value ${key}`
export const sizeAbove = (key: string, index: number) => `size of ${key} above ${index}`

/** One key for all spellings of a path: `a.b`, `a["b"]`. Lower case, because header names are case-insensitive. */
export function keyOf(expr: Expr): string {
  if (expr.kind === 'select' && !expr.optional) return memberKey(expr.operand, expr.field)
  if (expr.kind === 'index' && !expr.optional) return indexKey(expr.operand, expr.index)
  return print(expr)
}

/** The key of a variable: `apiKey.key`. */
export function keyOfPath(path: string): string {
  const [root, ...names] = path.split('.')
  return [root, ...names.map((name) => `[${JSON.stringify(name.toLowerCase())}]`)].join('')
}

function memberKey(operand: Expr, name: string): string {
  return `${keyOf(operand)}[${JSON.stringify(name.toLowerCase())}]`
}

function indexKey(operand: Expr, index: Expr): string {
  if (index.kind === 'literal' && typeof index.value === 'string') return memberKey(operand, index.value)
  return `${keyOf(operand)}[${print(index)}]`
}

/** Facts that hold if `expr` is true. */
export function factsWhenTrue(expr: Expr): ReadonlySet<string> {
  switch (expr.kind) {
    case 'has':
      return new Set([present(memberKey(expr.operand, expr.field)), ...presenceOf(expr.operand)])
    case 'logic':
      return expr.operator === '&&' ? union(expr.operands.map(factsWhenTrue)) : NOTHING
    case 'unary':
      return expr.operator === '!' ? factsWhenFalse(expr.operand) : NOTHING
    case 'call':
      return expr.name === 'hasValue' && expr.target !== undefined ? new Set([holdsValue(print(expr.target))]) : NOTHING
    case 'binary':
      return factsOfComparison(expr.operator, expr.left, expr.right)
    default:
      return NOTHING
  }
}

/** Facts that hold if `expr` is false. */
export function factsWhenFalse(expr: Expr): ReadonlySet<string> {
  if (expr.kind === 'unary' && expr.operator === '!') return factsWhenTrue(expr.operand)
  if (expr.kind === 'logic' && expr.operator === '||') return union(expr.operands.map(factsWhenFalse))
  if (expr.kind !== 'binary') return NOTHING
  const opposite = OPPOSITE[expr.operator]
  return opposite === undefined ? NOTHING : factsOfComparison(opposite, expr.left, expr.right)
}

const NOTHING: ReadonlySet<string> = new Set()
const OPPOSITE: Readonly<Record<string, string>> = {
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}
const MIRRORED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

function factsOfComparison(operator: string, left: Expr, right: Expr): ReadonlySet<string> {
  if (operator === 'in') return new Set([present(indexKey(right, left)), ...presenceOf(right)])
  if (left.kind === 'literal' && right.kind !== 'literal') {
    return factsOfComparison(MIRRORED[operator] ?? operator, right, left)
  }
  if (operator === '!=' && isNull(right)) return new Set([notNull(keyOf(left))])
  const subject = argumentOf('type', left)
  if (operator === '==' && subject !== undefined) return new Set([typed(keyOf(subject)), notNull(keyOf(subject))])
  const sized = argumentOf('size', left)
  return sized === undefined ? NOTHING : factsOfSize(operator, sized, right)
}

function isNull(expr: Expr): boolean {
  return expr.kind === 'literal' && expr.value === null
}

/** `x` of `name(x)` and `x.name()`. */
function argumentOf(name: string, expr: Expr): Expr | undefined {
  if (expr.kind !== 'call' || expr.name !== name) return undefined
  return expr.target === undefined ? expr.args[0] : expr.args.length === 0 ? expr.target : undefined
}

function factsOfSize(operator: string, sized: Expr, bound: Expr): ReadonlySet<string> {
  if (bound.kind !== 'literal' || typeof bound.value !== 'number') return NOTHING
  const least = leastSize(operator, bound.value)
  const key = keyOf(sized)
  return new Set(Array.from({ length: Math.min(least, MAX_KNOWN_SIZE) }, (_, index) => sizeAbove(key, index)))
}

function leastSize(operator: string, bound: number): number {
  if (operator === '>') return Math.max(0, bound + 1)
  if (operator === '>=' || operator === '==') return Math.max(0, bound)
  return operator === '!=' && bound === 0 ? 1 : 0
}

/** The keys of a path and of its prefixes. */
function presenceOf(expr: Expr): string[] {
  if (expr.kind !== 'select' && expr.kind !== 'index') return [present(keyOf(expr))]
  return [present(keyOf(expr)), ...presenceOf((expr as Index).operand)]
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]))
}
