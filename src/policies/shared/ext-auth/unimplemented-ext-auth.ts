import { proceed } from '#exchange/outcome.ts'
import type { Step } from '#exchange/step.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../not-implemented.ts'
import { refuseUnimplemented } from '../refuse-unimplemented.ts'
import type { ExtAuthSpec } from './ext-auth.ts'

export const refuseExtAuth: Step = refuseUnimplemented('ext-auth-denied', 'extAuth')

/** External authorization is not implemented yet, so its failure mode applies (specification 2, 2.2.6; decision A-36). */
export function unimplementedExtAuth(
  source: PolicySource<unknown>,
  path: string,
  { failureMode }: ExtAuthSpec,
  context: CompileContext,
): Step {
  const opens = failureMode === 'FailOpen'
  const effect = opens ? 'requests are allowed (failureMode FailOpen)' : 'requests are refused (failureMode FailClosed)'
  reportNotImplemented(context, source, path, effect)
  return opens ? () => proceed : refuseExtAuth
}
