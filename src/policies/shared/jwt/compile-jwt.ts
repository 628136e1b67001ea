import type { ConfigProblem } from '#base/config-problem.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { challengeFor } from '../authentication/challenge.ts'
import {
  authorizationHeader,
  type CredentialLocation,
  compileLocation,
  usesOf,
} from '../authentication/credential-location.ts'
import type { ExtractionLocationSpec } from '../authentication/extraction-location.ts'
import type { JwksSpec } from '../authentication/jwks.ts'
import { type KeySet, NO_KEY_SET, readKeySet } from '../authentication/read-key-set.ts'
import { RemoteKeySet } from '../authentication/remote-key-set.ts'
import { readsRequestBody } from '../body-use.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { type JwtPlan, runJwt } from './run-jwt.ts'
import { TOKEN_FAILURES, type TokenFailure } from './token-failure.ts'
import { TokenVerifier } from './token-verifier.ts'

/** Which tokens are valid, and what happens without one. */
export interface JwtSettings {
  readonly mode: JwtPlan['mode']
  readonly providers: readonly JwtIssuer[]
  /** Undefined: the `Authorization` header with the prefix `Bearer`. */
  readonly location?: ExtractionLocationSpec | undefined
  /** The source of the settings: a token is verified once, even if they apply to several targets. */
  readonly key: object
  /** How MCP clients learn where to get a token. */
  readonly signIn: SignIn | undefined
}

/** A trusted issuer, with its place in the source. */
export interface JwtIssuer {
  /** Undefined: the key set alone decides. */
  readonly issuer: string | undefined
  readonly audiences: readonly string[] | undefined
  readonly jwks: JwksSpec
  readonly path: string
  readonly jwksPath: string
}

type Source = PolicySource<unknown>

/** A provider without a usable key refuses its tokens; the others work (decision A-36). */
export function compileJwt(source: Source, settings: JwtSettings, context: CompileContext): RequestRun {
  const plan = planJwt(source, settings, context)
  const { location } = plan
  return {
    request: (exchange) => runJwt(plan, exchange),
    readsRequestBody: location.kind === 'expression' && readsRequestBody([location.expression]),
    ...(settings.signIn !== undefined && { signIn: settings.signIn }),
    ...usesOf(location),
  }
}

function planJwt(source: Source, settings: JwtSettings, context: CompileContext): JwtPlan {
  const { mode, location: where, signIn } = settings
  const location = where === undefined ? authorizationHeader('Bearer') : compileLocation(source, where, context)
  return {
    mode,
    location,
    verifier: verifierOf(source, settings, context),
    signIn,
    missing: reject('jwt-missing', challengeFor(location, 'Bearer')),
    ...refusalsAt(location),
  }
}

function refusalsAt(location: CredentialLocation): Pick<JwtPlan, 'invalid' | 'keysUnavailable'> {
  // The client is not told why a token is refused (decision A-53).
  const challenge = challengeFor(location, 'Bearer error="invalid_token"')
  const refusals = Object.entries(TOKEN_FAILURES).map(([failure, detail]) => [
    failure,
    reject('jwt-invalid', { ...challenge, detail }),
  ])
  return {
    invalid: Object.fromEntries(refusals) as Record<TokenFailure, Refusal>,
    keysUnavailable: (detail) => reject('jwt-keys-unavailable', { ...challenge, detail }),
  }
}

type AnyKeySet = KeySet | RemoteKeySet

interface CachedVerifier {
  readonly verifier: TokenVerifier
  /** The key sets of its providers. */
  readonly keySets: readonly AnyKeySet[]
}

/** Verifiers by `JwtSettings.key`. */
const verifiers = new WeakMap<object, CachedVerifier>()

function verifierOf(source: Source, settings: JwtSettings, context: CompileContext): TokenVerifier {
  const { key, providers: issuers, signIn } = settings
  const before = verifiers.get(key)
  const keySets = issuers.map(({ jwks: { inline, remote } }, i): AnyKeySet => {
    if (remote !== undefined) return context.remoteKeySet(source, remote) ?? NO_KEY_SET
    return before?.keySets[i] ?? readKeySet(inline!, context.importKey)
  })
  for (const [i, keySet] of keySets.entries()) reportProvider(source, issuers[i]!, keySet, context, signIn)
  // References may resolve to other objects although the policy was not edited.
  if (before?.keySets.every((keySet, i) => keySet === keySets[i]) === true) return before.verifier
  const providers = issuers.map(({ issuer, audiences }, i) => ({ issuer, audiences, keySet: keySets[i]! }))
  const verifier = new TokenVerifier(providers)
  verifiers.set(key, { keySets, verifier })
  return verifier
}

function reportProvider(
  source: Source,
  provider: JwtIssuer,
  keySet: AnyKeySet,
  context: CompileContext,
  signIn: SignIn | undefined,
): void {
  const { audiences, path, jwksPath } = provider
  const issuer = provider.issuer ?? 'any issuer'
  if (audiences === undefined) {
    const message = `tokens of ${issuer} for other services are accepted, too; set the audiences of this gateway`
    // Servers of MCP must accept only tokens that are for them (MCP, Authorization; decision B79).
    const severity = signIn === undefined ? 'advice' : 'warning'
    context.report(source, path, { severity, code: 'audience-any', message })
  }
  for (const message of keySet.faults) {
    context.report(source, jwksPath, { severity: 'warning', code: 'key-set-fault', message })
  }
  const problem = keySet instanceof RemoteKeySet ? problemOfFetch(keySet, issuer) : problemOfKeys(keySet, issuer)
  // Control reports unresolved references.
  if (problem !== undefined && keySet !== NO_KEY_SET) context.report(source, jwksPath, problem)
}

function problemOfKeys({ keys }: KeySet, issuer: string): Omit<ConfigProblem, 'path'> | undefined {
  if (keys.size > 0) return undefined
  const message = `the key set has no usable key: tokens of ${issuer} are refused`
  return { severity: 'error', code: 'key-set-unusable', message }
}

function problemOfFetch({ state, address }: RemoteKeySet, issuer: string): Omit<ConfigProblem, 'path'> | undefined {
  if (state?.failure === undefined) return undefined
  const why = `GET ${address.path} of ${address.backend}: ${state.failure}`
  if (state.value === undefined) {
    const message = `the key set cannot be fetched, and tokens of ${issuer} are refused until it can: ${why}`
    return { severity: 'error', code: 'key-set-not-fetched', message }
  }
  const since = new Date(state.fetchedMs).toISOString()
  const message = `the key set cannot be fetched again; the keys fetched at ${since} stay in use: ${why}`
  return { severity: 'warning', code: 'key-set-stale', message }
}
