import type { JsonObject } from '#base/json.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { RemoteJwksSpec } from '../authentication/jwks.ts'
import { AuthorizationServer } from './authorization-server.ts'
import { issuerUrl } from './issuer-url.ts'
import { resourceMetadata } from './protected-resource.ts'
import { SignIn } from './sign-in.ts'
import type { IdentityProvider } from './sign-in-plan.ts'

/** Settings of a sign-in, with their place in the source. */
export interface SignInSettings {
  readonly provider?: IdentityProvider | undefined
  readonly clientId?: string | undefined
  /** JSON values. */
  readonly resourceMetadata?: Readonly<Record<string, unknown>> | undefined
  /** Of the providers, in order; undefined: any. */
  readonly issuers: readonly (string | undefined)[]
  /** The first one of the first provider. */
  readonly audience: string | undefined
  /** Where the first provider has its keys, if they are fetched. */
  readonly jwks: RemoteJwksSpec | undefined
  /** The object of the settings: what was fetched is kept as long as it is the same. */
  readonly key: object
  /** Of the settings, and of the part of the policy that is the server of the first issuer, both relative to the source. */
  readonly path: string
  readonly ownPath: string
}

type Source = PolicySource<unknown>

export function compileSignIn(source: Source, settings: SignInSettings, context: CompileContext): SignIn {
  const { provider, clientId, audience, issuers } = settings
  const metadata = resourceMetadata(settings.resourceMetadata)
  const report = (path: string, message: string) =>
    context.report(source, settings.path + path, { severity: 'warning', code: 'sign-in-incomplete', message })
  for (const issuer of issuers) {
    if (issuerUrl(issuer) !== undefined) continue
    const what = issuer === undefined ? 'without an issuer' : `issuer ${issuer} is not an http or https address:`
    report('', `${what} clients cannot find the authorization server`)
  }
  if (provider !== undefined && issuers.length > 1) {
    report('.provider', 'clients are sent to the first provider only; tokens of all providers are accepted')
  }
  return new SignIn({
    provider,
    clientId,
    audience,
    issuers: issuers.filter((issuer) => issuer !== undefined && issuerUrl(issuer) !== undefined) as string[],
    server: serverOf(source, settings, context),
    metadata,
    resourceOrigin: originOf(metadata, report),
    scopes: scopesOf(metadata, report),
  })
}

/** Servers by `SignInSettings.key`. */
const servers = new WeakMap<object, AuthorizationServer>()

function serverOf(source: Source, settings: SignInSettings, context: CompileContext): AuthorizationServer {
  const { key, issuers, provider } = settings
  const [issuer] = issuers
  const url = issuerUrl(issuer)
  const destination = url && destinationOf(url, source, settings, context)
  const before = servers.get(key)
  // References may resolve to other objects although the policy was not edited.
  if (before !== undefined && before.address?.destination === destination) return before
  const usesDiscovery = provider === 'IdpTwo' || provider === 'IdpThree'
  const server = new AuthorizationServer(
    destination === undefined ? undefined : { destination, issuer: issuer!, url: url!, usesDiscovery },
  )
  servers.set(key, server)
  return server
}

/** The server of the keys, if it is also that of the issuer: then its TLS settings apply. A Service is trusted to be. */
function destinationOf(url: URL, source: Source, { jwks, ownPath }: SignInSettings, context: CompileContext): string {
  if (jwks === undefined) return context.ownBackend(source, ownPath)
  const ofKeys = context.calledBackend(source, jwks.backendRef)
  const isOfIssuer = (key: string) => jwks.backendRef.kind === 'Service' || context.staticHost(key) === url.hostname
  return ofKeys !== undefined && isOfIssuer(ofKeys) ? ofKeys : context.ownBackend(source, ownPath)
}

type Report = (path: string, message: string) => void

function originOf({ resource }: JsonObject, report: Report): string | undefined {
  if (resource === undefined) return undefined
  const url = typeof resource === 'string' ? URL.parse(resource) : null
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.origin
  report('.resourceMetadata', 'resource is not an http or https address: clients will refuse the metadata')
  return undefined
}

/** A scope can stand in a challenge (RFC 6749, 3.3). */
const SCOPE = /^[!#-[\]-~]+$/

function scopesOf({ scopes_supported: listed = [] }: JsonObject, report: Report): readonly string[] {
  const all = Array.isArray(listed) ? listed : [undefined]
  const scopes = all.filter((scope) => typeof scope === 'string' && SCOPE.test(scope))
  if (scopes.length < all.length) {
    report('.resourceMetadata', 'scopesSupported is not a list of scopes; invalid entries are omitted from challenges')
  }
  return scopes
}
