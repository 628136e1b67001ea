import type { JsonObject } from '#base/json.ts'
import { registrationPath } from './endpoint.ts'
import type { ServerMetadata } from './server-metadata.ts'
import { type IdentityProvider, type SignInPlan, standsIn } from './sign-in-plan.ts'

/** Providers that issue tokens for an audience only if the client names it, in a parameter of their own. */
const NEEDS_AUDIENCE: ReadonlySet<IdentityProvider | undefined> = new Set(['IdpOne', 'IdpThree'] as const)
/** Providers whose registration does not permit other origins. */
const REGISTERS_HERE: ReadonlySet<IdentityProvider | undefined> = new Set(['IdpTwo', 'IdpThree'] as const)

/**
 * The metadata of the identity provider for clients of MCP (decision B76). If the gateway stands in for it, the issuer is the address that
 * the client asked for, because clients compare them (RFC 8414, 3.3).
 * @param path of the resource; empty: the address without one
 */
export function adaptServerMetadata(
  plan: SignInPlan,
  metadata: ServerMetadata,
  origin: string,
  path: string,
): JsonObject {
  if (!standsIn(plan)) return metadata
  const { provider, clientId, audience } = plan
  // The signed form would repeat the other issuer. The issuer in authorization responses is also that of the provider (RFC 9207).
  const { signed_metadata: _, authorization_response_iss_parameter_supported: __, ...members } = metadata
  const asks = NEEDS_AUDIENCE.has(provider) && audience !== undefined
  const registers = clientId !== undefined || (REGISTERS_HERE.has(provider) && 'registration_endpoint' in metadata)
  return {
    ...members,
    issuer: origin + path,
    ...(asks && { authorization_endpoint: withAudience(metadata.authorization_endpoint, audience) }),
    ...(registers && { registration_endpoint: origin + registrationPath(path) }),
  }
}

function withAudience(endpoint: string, audience: string): string {
  const separator = endpoint.includes('?') ? '&' : '?'
  return `${endpoint}${separator}audience=${encodeURIComponent(audience)}`
}
