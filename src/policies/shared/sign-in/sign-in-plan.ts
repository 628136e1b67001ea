import type { JsonObject } from '#base/json.ts'
import type { AuthorizationServer } from './authorization-server.ts'

export type IdentityProvider = 'IdpOne' | 'IdpTwo' | 'IdpThree'

/** `jwtAuthentication.mcp`, prepared. */
export interface SignInPlan {
  readonly provider: IdentityProvider | undefined
  /** Answer of every registration; undefined: the identity provider registers clients. */
  readonly clientId: string | undefined
  /** For authorization servers that do not know the resource of a request (RFC 8707). */
  readonly audience: string | undefined
  /** Issuers that are addresses, in order. */
  readonly issuers: readonly string[]
  /** The first provider. */
  readonly server: AuthorizationServer
  /** `resourceMetadata` with the names of RFC 9728. */
  readonly metadata: JsonObject
  /** Origin of the configured resource; undefined: that of the request. */
  readonly resourceOrigin: string | undefined
  /** Scopes that clients are asked to request. */
  readonly scopes: readonly string[]
}

/**
 * Whether the gateway presents itself as the authorization server, because clients cannot use the metadata of the identity provider as it
 * is: the provider needs to be adapted, or registrations are answered here.
 */
export function standsIn({ provider, clientId }: Pick<SignInPlan, 'provider' | 'clientId'>): boolean {
  return provider !== undefined || clientId !== undefined
}
