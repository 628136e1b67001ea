import type { SetupResult } from './set-up.ts'

/** The object whose requests need a token. */
export interface ReadyTarget {
  readonly kind: string
  readonly name: string
}

/**
 * A ProxyBackend for the provider and a ProxyPolicy that requires its tokens, as YAML.
 * @param host host and port of the provider, as the gateway reaches it
 */
export function readyObjects(
  { issuer, jwksPath, audiences }: SetupResult,
  { kind, name }: ReadyTarget,
  { hostname, port, protocol }: URL,
): string {
  const isTls = protocol === 'https:'
  return `apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata:
  name: identity-provider
spec:
  static:
    host: ${JSON.stringify(hostname.replace(/^\[|\]$/g, ''))}
    port: ${port === '' ? (isTls ? 443 : 80) : port}
${isTls ? '  policies:\n    tls: {}\n' : ''}---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata:
  name: tokens
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: ${kind}
      name: ${name}
  traffic:
    jwtAuthentication:
      mode: Strict
      providers:
        - issuer: ${JSON.stringify(issuer)}
${audiences.length === 0 ? '' : `          audiences: ${JSON.stringify(audiences)}\n`}          jwks:
            remote:
              jwksPath: ${JSON.stringify(jwksPath)}
              backendRef:
                group: gatewright.dev
                kind: ProxyBackend
                name: identity-provider
`
}

/** Commands that get a token of a user, or of the client if no password is known, and that use it. */
export function tokenCommands({ issuer, client, users: [user] }: SetupResult, target: string): readonly string[] {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const fields = [
    `client_id=${client.clientId}`,
    `client_secret=${client.secret}`,
    ...(user === undefined
      ? ['grant_type=client_credentials']
      : ['grant_type=password', `username=${user.username}`, `password=${user.password}`]),
  ]
  const data = fields.map((field) => `--data-urlencode ${quote(field)}`).join(' ')
  const token = `curl -s ${quote(`${issuer}/protocol/openid-connect/token`)} ${data}`
  return [
    `TOKEN=$(${token} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `curl -H "Authorization: Bearer $TOKEN" ${target}`,
  ]
}
