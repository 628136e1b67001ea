import type { Binary, BinaryOperator, Call, Expr, Unary } from '../ast.ts'
import type { Checked } from '../checker/check-state.ts'
import { CelError } from '../error.ts'
import { parseCelDuration, parseTimestamp } from '../time-format.ts'
import { Uint } from '../value.ts'
import type { Origins } from './origins.ts'

/** Minimum and maximum of a number; for times, in seconds. */
interface Range {
  readonly least: bigint
  readonly greatest: bigint
}

const range = (least: bigint | number, greatest: bigint | number): Range => ({
  least: BigInt(least),
  greatest: BigInt(greatest),
})

type Kind = 'int' | 'uint' | 'timestamp' | 'duration'

/** Range of a type. Times are counted in whole seconds, so the last second is excluded. */
const DOMAIN: { readonly [K in Kind]: Range } = {
  int: range(-(2n ** 63n), 2n ** 63n - 1n),
  uint: range(0, 2n ** 64n - 1n),
  timestamp: range(-62_135_596_799, 253_402_300_798),
  duration: range(-9_223_372_035, 9_223_372_035),
}

/** Range of values from the host: ports, codes and counts; times of this and the next century; durations up to eight years. */
const DELIVERED: { readonly [K in Kind]: Range } = {
  int: range(-(2n ** 31n), 2n ** 31n),
  uint: range(0, 2n ** 31n),
  timestamp: range(946_684_800, 7_258_118_400),
  duration: range(-(2n ** 28n), 2n ** 28n),
}

/** Integers in JSON that the host has parsed. */
const JSON_INT = range(-(2n ** 53n), 2n ** 53n)

/** Functions that return lengths, positions, or parts of dates and addresses. */
const SMALL = /^(?:size|indexOf|lastIndexOf|prefixLength|family|get[A-Z]\w*)$/
const SELECTING = /^(?:default|coalesce|orValue|min|max|math\.least|math\.greatest)$/

/** Ranges of the integers and times in an expression, by static analysis. */
export class NumberRanges<C> {
  readonly #checked: Checked<C>
  readonly #origins: Origins<C>
  readonly #known = new Map<Expr, Range>()

  constructor(checked: Checked<C>, origins: Origins<C>) {
    this.#checked = checked
    this.#origins = origins
  }

  /** Whether the result of an operator may overflow its type. */
  mayOverflow(expr: Binary | Unary): boolean {
    const kind = this.#kindOf(expr)
    if (kind === undefined) return false
    const result = expr.kind === 'unary' ? negate(this.of(expr.operand)) : this.#compute(expr)
    return result.least < DOMAIN[kind].least || result.greatest > DOMAIN[kind].greatest
  }

  /** The range of an expression that is an integer or a time. */
  of(expr: Expr): Range {
    const known = this.#known.get(expr)
    if (known !== undefined) return known
    const domain = DOMAIN[this.#kindOf(expr) ?? 'int']
    const found = this.#find(expr) ?? domain
    const fitting = range(larger(found.least, domain.least), smaller(found.greatest, domain.greatest))
    this.#known.set(expr, fitting)
    return fitting
  }

  #find(expr: Expr): Range | undefined {
    const resolution = this.#checked.resolutions.get(expr)
    if (resolution?.kind === 'variable') return this.#delivered(expr)
    const definition = this.#origins.definitionOf(expr)
    if (definition?.part === 'position') return DELIVERED.int
    if (definition !== undefined)
      return definition.part === 'whole' ? this.of(definition.expr) : this.#ofElement(definition.expr)
    switch (expr.kind) {
      case 'literal':
        return ofLiteral(expr.value)
      case 'select':
      case 'index':
        return this.#ofElement(expr.operand)
      case 'unary':
        return negate(this.of(expr.operand))
      case 'binary':
        return this.#compute(expr)
      case 'conditional':
        return this.#hull([expr.then, expr.otherwise])
      case 'call':
        return this.#ofCall(expr)
      case 'bind':
      case 'block':
        return this.of(expr.body)
      default:
        return undefined
    }
  }

  /** The range of a member or element. */
  #ofElement(expr: Expr): Range | undefined {
    if (this.#origins.isParsed(expr)) return undefined
    const resolution = this.#checked.resolutions.get(expr)
    if (resolution?.kind === 'variable') return this.#delivered(expr)
    if (expr.kind === 'list') return this.#hull(expr.elements.map(({ value }) => value))
    return expr.kind === 'select' || expr.kind === 'index' ? this.#ofElement(expr.operand) : undefined
  }

  #delivered(expr: Expr): Range {
    const type = this.#checked.types.get(expr)
    const inner =
      type?.kind === 'list' ? type.element.kind : type?.kind === 'map' ? type.value.kind : this.#kindOf(expr)
    return inner === undefined || inner === 'dyn' ? JSON_INT : (DELIVERED[inner as Kind] ?? JSON_INT)
  }

  #ofCall(expr: Call): Range | undefined {
    const overload = this.#checked.overloads.get(expr)?.[0]
    const name = overload?.name ?? expr.name
    const args = overload?.isMember === true && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args
    if (SMALL.test(name)) return DELIVERED.int
    if (SELECTING.test(name)) return this.#hull(args)
    const text = args[0]?.kind === 'literal' ? args[0].value : undefined
    if (name === 'duration' && typeof text === 'string') return secondsOf(parseCelDuration(text))
    return name === 'timestamp' && typeof text === 'string' ? secondsOf(parseTimestamp(text)) : undefined
  }

  #hull(exprs: readonly Expr[]): Range | undefined {
    if (exprs.length === 0) return undefined
    return exprs
      .map((expr) => this.of(expr))
      .reduce((a, b) => range(smaller(a.least, b.least), larger(a.greatest, b.greatest)))
  }

  #compute({ operator, left, right }: Binary): Range {
    return compute(operator, this.of(left), this.of(right))
  }

  /** Values of type `dyn` are treated as ints. */
  #kindOf(expr: Expr): Kind | undefined {
    const type = this.#checked.types.get(expr)!
    const kind = type.kind === 'wrapper' ? type.of.kind : type.kind
    if (kind === 'dyn') return 'int'
    return kind in DOMAIN ? (kind as Kind) : undefined
  }
}

function ofLiteral(value: unknown): Range | undefined {
  if (value instanceof Uint) return range(value.value, value.value)
  return typeof value === 'bigint' || typeof value === 'number' ? range(value, value) : undefined
}

function secondsOf(time: { readonly seconds: number } | CelError): Range | undefined {
  return time instanceof CelError ? undefined : range(time.seconds, time.seconds + 1)
}

function compute(operator: BinaryOperator, a: Range, b: Range): Range {
  switch (operator) {
    case '+':
      return range(a.least + b.least, a.greatest + b.greatest)
    case '-':
      return range(a.least - b.greatest, a.greatest - b.least)
    case '*':
      return hullOf([a.least * b.least, a.least * b.greatest, a.greatest * b.least, a.greatest * b.greatest])
    case '/':
      return quotient(a, b)
    default:
      return hullOf([magnitude(b) - 1n, 1n - magnitude(b)])
  }
}

/** The divisor closest to zero determines the range; division by zero is a separate failure. */
function quotient(a: Range, b: Range): Range {
  const divisors = [b.least, b.greatest, -1n, 1n].filter((it) => it !== 0n && it >= b.least && it <= b.greatest)
  if (divisors.length === 0) return a
  return hullOf(divisors.flatMap((divisor) => [a.least / divisor, a.greatest / divisor]))
}

function negate({ least, greatest }: Range): Range {
  return range(-greatest, -least)
}

function magnitude({ least, greatest }: Range): bigint {
  return larger(-least, greatest)
}

function hullOf(values: readonly bigint[]): Range {
  return range(values.reduce(smaller), values.reduce(larger))
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
