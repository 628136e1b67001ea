import type { Step } from '#exchange/step.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../not-implemented.ts'
import { refuseUnimplemented } from '../refuse-unimplemented.ts'

export const refuseExtAuth: Step = refuseUnimplemented('ext-auth-denied', 'extAuth')

/**
 * External authorization is not implemented yet. `failureMode` is about a server that fails; a server that is never called protects nothing,
 * so requests are refused in both modes (decision A-36).
 */
export function unimplementedExtAuth(source: PolicySource<unknown>, path: string, context: CompileContext): Step {
  reportNotImplemented(context, source, path, 'requests are refused, regardless of failureMode')
  return refuseExtAuth
}
