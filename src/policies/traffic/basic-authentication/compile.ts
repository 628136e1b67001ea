import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import { refuseUnimplemented } from '../../shared/refuse-unimplemented.ts'
import type { BasicAuthenticationSpec } from './schema.ts'

/** Passwords cannot be checked yet, so all requests are refused. */
export function compileBasicAuthentication(
  sources: readonly PolicySource<BasicAuthenticationSpec>[],
  context: CompileContext,
): RequestRun {
  reportNotImplemented(context, sources[0]!, '', 'all requests are refused')
  return { request: refuseUnimplemented('policy-invalid', 'basicAuthentication') }
}
