import { type BindingExpr, type Expr, partsOf } from '../ast.ts'
import type { Checked } from '../checker/check-state.ts'

/** The origin of a local variable: an expression, or an element, key or position of its value. */
interface Definition {
  readonly expr: Expr
  readonly part: 'whole' | 'element' | 'position'
}

/** Functions that parse text at run time. The sender of the text chooses the types of its values. */
const PARSERS: ReadonlySet<string> = new Set(['json', 'jsonField', 'unvalidatedJwtPayload'])

/** Origins of the values in an expression. */
export class Origins<C> {
  readonly #checked: Checked<C>
  readonly #definitions: ReadonlyMap<number, Definition>
  readonly #parsed = new Map<Expr, boolean>()

  constructor(checked: Checked<C>) {
    this.#checked = checked
    const definitions = [...checked.slots].flatMap(([expr, slots]) =>
      slots.map((slot, i) => [slot, definitionOf(expr, i, checked)] as const),
    )
    this.#definitions = new Map(definitions)
  }

  /** The definition of a local variable; undefined for other expressions. */
  definitionOf(expr: Expr): Definition | undefined {
    const resolution = this.#checked.resolutions.get(expr)
    return resolution?.kind === 'local' ? this.#definitions.get(resolution.slot) : undefined
  }

  /** Whether a part of it was parsed at run time. */
  isParsed(expr: Expr): boolean {
    const known = this.#parsed.get(expr)
    if (known !== undefined) return known
    const definition = this.definitionOf(expr)
    const isParsed =
      (expr.kind === 'call' && PARSERS.has(expr.name)) ||
      (definition !== undefined && this.isParsed(definition.expr)) ||
      partsOf(expr).some((part) => this.isParsed(part))
    this.#parsed.set(expr, isParsed)
    return isParsed
  }
}

/** The local variable number `index` of an expression. */
function definitionOf<C>(expr: BindingExpr, index: number, { types }: Checked<C>): Definition {
  if (expr.kind === 'bind') return { expr: expr.value, part: expr.macro.startsWith('opt') ? 'element' : 'whole' }
  if (expr.kind === 'block') return { expr: expr.slots[index]!, part: 'whole' }
  const isPosition = expr.variables.length === 2 && index === 0 && types.get(expr.range)?.kind === 'list'
  return { expr: expr.range, part: isPosition ? 'position' : 'element' }
}
