import type { ConfigProblem } from '#base/config-problem.ts'
import type { Expression } from './expression.ts'

/** A warning when a Deny rule may fail to evaluate: it does not match then, and what it denies passes (decision A-65). */
export function doubtfulDenial({ canFail }: Expression): Omit<ConfigProblem, 'path'> | undefined {
  if (canFail === undefined) return undefined
  const [what = '', ...lines] = canFail.message.split('\n')
  const first = `a Deny rule that fails does not deny: ${what}; guard it with has() or in, or give a default() or coalesce()`
  const message = [first, ...lines].join('\n')
  return { code: 'deny-can-fail', severity: 'warning', message }
}
