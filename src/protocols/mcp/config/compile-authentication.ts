import type { Exchange } from '#exchange/exchange.ts'
import { proceed, type Refusal, reject } from '#exchange/outcome.ts'
import type { Step } from '#exchange/step.ts'
import type { CompileContext, PolicySource } from '#policies/policy.ts'
import { compileJwt } from '#policies/shared/jwt/compile-jwt.ts'
import { TOKEN_FAILURES, type TokenFailure } from '#policies/shared/jwt/token-failure.ts'
import { findFailureInAudience } from '#policies/shared/jwt/token-verifier.ts'
import { compileSignIn } from '#policies/shared/sign-in/compile-sign-in.ts'
import type { SignIn } from '#policies/shared/sign-in/sign-in.ts'
import type { BackendMcpSpec, McpAuthenticationSpec } from './policy-schema.ts'

/** `backend.mcp.authentication`, prepared. */
export interface McpAuthentication {
  readonly authenticate: Step
  readonly signIn: SignIn
}

const PATH = '.authentication'

/** The deprecated form of `traffic.jwtAuthentication.mcp`: the same, but behind all policies of section `traffic` (specification 1, 5.3). */
export function compileAuthentication(
  source: PolicySource<BackendMcpSpec>,
  spec: McpAuthenticationSpec,
  context: CompileContext,
): McpAuthentication {
  const { issuer, audiences, mode, jwks } = spec
  const jwksPath = `${PATH}.jwks`
  const signIn = compileSignIn(
    source,
    { ...spec, key: spec, path: PATH, ownPath: PATH, issuers: [issuer], audience: audiences?.[0] },
    context,
  )
  const providers = [{ issuer, audiences, jwks: { remote: jwks }, path: PATH, jwksPath }]
  const { request } = compileJwt(source, { mode, providers, key: spec, signIn }, context)
  return {
    signIn,
    authenticate: (exchange) =>
      exchange.identity.jwt === undefined ? request!(exchange) : checkEarlier(spec, signIn, exchange),
  }
}

/** A policy of section `traffic` has validated and removed the token: it counts if it is for this backend, too (decision B77). */
function checkEarlier(spec: McpAuthenticationSpec, signIn: SignIn, exchange: Exchange): Refusal | undefined {
  const failure = failureOfEarlier(spec, exchange)
  if (failure === undefined || spec.mode === 'Permissive') return proceed
  return signIn.challenge(reject('jwt-invalid', { detail: TOKEN_FAILURES[failure] }), exchange)
}

function failureOfEarlier(
  { issuer, audiences }: McpAuthenticationSpec,
  { identity }: Exchange,
): TokenFailure | undefined {
  const { iss, aud } = identity.jwt!.claims
  if (issuer !== undefined && iss !== issuer) return 'other-issuer'
  return findFailureInAudience(aud, audiences)
}
