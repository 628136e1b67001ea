import type { ConfigProblem } from '#base/config-problem.ts'
import type { Expression } from './expression.ts'

type Problem = Omit<ConfigProblem, 'path'>

/** Warnings about an expression as an authorization rule, in addition to its errors. */
export function ruleProblems(action: 'Allow' | 'Deny' | 'Require', expression: Expression): readonly Problem[] {
  const { canFail } = expression
  const evasion = expression.evasion(action !== 'Deny')
  return [
    ...(action === 'Deny' && canFail !== undefined ? [denyCanFail(canFail, expression.safePart())] : []),
    ...(evasion === undefined ? [] : [ruleOnClientField(action, evasion)]),
  ]
}

/** A Deny rule whose evaluation can fail: then it does not match, and the request passes (decision A-65). */
function denyCanFail(canFail: string, safePart: string | undefined): Problem {
  const [what = '', ...lines] = canFail.split('\n')
  const advice = safePart === undefined ? 'handle the failure, for example with coalesce()' : `write ${safePart}`
  const first = `this Deny rule does not deny when its evaluation fails: ${what}; ${advice}`
  return { code: 'deny-can-fail', severity: 'warning', message: [first, ...lines].join('\n') }
}

/** A client can change the text of a header by a list in one line, or by repeating a list-based one; other repeated headers are refused (decision A-132). */
function ruleOnClientField(action: string, evasion: string): Problem {
  const [what = '', ...lines] = evasion.split('\n')
  const effect = action === 'Deny' ? 'the request is not denied' : 'the request is allowed'
  const first = `a client can bypass this ${action} rule: ${what}, and ${effect}; test the members of request.headers.split(), or use verified values`
  return { code: 'rule-on-client-field', severity: 'advice', message: [first, ...lines].join('\n') }
}
