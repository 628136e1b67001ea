import { readyObjects } from '#idp/setup/ready-objects.ts'
import type { SetupResult } from '#idp/setup/set-up.ts'
import { freePort } from './free-port.ts'
import { gatewayYaml, joinYaml, routeYaml } from './objects-folder.ts'
import { policyYaml } from './policy-yaml.ts'

/** Objects of a gateway that requires the tokens of an identity provider: the printed ones, and a route `example` that says "in". */
export async function protectedObjects(
  result: SetupResult,
  url: URL,
): Promise<{ readonly port: number; readonly files: Readonly<Record<string, string>> }> {
  const port = await freePort()
  const route = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: example }
spec:
  parentRefs: [{ name: main }]
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: answer }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: example }]
  traffic: { directResponse: { status: 200, body: in } }
`
  const tokens = readyObjects(result, { kind: 'HTTPRoute', name: 'example' }, url)
  return { port, files: { 'gateway.yaml': gatewayYaml(port), 'route.yaml': route, 'tokens.yaml': tokens } }
}

/**
 * Routes for clients of MCP that sign in at the provider, which the objects above name: for those of `/mcp` it is the authorization server, for
 * those of `/mcp-two` the gateway stands in for it.
 * @param target port of an MCP server
 */
export function mcpObjects({ issuer, jwksPath }: SetupResult, target: number): string {
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'identity-provider' }
  const providers = [{ issuer, jwks: { remote: { jwksPath, backendRef } } }]
  const routes = { mcp: {}, 'mcp-two': { provider: 'IdpTwo' } }
  const tools = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec: { mcp: { targets: [{ name: weather, static: { host: 127.0.0.1, port: ${target} } }] } }
`
  const protectedRoutes = Object.entries(routes).flatMap(([name, mcp]) => [
    routeYaml(name, `/${name}`, 'tools'),
    policyYaml(name, 'HTTPRoute', name, { traffic: { jwtAuthentication: { providers, mcp } } }),
  ])
  return joinYaml(tools, ...protectedRoutes)
}

/** What a user with a token gets: the status, and the body if it is 200. */
export async function askWith(port: number, token: string | undefined): Promise<string> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers })
  const text = await response.text()
  return response.status === 200 ? text : String(response.status)
}
