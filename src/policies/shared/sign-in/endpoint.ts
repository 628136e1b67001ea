/** One of the addresses at which MCP clients learn how to sign in (decision B72). */
export interface SignInEndpoint {
  /** Metadata of the protected resource (RFC 9728), of the authorization server (RFC 8414), or registration of clients (RFC 7591). */
  readonly kind: 'resource' | 'server' | 'registration'
  /** Path of the resource: `/mcp`; empty for the address without one. */
  readonly path: string
}

export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'
const SERVER_METADATA = '/.well-known/oauth-authorization-server'
const REGISTRATION = '/client-registration'

/** @param path of a request, without query */
export function signInEndpoint(path: string): SignInEndpoint | undefined {
  const ofResource = afterPrefix(path, RESOURCE_METADATA)
  if (ofResource !== undefined) return { kind: 'resource', path: ofResource }
  const ofServer = afterPrefix(path, SERVER_METADATA)
  if (ofServer === undefined) return undefined
  if (!ofServer.endsWith(REGISTRATION)) return { kind: 'server', path: ofServer }
  return { kind: 'registration', path: ofServer.slice(0, -REGISTRATION.length) }
}

/** The path of the client registration for a resource. */
export function registrationPath(resource: string): string {
  return SERVER_METADATA + resource + REGISTRATION
}

/** A longer word is another path. */
function afterPrefix(path: string, prefix: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined
  const rest = path.slice(prefix.length)
  if (rest === '/') return ''
  return rest === '' || rest.startsWith('/') ? rest : undefined
}
