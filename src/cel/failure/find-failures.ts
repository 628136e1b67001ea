import type { Binary, Call, Comprehension, Expr, Has, Index, Logic, Select, Unary } from '../ast.ts'
import { LAZY_FUNCTIONS } from '../checker/calls.ts'
import type { Checked } from '../checker/check-state.ts'
import type { Environment, VariableNode } from '../environment.ts'
import type { Overload } from '../overload.ts'
import { print } from '../printer.ts'
import type { Type } from '../type.ts'
import {
  Facts,
  factsWhenFalse,
  factsWhenTrue,
  holdsValue,
  keyOf,
  keyOfPath,
  notNull,
  present,
  sizeAbove,
  typed,
} from './facts.ts'
import { NumberRanges } from './number-ranges.ts'
import { Origins } from './origins.ts'
import { TOTAL_FOR_ADDRESSES, TOTAL_FUNCTIONS, TOTAL_SIGNATURES, TOTAL_WITH_CONSTANT } from './total-functions.ts'

/** One way in which an evaluation may fail. */
export interface PossibleFailure {
  /** `absent`: a value may be missing, which `default()` handles. */
  readonly kind: 'absent' | 'other'
  readonly start: number
  readonly end: number
  readonly message: string
}

const CALCULATING: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%'])

/**
 * Types that a number of unknown type may be combined with; strings and lists are not, because they determine the type of the other
 * operand.
 */
const NUMBERS: ReadonlySet<string> = new Set(['int', 'uint', 'double', 'timestamp', 'duration', 'dyn'])

const NONE: readonly PossibleFailure[] = []

/**
 * Finds subexpressions of a checked expression whose evaluation may fail, by static analysis: an absent key without a check, a conversion,
 * a division, an overflow, a value that may be null or of another type.
 * Claims and other data of the host are assumed to have the type that the author expects; only int and double are not distinguished, which
 * matters for arithmetic but not for comparisons. For JSON that the expression parses itself, the sender chooses the types. Limits of
 * evaluation are not considered.
 * @param presentPaths variables that are known to be present
 */
export function findFailures<C>(
  expr: Expr,
  checked: Checked<C>,
  environment: Environment<C>,
  presentPaths: readonly string[] = [],
): readonly PossibleFailure[] {
  const facts = Facts.none.with(new Set(presentPaths.map((path) => present(keyOfPath(path)))))
  return new FailureFinder(checked, environment).find(expr, facts)
}

class FailureFinder<C> {
  readonly #checked: Checked<C>
  readonly #environment: Environment<C>
  readonly #origins: Origins<C>
  readonly #ranges: NumberRanges<C>

  constructor(checked: Checked<C>, environment: Environment<C>) {
    this.#checked = checked
    this.#environment = environment
    this.#origins = new Origins(checked)
    this.#ranges = new NumberRanges(checked, this.#origins)
  }

  find(expr: Expr, facts: Facts): readonly PossibleFailure[] {
    const resolution = this.#checked.resolutions.get(expr)
    if (resolution !== undefined && expr.kind !== 'has' && expr.kind !== 'struct') {
      return resolution.kind === 'variable' ? this.#ofVariable(resolution.scope, expr, facts) : NONE
    }
    switch (expr.kind) {
      case 'literal':
      case 'ident':
      case 'bad':
        return NONE
      case 'select':
        return this.#ofSelect(expr, facts)
      case 'has':
        return this.#ofHas(expr, facts)
      case 'index':
        return this.#ofIndex(expr, facts)
      case 'call':
        return this.#ofCall(expr, facts)
      case 'unary':
        return this.#ofUnary(expr, facts)
      case 'binary':
        return this.#ofBinary(expr, facts)
      case 'logic':
        return this.#ofLogic(expr, facts)
      case 'conditional':
        return [
          ...this.#ofCondition(expr.condition, facts),
          ...this.find(expr.then, facts.with(factsWhenTrue(expr.condition))),
          ...this.find(expr.otherwise, facts.with(factsWhenFalse(expr.condition))),
        ]
      case 'list':
        return this.#ofAll(
          expr.elements.map(({ value }) => value),
          facts,
        )
      case 'map':
        return this.#ofAll(
          expr.entries.flatMap(({ key, value }) => [key, value]),
          facts,
        )
      case 'struct':
        return this.#ofAll(
          expr.fields.map(({ value }) => value),
          facts,
        )
      case 'comprehension':
        return this.#ofComprehension(expr, facts)
      case 'bind':
        return this.#ofAll([expr.value, expr.body], facts)
      case 'block':
        return this.#ofAll([...expr.slots, expr.body], facts)
    }
  }

  #ofAll(exprs: readonly Expr[], facts: Facts): readonly PossibleFailure[] {
    return exprs.flatMap((expr) => this.find(expr, facts))
  }

  // Reads

  #ofVariable({ path, variable }: VariableNode<C>, expr: Expr, facts: Facts): readonly PossibleFailure[] {
    // A wrapper is null instead of absent.
    if (variable!.always === true || variable!.type.kind === 'wrapper' || facts.has(present(keyOf(expr)))) return NONE
    return [absent(expr, `${path} may be missing`)]
  }

  /** The operand of a dot or bracket. An absent variable has no members, so the access itself is the only failure. */
  #ofOperand(operand: Expr, facts: Facts): readonly PossibleFailure[] {
    if (this.#checked.resolutions.get(operand)?.kind === 'variable') return NONE
    return this.#ofCondition(operand, facts)
  }

  #ofSelect(expr: Select, facts: Facts): readonly PossibleFailure[] {
    if (expr.optional) return this.#ofOperand(expr.operand, facts)
    const operand = this.#ofOperand(expr.operand, facts)
    const type = this.#typeOf(expr.operand)
    if (isOptional(type) || this.#hasFixedMembers(type)) return operand
    return facts.has(present(keyOf(expr))) ? operand : [...operand, absent(expr, `${print(expr)} may be missing`)]
  }

  #ofHas(expr: Has, facts: Facts): readonly PossibleFailure[] {
    return this.#checked.resolutions.has(expr) ? NONE : this.#ofOperand(expr.operand, facts)
  }

  #ofIndex(expr: Index, facts: Facts): readonly PossibleFailure[] {
    const { operand, index } = expr
    const parts = this.#ofAll([index], facts).concat(this.#ofOperand(operand, facts))
    const type = this.#typeOf(operand)
    if (expr.optional || isOptional(type)) return parts
    const at = index.kind === 'literal' ? index.value : undefined
    // `1 in list` compares elements, `1 in map` keys.
    if (type.kind === 'list' || (type.kind !== 'map' && typeof at === 'number')) {
      const isInside = typeof at === 'number' && facts.has(sizeAbove(keyOf(operand), at))
      return isInside ? parts : [...parts, other(expr, `${print(operand)} may have fewer elements`)]
    }
    return facts.has(present(keyOf(expr))) ? parts : [...parts, absent(expr, `${print(expr)} may be missing`)]
  }

  // Operations

  #ofBinary(expr: Binary, facts: Facts): readonly PossibleFailure[] {
    const { operator, left, right } = expr
    const parts = this.#ofAll([left, right], facts)
    if (operator === '==' || operator === '!=') return parts
    if (operator === 'in') return [...parts, ...this.#ofType(right, facts)]
    const typed = [...parts, ...this.#ofType(left, facts), ...this.#ofType(right, facts)]
    return CALCULATING.has(operator) ? [...typed, ...this.#ofCalculation(expr, facts)] : typed
  }

  #ofCalculation(expr: Binary, facts: Facts): readonly PossibleFailure[] {
    const { operator, left, right } = expr
    const failures = [...this.#ofNumber(left, right, facts), ...this.#ofNumber(right, left, facts)]
    const divides = (operator === '/' || operator === '%') && this.#typeOf(expr).kind !== 'double'
    if (divides && !isNonZero(right)) failures.push(other(expr, `${print(right)} may be zero`))
    return [...failures, ...this.#ofResult(expr)]
  }

  #ofUnary(expr: Unary, facts: Facts): readonly PossibleFailure[] {
    const { operator, operand } = expr
    const parts = this.#ofCondition(operand, facts)
    return operator === '!' ? parts : [...parts, ...this.#ofResult(expr)]
  }

  #ofResult(expr: Binary | Unary): readonly PossibleFailure[] {
    return this.#ranges.mayOverflow(expr) ? [other(expr, `${print(expr)} may overflow (see coalesce())`)] : NONE
  }

  /** Arithmetic needs two numbers of the same type: `1 + 1.5` has no overload. */
  #ofNumber(expr: Expr, partner: Expr, facts: Facts): readonly PossibleFailure[] {
    const isOpen = this.#typeOf(expr).kind === 'dyn' && !facts.has(typed(keyOf(expr)))
    if (!isOpen || !NUMBERS.has(this.#typeOf(partner).kind)) return NONE
    return [other(expr, `${print(expr)} may not be a number of the same type (see coalesce())`)]
  }

  /**
   * In `has(a.b) && a.b == 1` the right operand cannot fail, nor can the left one of `a.b == 1 && has(a.b)`: a deciding operand hides
   * failures of the others. An operand that may fail itself does not decide, so the operands are analysed repeatedly.
   */
  #ofLogic({ operator, operands }: Logic, outer: Facts): readonly PossibleFailure[] {
    const factsOf = operator === '&&' ? factsWhenTrue : factsWhenFalse
    let facts = outer
    let doubtful = operands
    while (doubtful.length > 0) {
      const safe = doubtful.filter((operand) => this.#ofCondition(operand, facts).length === 0)
      if (safe.length === 0) return doubtful.flatMap((operand) => this.#ofCondition(operand, facts))
      facts = facts.with(new Set(safe.flatMap((operand) => [...factsOf(operand)])))
      doubtful = doubtful.filter((operand) => !safe.includes(operand))
    }
    return NONE
  }

  #ofCondition(expr: Expr, facts: Facts): readonly PossibleFailure[] {
    return [...this.find(expr, facts), ...this.#ofType(expr, facts)]
  }

  #ofComprehension({ range, filter, body }: Comprehension, facts: Facts): readonly PossibleFailure[] {
    const ofRange = [...this.find(range, facts), ...this.#ofType(range, facts)]
    if (filter === undefined) return [...ofRange, ...this.find(body, facts)]
    return [...ofRange, ...this.find(filter, facts), ...this.find(body, facts.with(factsWhenTrue(filter)))]
  }

  #ofCall(expr: Call, facts: Facts): readonly PossibleFailure[] {
    if (expr.target === undefined && LAZY_FUNCTIONS.has(expr.name)) return this.#ofLazyCall(expr, facts)
    const overloads = this.#checked.overloads.get(expr) ?? []
    const isMember = overloads[0]?.isMember === true && expr.target !== undefined
    const args = isMember ? [expr.target!, ...expr.args] : expr.args
    const parts = args.flatMap((arg, i) => [
      ...this.find(arg, facts),
      ...(acceptsAll(overloads, i) ? NONE : this.#ofType(arg, facts)),
    ])
    if (this.#isTotal(expr, overloads, args, facts)) return parts
    return [...parts, other({ start: expr.nameStart, end: expr.end }, `${expr.name}() may fail`)]
  }

  /** `default` handles absent values; `coalesce` fails only if all of its arguments do. */
  #ofLazyCall(expr: Call, facts: Facts): readonly PossibleFailure[] {
    const all = expr.args.map((arg) => this.find(arg, facts))
    if (expr.name === 'coalesce') return all.some(({ length }) => length === 0) ? NONE : (all.at(-1) ?? NONE)
    const [value = NONE, fallback = NONE] = all
    return [...value.filter(({ kind }) => kind !== 'absent'), ...fallback]
  }

  #isTotal(expr: Call, overloads: readonly Overload[], args: readonly Expr[], facts: Facts): boolean {
    const name = overloads[0]?.name ?? expr.name
    if (name === 'value' && expr.target !== undefined) return facts.has(holdsValue(print(expr.target)))
    if (args.every(isConstant)) return overloads.every(({ pure }) => pure) || TOTAL_FUNCTIONS.has(name)
    const decisive = TOTAL_WITH_CONSTANT.get(name)
    if (decisive !== undefined && args[decisive] !== undefined) return isConstant(args[decisive])
    if (TOTAL_FOR_ADDRESSES.has(name)) return args.length === 0 || this.#isAddress(args.at(-1)!)
    return overloads.every(({ name, signature }) => TOTAL_FUNCTIONS.has(name) || TOTAL_SIGNATURES.has(signature))
  }

  /** Whether a text is certainly a valid address: constants were tested at compile time, and variables with such names contain one. */
  #isAddress(expr: Expr): boolean {
    const resolution = this.#checked.resolutions.get(expr)
    if (resolution?.kind === 'variable') return /address$/i.test(resolution.scope.path)
    return isConstant(expr) || this.#typeOf(expr).kind !== 'string'
  }

  // Types that are known only in the evaluation

  #ofType(expr: Expr, facts: Facts): readonly PossibleFailure[] {
    if (facts.has(typed(keyOf(expr)))) return NONE
    const isChosen = this.#typeOf(expr).kind === 'dyn' && this.#origins.isParsed(expr)
    const doubt = isChosen ? 'of a different type (see coalesce())' : this.#doubt(expr, facts)
    return doubt === undefined ? NONE : [other(expr, `${print(expr)} may be ${doubt}`)]
  }

  #doubt(expr: Expr, facts: Facts): string | undefined {
    if (expr.kind === 'call' && expr.target === undefined && LAZY_FUNCTIONS.has(expr.name)) {
      return expr.args.map((arg) => this.#doubt(arg, facts.with(new Set([notNull(keyOf(arg))])))).find((doubt) => doubt)
    }
    if (expr.kind === 'conditional') return this.#doubt(expr.then, facts) ?? this.#doubt(expr.otherwise, facts)
    const resolution = this.#checked.resolutions.get(expr)
    if (resolution?.kind !== 'variable') return undefined
    const { variable } = resolution.scope
    const mayBeNull = variable!.type.kind === 'wrapper' && variable!.always !== true
    return mayBeNull && !facts.has(notNull(keyOf(expr))) ? 'null' : undefined
  }

  #typeOf(expr: Expr): Type {
    return this.#checked.types.get(expr) ?? { kind: 'dyn' }
  }

  /** Messages always have all fields of their type. */
  #hasFixedMembers(type: Type): boolean {
    return type.kind === 'object' && !this.#environment.hostTypes.has(type.name)
  }
}

function absent({ start, end }: { start: number; end: number }, message: string): PossibleFailure {
  return { kind: 'absent', start, end, message }
}

function other({ start, end }: { start: number; end: number }, message: string): PossibleFailure {
  return { kind: 'other', start, end, message }
}

function isOptional(type: Type): boolean {
  return type.kind === 'opaque' && type.name === 'optional_type'
}

/** Whether the parameter accepts values of every type. */
function acceptsAll(overloads: readonly Overload[], index: number): boolean {
  return overloads.some(({ params }) => {
    const { kind } = params[Math.min(index, params.length - 1)] ?? { kind: 'dyn' }
    return kind === 'dyn' || kind === 'param'
  })
}

function isConstant(expr: Expr): boolean {
  if (expr.kind === 'list') return expr.elements.every(({ value }) => isConstant(value))
  if (expr.kind === 'unary') return isConstant(expr.operand)
  return expr.kind === 'literal'
}

function isNonZero(expr: Expr): boolean {
  const value = expr.kind === 'literal' ? expr.value : undefined
  return value !== undefined && print(expr) !== '0' && print(expr) !== '0u'
}
