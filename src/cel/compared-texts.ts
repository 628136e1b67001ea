import { type Expr, type Literal, partsOf } from './ast.ts'
import type { Checked } from './checker/check-state.ts'
import type { Variable } from './environment.ts'

/** A comparison of a variable with a constant text. */
export interface ComparedText<C> {
  readonly variable: Variable<C>
  readonly constant: Literal & { readonly value: string }
  /** `prefix`: the argument of `startsWith`. */
  readonly part: 'whole' | 'prefix'
}

/** Functions that return the value of their first argument, if there is one. */
const FALLBACKS: ReadonlySet<string> = new Set(['default', 'coalesce'])

/** All comparisons of variables with constant texts: `==`, `!=`, `in [...]`, `startsWith`. */
export function comparedTexts<C>(expr: Expr, { resolutions }: Checked<C>): readonly ComparedText<C>[] {
  const found: ComparedText<C>[] = []
  const variableOf = (part: Expr): Variable<C> | undefined => {
    const resolution = resolutions.get(part)
    if (resolution?.kind === 'variable') return resolution.scope.variable
    const isFallback = part.kind === 'call' && part.target === undefined && FALLBACKS.has(part.name)
    return isFallback && part.args[0] !== undefined ? variableOf(part.args[0]) : undefined
  }
  const compare = (subject: Expr | undefined, constant: Expr | undefined, part: ComparedText<C>['part']): void => {
    if (subject === undefined || !isText(constant)) return
    const variable = variableOf(subject)
    if (variable !== undefined) found.push({ variable, constant, part })
  }
  const visit = (part: Expr): void => {
    if (part.kind === 'binary' && (part.operator === '==' || part.operator === '!=')) {
      compare(part.left, part.right, 'whole')
      compare(part.right, part.left, 'whole')
    } else if (part.kind === 'binary' && part.operator === 'in' && part.right.kind === 'list') {
      for (const { value } of part.right.elements) compare(part.left, value, 'whole')
    } else if (part.kind === 'call' && part.name === 'startsWith') {
      compare(part.target, part.args[0], 'prefix')
    }
    if (!resolutions.has(part)) partsOf(part).forEach(visit)
  }
  visit(expr)
  return found
}

function isText(part: Expr | undefined): part is ComparedText<never>['constant'] {
  return part?.kind === 'literal' && typeof part.value === 'string'
}
