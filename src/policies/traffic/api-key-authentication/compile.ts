import { compareText } from '#base/compare-text.ts'
import { describeOrigin } from '#base/origin.ts'
import { digestKey } from '#base/sha256.ts'
import { reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun, SecretMaterial } from '../../policy.ts'
import { challengeFor } from '../../shared/authentication/challenge.ts'
import {
  authorizationHeader,
  type CredentialLocation,
  compileLocation,
  usesOf,
} from '../../shared/authentication/credential-location.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { parseEntry } from './parse-entry.ts'
import { type ApiKeyPlan, type KeyHolder, runApiKey } from './run.ts'
import type { ApiKeyAuthenticationSpec } from './schema.ts'

type Source = PolicySource<ApiKeyAuthenticationSpec>

/** Invalid entries are reported, and the others still work. Without any key all keys are unknown (decision A-36). */
export function compileApiKey(sources: readonly Source[], context: CompileContext): RequestRun {
  const source = sources[0]!
  const plan = planApiKey(source, context)
  const { location } = plan
  return {
    request: (exchange) => runApiKey(plan, exchange),
    readsRequestBody: location.kind === 'expression' && readsRequestBody([location.expression]),
    ...usesOf(location),
  }
}

function planApiKey(source: Source, context: CompileContext): ApiKeyPlan {
  const { mode, location: where } = source.spec
  const location = where === undefined ? authorizationHeader('Bearer') : compileLocation(source, where, context)
  const challenge = challengeFor(location, isBearer(location) ? 'Bearer' : 'ApiKey')
  const holders = collectHolders(source, context)
  const none =
    holders.size === 0 ? { detail: `${source.path} of ${describeOrigin(source.origin)} has no usable key` } : {}
  return {
    mode,
    location,
    holders,
    presented: new Map(),
    missing: reject('api-key-missing', challenge),
    unknown: reject('api-key-unknown', { ...challenge, ...none }),
  }
}

/** In other headers than `Authorization` and `Proxy-Authorization`, `Bearer` is not an authentication scheme of HTTP. */
function isBearer(location: CredentialLocation): boolean {
  return location.kind === 'header' && /^(?:proxy-)?authorization$/.test(location.name) && location.prefix === 'bearer'
}

function collectHolders(source: Source, context: CompileContext): ReadonlyMap<string, KeyHolder> {
  const holders = new Map<string, KeyHolder>()
  const path = source.spec.secretRef === undefined ? '.secretSelector' : '.secretRef'
  for (const secret of secretsOf(source, context)) {
    for (const [name, value] of Object.entries(secret.data).sort(([a], [b]) => compareText(a, b))) {
      const entry = parseEntry(value)
      const label = `Secret ${secret.name}, entry ${name}`
      if (typeof entry === 'string') {
        context.report(source, path, {
          severity: 'error',
          code: 'api-key-entry-invalid',
          message: `${label}: ${entry}`,
        })
        continue
      }
      const digest = digestKey(entry.key)
      const earlier = holders.get(digest)
      if (earlier === undefined) {
        const identity = `${source.origin.namespace}/${secret.name}/${name}`
        holders.set(digest, { entry: identity, metadata: entry.metadata })
      } else {
        const message = `${label}: duplicate of the key in entry ${earlier.entry}; this entry is ignored`
        context.report(source, path, { severity: 'warning', code: 'api-key-duplicate', message })
      }
    }
  }
  return holders
}

function secretsOf(source: Source, context: CompileContext): readonly SecretMaterial[] {
  const { secretRef, secretSelector } = source.spec
  if (secretRef !== undefined) {
    const secret = context.secret(source, secretRef.name)
    if (secret !== undefined) return [secret]
    const message = `Secret ${secretRef.name} does not exist; no key is known`
    context.report(source, '.secretRef', { severity: 'error', code: 'secret-missing', message })
    return []
  }
  const selected = context.secretsWithLabels(source, secretSelector!.matchLabels)
  if (selected.length === 0) {
    const message = 'no Secret has these labels; no key is known'
    context.report(source, '.secretSelector', { severity: 'error', code: 'secret-missing', message })
  }
  return selected
}
