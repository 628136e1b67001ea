import { type Expr, partsOf } from './ast.ts'
import type { Checked } from './checker/check-state.ts'
import type { Misfit, Variable } from './environment.ts'
import { print } from './printer.ts'
import type { ProblemList } from './source.ts'

/** Functions that return the value of their first argument, if there is one. */
const FALLBACKS: ReadonlySet<string> = new Set(['default', 'coalesce'])

/** Warns of comparisons of a variable with a constant text that it never has, such as a path without a slash. */
export function reportImpossibleTexts<C>(expr: Expr, { resolutions }: Checked<C>, problems: ProblemList): void {
  const variableOf = (part: Expr): Variable<C> | undefined => {
    const resolution = resolutions.get(part)
    if (resolution?.kind === 'variable') return resolution.scope.variable
    const isFallback = part.kind === 'call' && part.target === undefined && FALLBACKS.has(part.name)
    return isFallback && part.args[0] !== undefined ? variableOf(part.args[0]) : undefined
  }

  const compare = (subject: Expr | undefined, constant: Expr | undefined, part: 'whole' | 'prefix'): void => {
    if (subject === undefined || constant?.kind !== 'literal' || typeof constant.value !== 'string') return
    const variable = variableOf(subject)
    const misfit: Misfit | undefined = variable?.misfit?.(constant.value, part)
    if (misfit === undefined) return
    const { why, instead, write } = misfit
    const never = part === 'whole' ? 'is never' : 'never begins with'
    const advice = write === undefined ? '' : `; write ${write}`
    const suggestion = instead === undefined ? undefined : JSON.stringify(instead)
    const message = `${variable!.path} ${never} ${print(constant)}: ${why}${advice}`
    problems.warn('never-equal', constant, message, suggestion)
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
}
