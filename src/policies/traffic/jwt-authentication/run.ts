import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal } from '#exchange/outcome.ts'
import { type CredentialLocation, INVALID, readCredential, removeCredential } from '../../shared/credential-location.ts'
import type { JwtAuthenticationSpec } from './schema.ts'
import type { TokenFailure } from './token-failure.ts'
import type { TokenVerifier } from './token-verifier.ts'

export interface JwtPlan {
  readonly mode: JwtAuthenticationSpec['mode']
  readonly location: CredentialLocation
  readonly verifier: TokenVerifier
  readonly missing: Refusal
  readonly invalid: Readonly<Record<TokenFailure, Refusal>>
}

/** Specification 1, 5.3. Only a valid token is removed; `Permissive` lets a bad one travel on (decisions ). */
export function runJwt(plan: JwtPlan, exchange: Exchange): Outcome {
  const text = readCredential(plan.location, exchange)
  if (text === undefined) return plan.mode === 'Strict' ? plan.missing : proceed

  const token = text === INVALID ? 'several' : plan.verifier.verify(text)
  if (typeof token === 'string') return plan.mode === 'Permissive' ? proceed : plan.invalid[token]

  removeCredential(plan.location, exchange.request)
  exchange.identity.jwt = token.identity
  return proceed
}
