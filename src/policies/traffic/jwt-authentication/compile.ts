import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { challengeFor } from '../../shared/challenge.ts'
import {
  authorizationHeader,
  type CredentialLocation,
  compileLocation,
  fieldsAt,
} from '../../shared/credential-location.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import { type KeySet, readKeySet } from './read-key-set.ts'
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
    fields: fieldsAt(location),
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
    invalid: refusalsAt(location),
  }
}

function refusalsAt(location: CredentialLocation): Record<TokenFailure, Refusal> {
  const challenge = challengeFor(location, 'Bearer error="invalid_token"')
  const refusals = Object.entries(TOKEN_FAILURES).map(([failure, detail]) => [
    failure,
    reject('jwt-invalid', { ...challenge, detail }),
  ])
  return Object.fromEntries(refusals) as Record<TokenFailure, Refusal>
}

/** Everywhere that one policy reaches, a token is verified once. */
const verifiers = new WeakMap<JwtAuthenticationSpec, { readonly verifier: TokenVerifier; readonly keySets: KeySet[] }>()

function verifierOf(source: Source, context: CompileContext): TokenVerifier {
  const { spec } = source
  let made = verifiers.get(spec)
  if (made === undefined) {
    const keySets = spec.providers.map(({ jwks }) => readKeySet(jwks.inline ?? NO_KEYS, context.importKey))
    const providers = spec.providers.map(({ issuer, audiences }, i) => ({ issuer, audiences, keys: keySets[i]!.keys }))
    made = { keySets, verifier: new TokenVerifier(providers) }
    verifiers.set(spec, made)
  }
  const { keySets } = made
  for (const [i, keySet] of keySets.entries()) reportProvider(source, i, keySet, context)
  return made.verifier
}

const NO_KEYS = '{"keys":[]}'

function reportProvider(source: Source, index: number, { keys, faults }: KeySet, context: CompileContext): void {
  const { jwks, issuer } = source.spec.providers[index]!
  const path = `.providers[${index}].jwks`
  if (jwks.remote !== undefined) {
    return reportNotImplemented(context, source, `${path}.remote`, `tokens of ${issuer} are refused`)
  }
  for (const message of faults) {
    context.report(source, `${path}.inline`, { severity: 'warning', code: 'key-set-fault', message })
  }
  if (keys.size > 0) return
  const message = `the key set has no usable key: tokens of ${issuer} are refused`
  context.report(source, `${path}.inline`, { severity: 'error', code: 'key-set-unusable', message })
}
