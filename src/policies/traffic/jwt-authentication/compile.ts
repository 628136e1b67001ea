import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import { refuseUnimplemented } from '../../shared/refuse-unimplemented.ts'
import type { JwtAuthenticationSpec } from './schema.ts'

/** Tokens cannot be validated yet, so nobody passes; in no mode, because rules on claims would then judge without them. */
export function compileJwtAuthentication(
  sources: readonly PolicySource<JwtAuthenticationSpec>[],
  context: CompileContext,
): PolicyRun {
  reportNotImplemented(context, sources[0]!, '', 'all requests are refused')
  return { request: refuseUnimplemented('policy-invalid', 'jwtAuthentication') }
}
