import type { Expr } from './ast.ts'
import type { Checked } from './checker/check-state.ts'
import { comparedTexts } from './compared-texts.ts'
import type { Misfit } from './environment.ts'
import { print } from './printer.ts'
import type { ProblemList } from './source.ts'

/** Warns of comparisons of a variable with a constant text that it never has, such as a path without a slash. */
export function reportImpossibleTexts<C>(expr: Expr, checked: Checked<C>, problems: ProblemList): void {
  for (const { variable, constant, part } of comparedTexts(expr, checked)) {
    const misfit: Misfit | undefined = variable.misfit?.(constant.value, part)
    if (misfit === undefined) continue
    const { why, instead, write } = misfit
    const never = part === 'whole' ? 'is never' : 'never begins with'
    const advice = write === undefined ? '' : `; write ${write}`
    const suggestion = instead === undefined ? undefined : JSON.stringify(instead)
    problems.warn('never-equal', constant, `${variable.path} ${never} ${print(constant)}: ${why}${advice}`, suggestion)
  }
}
