import type { ConfigProblem } from '#base/config-problem.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { challengeFor } from '../../shared/authentication/challenge.ts'
import {
  authorizationHeader,
  type CredentialLocation,
  compileLocation,
  usesOf,
} from '../../shared/authentication/credential-location.ts'
import { type KeySet, NO_KEY_SET, readKeySet } from '../../shared/authentication/read-key-set.ts'
import { RemoteKeySet } from '../../shared/authentication/remote-key-set.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import { type JwtPlan, runJwt } from './run.ts'
import type { JwtAuthenticationSpec } from './schema.ts'
import { TOKEN_FAILURES, type TokenFailure } from './token-failure.ts'
import { TokenVerifier } from './token-verifier.ts'

type Source = PolicySource<JwtAuthenticationSpec>

/** A provider without a usable key refuses its tokens; the others work (decisions ). */
export function compileJwtAuthentication(sources: readonly Source[], context: CompileContext): RequestRun {
  const source = sources[0]!
  const plan = planJwt(source, context)
  const { location } = plan
  return {
    request: (exchange) => runJwt(plan, exchange),
    readsRequestBody: location.kind === 'expression' && readsRequestBody([location.expression]),
    ...usesOf(location),
  }
}

function planJwt(source: Source, context: CompileContext): JwtPlan {
  const { mode, location: where, mcp } = source.spec
  if (mcp !== undefined) {
    reportNotImplemented(context, source, '.mcp', 'tokens are validated, but the OAuth metadata is not served')
  }
  const location = where === undefined ? authorizationHeader('Bearer') : compileLocation(source, where, context)
  return {
    mode,
    location,
    verifier: verifierOf(source, context),
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

/** Verifiers by spec, so that a token is verified once even if its policy applies to several targets. */
const verifiers = new WeakMap<JwtAuthenticationSpec, CachedVerifier>()

function verifierOf(source: Source, context: CompileContext): TokenVerifier {
  const { spec } = source
  const before = verifiers.get(spec)
  const keySets = spec.providers.map(({ jwks: { inline, remote } }, i): AnyKeySet => {
    if (remote !== undefined) return context.remoteKeySet(source, remote) ?? NO_KEY_SET
    return before?.keySets[i] ?? readKeySet(inline!, context.importKey)
  })
  for (const [i, keySet] of keySets.entries()) reportProvider(source, i, keySet, context)
  // References may resolve to other objects although the policy was not edited.
  if (before?.keySets.every((keySet, i) => keySet === keySets[i]) === true) return before.verifier
  const providers = spec.providers.map(({ issuer, audiences }, i) => ({ issuer, audiences, keySet: keySets[i]! }))
  const verifier = new TokenVerifier(providers)
  verifiers.set(spec, { keySets, verifier })
  return verifier
}

function reportProvider(source: Source, index: number, keySet: AnyKeySet, context: CompileContext): void {
  const { jwks, issuer, audiences } = source.spec.providers[index]!
  const path = `.providers[${index}].jwks.${jwks.remote === undefined ? 'inline' : 'remote'}`
  if (audiences === undefined) {
    const message = `a token of ${issuer} for any other service is accepted, too; set the audiences of this gateway`
    context.report(source, `.providers[${index}]`, { severity: 'advice', code: 'audience-any', message })
  }
  for (const message of keySet.faults) {
    context.report(source, path, { severity: 'warning', code: 'key-set-fault', message })
  }
  const problem = keySet instanceof RemoteKeySet ? problemOfFetch(keySet, issuer) : problemOfKeys(keySet, issuer)
  // Control reports unresolved references.
  if (problem !== undefined && keySet !== NO_KEY_SET) context.report(source, path, problem)
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
