import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'
import {
  type CredentialLocation,
  INVALID,
  readCredential,
  removeCredential,
} from '../authentication/credential-location.ts'
import type { RemoteKeySet } from '../authentication/remote-key-set.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import type { TokenFailure } from './token-failure.ts'
import type { TokenVerifier } from './token-verifier.ts'
import type { ValidToken } from './verified-tokens.ts'

export interface JwtPlan {
  readonly mode: 'Strict' | 'Optional' | 'Permissive'
  readonly location: CredentialLocation
  readonly verifier: TokenVerifier
  /** How MCP clients learn where to get a token; undefined: they do not. */
  readonly signIn: SignIn | undefined
  readonly missing: Refusal
  readonly invalid: Readonly<Record<TokenFailure, Refusal>>
  /** The refusal if the keys are not available, so that the token cannot be verified. */
  readonly keysUnavailable: (why: string) => Refusal
}

/**
 * Validates the token (specification 1, 5.3). Only a valid token is removed; `Permissive` forwards an invalid one (decisions ).
 */
export function runJwt(plan: JwtPlan, exchange: Exchange): Outcome | Promise<Outcome> {
  const text = readCredential(plan.location, exchange)
  if (text === undefined) return plan.mode === 'Strict' ? challenge(plan, exchange, plan.missing) : proceed
  if (text === INVALID) return refuse(plan, exchange, plan.invalid.several)

  const token = plan.verifier.verify(text, exchange.context.now())
  if (typeof token !== 'string') return accept(plan, exchange, token)
  return token === 'unknown-kid' || token === 'not-fetched'
    ? fetchKeys(plan, exchange, text, token)
    : refuse(plan, exchange, plan.invalid[token])
}

/** Fetches keys: the issuer may have new ones (decision A-62), or the first fetch may still be running (decision A-63). */
function fetchKeys(plan: JwtPlan, exchange: Exchange, text: string, failure: TokenFailure): Outcome | Promise<Outcome> {
  const { verifier } = plan
  const renewable = verifier.renewable(text, exchange.context.now())
  const fetches = renewable.flatMap((keySet) => keySet.renew() ?? [])
  if (fetches.length === 0) return refuseForKeys(plan, exchange, renewable, failure)
  return afterwards(exchange, Promise.all(fetches), () => {
    const token = verifier.verify(text, exchange.context.now())
    return typeof token === 'string' ? refuseForKeys(plan, exchange, renewable, token) : accept(plan, exchange, token)
  })
}

function accept(plan: JwtPlan, exchange: Exchange, token: ValidToken): Outcome {
  removeCredential(plan.location, exchange.request)
  exchange.identity.jwt = token.identity
  exchange.stepUp = plan.signIn
  return proceed
}

function refuseForKeys(
  plan: JwtPlan,
  exchange: Exchange,
  keySets: readonly RemoteKeySet[],
  failure: TokenFailure,
): Outcome {
  const missing = failure === 'not-fetched' ? keySets.find(({ fetched }) => !fetched) : undefined
  const refusal = missing === undefined ? plan.invalid[failure] : plan.keysUnavailable(missing.unavailableReason)
  return refuse(plan, exchange, refusal)
}

function refuse(plan: JwtPlan, exchange: Exchange, refusal: Refusal): Outcome {
  return plan.mode === 'Permissive' ? proceed : challenge(plan, exchange, refusal)
}

/** MCP clients get the form that they expect, whatever the cause (decision B78). */
function challenge({ signIn }: JwtPlan, exchange: Exchange, refusal: Refusal): Refusal {
  return signIn === undefined ? refusal : signIn.challenge(refusal, exchange)
}
