import type { CredentialLocation } from './credential-location.ts'

/**
 * The challenge of a refusal for a missing or invalid credential (decision A-53): 401 with `WWW-Authenticate`, or for a credential in
 * `Proxy-Authorization` 407 with `Proxy-Authenticate` (RFC 9110, 11.6 and 11.7).
 */
export function challengeFor(
  location: CredentialLocation,
  challenge: string,
): { readonly headers: readonly (readonly [string, string])[]; readonly status?: number } {
  if (location.kind === 'header' && location.name === 'proxy-authorization') {
    return { status: 407, headers: [['proxy-authenticate', challenge]] }
  }
  return { headers: [['www-authenticate', challenge]] }
}
