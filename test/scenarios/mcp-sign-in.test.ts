import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { OAuthClientProvider as OldProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { type IssuerBehaviour, type OAuthIssuer, startOAuthIssuer } from '#examples/upstreams/oauth-issuer.ts'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { Agent, toolsAfterSignIn } from '#test/support/mcp-agent.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const stops = new AsyncDisposableStack()
const issuers = {} as Record<string, OAuthIssuer>
let origin: string

interface Route {
  readonly issuer?: IssuerBehaviour
  readonly mcp?: object
  /** Further members of `traffic`. */
  readonly more?: object
  /** Host of the server of the keys; default: that of the issuer. */
  readonly keysHost?: string
}

const path = (text: string, registration: string) => ({ path: text, registration, publishes: 'openid' }) as const

/** Each route is `/<name>`, with an issuer of its own. */
const ROUTES: Readonly<Record<string, Route>> = {
  plain: { mcp: { resourceMetadata: { scopesSupported: ['read'] } } },
  one: { issuer: { audienceParameter: true, publishes: 'oauth' }, mcp: { provider: 'IdpOne' } },
  two: {
    issuer: path('/realms/tools', '/realms/tools/clients-registrations/openid-connect'),
    mcp: { provider: 'IdpTwo' },
  },
  three: {
    issuer: { ...path('/oauth2/default', '/oauth2/v1/clients'), audienceParameter: true },
    mcp: { provider: 'IdpThree' },
  },
  given: { issuer: { registration: false }, mcp: { clientId: 'known-client' } },
  // The keys are elsewhere, so the issuer itself is asked for its metadata.
  elsewhere: { issuer: { publishes: 'openid' }, mcp: { clientId: 'known-client' }, keysHost: 'localhost' },
  hostile: { mcp: { provider: 'IdpOne' } },
  steps: {
    mcp: { resourceMetadata: { scopesSupported: ['read', 'write', 'admin'] } },
    more: {
      authorization: { action: 'Require', policy: { matchExpressions: ['"write" in jwt.scope.split(" ")'] } },
    },
  },
}

function objectsOf(name: string, issuer: OAuthIssuer): string[] {
  const { mcp = {}, more, keysHost = '127.0.0.1' } = ROUTES[name]!
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: `${name}-id` }
  const jwks = { remote: { jwksPath: `${issuer.behaviour.path ?? ''}/keys`, backendRef } }
  const providers = [{ issuer: issuer.issuer, audiences: [`${origin}/${name}`], jwks }]
  return [
    backendYaml(`${name}-id`, issuer.port).replace('127.0.0.1', keysHost),
    routeYaml(name, `/${name}`, 'tools'),
    policyYaml(name, 'HTTPRoute', name, { traffic: { jwtAuthentication: { providers, mcp }, ...more } }),
  ]
}

/** The deprecated setting, at a backend of its own. */
function deprecatedObjects(issuer: OAuthIssuer, target: number): string[] {
  const jwks = { jwksPath: '/keys', backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'old-id' } }
  return [
    backendYaml('old-id', issuer.port),
    toolsYaml('old-tools', target),
    routeYaml('old', '/old', 'old-tools'),
    policyYaml('old', 'ProxyBackend', 'old-tools', {
      backend: { mcp: { authentication: { issuer: issuer.issuer, audiences: [`${origin}/old`], jwks } } },
    }),
  ]
}

function toolsYaml(name: string, target: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: { mcp: { targets: [{ name: weather, static: { host: 127.0.0.1, port: ${target} } }] } }
`
}

beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const weather = await startWeather({ port: 0 })
  stops.defer(() => weather.close())
  const target = Number(new URL(weather.url).port)
  const objects = [gatewayYaml(port), toolsYaml('tools', target)]
  for (const [name, { issuer }] of Object.entries(ROUTES)) {
    issuers[name] = stops.use(await startOAuthIssuer(issuer))
    objects.push(...objectsOf(name, issuers[name]))
  }
  issuers.old = stops.use(await startOAuthIssuer())
  objects.push(...deprecatedObjects(issuers.old, target))
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(...objects) })
  stops.defer(() => folder.remove())
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})
afterAll(() => stops.disposeAsync())

/** Signs in, then lists the tools. */
async function signIn(name: string, agent: Agent): Promise<readonly string[]> {
  return toolsAfterSignIn(new URL(`${origin}/${name}`), agent)
}

async function signInWithOldClient(name: string, agent: Agent): Promise<readonly string[]> {
  const url = new URL(`${origin}/${name}`)
  const provider = agent as unknown as OldProvider
  const first = new OldTransport(url, { authProvider: provider })
  await expect(new OldClient({ name: 'agent', version: '1' }).connect(first)).rejects.toThrow('Unauthorized')
  await first.finishAuth((await agent.approve()).get('code') ?? '')
  const client = new OldClient({ name: 'agent', version: '1' })
  await client.connect(new OldTransport(url, { authProvider: provider }))
  const { tools } = await client.listTools()
  await client.close()
  return tools.map((tool) => tool.name)
}

const FLOWS = ['plain', 'one', 'two', 'three', 'given', 'elsewhere', 'old']

test.each(FLOWS)('a client signs in from nothing but the address: %s', async (name) => {
  expect(await signIn(name, new Agent())).toContain('forecast')
})
test.each(FLOWS)('so does a client of the older generation: %s', async (name) => {
  expect(await signInWithOldClient(name, new Agent())).toContain('forecast')
})

test.each(FLOWS)('the doctor finds nothing wrong: %s', async (name) => {
  const token = await issuers[name]!.sign({ aud: `${origin}/${name}` })
  const { code, stdout } = await gatewright(['mcp', 'doctor', `${origin}/${name}`, '--token', token])
  expect([code, stdout]).toEqual([0, expect.not.stringMatching(/^(FAIL|note)/m)])
  expect(stdout).toMatch(/^ok +tools, with a session +2025-11-25, \d tools?$/m)
})

test('the doctor says what a token for another audience is compared with', async () => {
  const token = await issuers.plain!.sign({ aud: 'https://other.example' })
  const { code, stdout } = await gatewright(['mcp', 'doctor', `${origin}/plain`, '--token', token])
  expect(code).toBe(1)
  expect(stdout).toContain(
    `note  audience of the token                 issuer ${issuers.plain!.issuer}, audience https://other.example; the resource is ${origin}/plain`,
  )
  expect(stdout).toContain(
    'FAIL  tools, with a session                 initialize: 401: unauthorized, JWT token required',
  )
})

test('a client that lacks a scope asks for it, and for nothing more', async () => {
  const issuer = issuers.steps!
  const agent = new Agent()
  issuer.behaviour = { claims: { scope: 'read' } }
  await expect(signIn('steps', agent)).rejects.toThrow()
  const [first, second] = agent.visited
  expect(first?.searchParams.get('scope')).toBe('read write admin')
  expect(second).toBeDefined()
  const response = await post('steps', await issuer.sign({ aud: `${origin}/steps`, scope: 'read' }))
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    403,
    `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/steps", error="insufficient_scope", scope="read write"`,
  ])
  issuer.behaviour = {}
  const url = new URL(`${origin}/steps`)
  await new StreamableHTTPClientTransport(url, { authProvider: agent }).finishAuth(await agent.approve())
  const client = new Client({ name: 'agent', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: agent }))
  expect((await client.listTools()).tools).not.toEqual([])
  await client.close()
})

function post(name: string, token?: string): Promise<Response> {
  return fetch(`${origin}/${name}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  })
}

test.each(['plain', 'two', 'old'])('the key of the provider changes while a client signs in: %s', async (name) => {
  const agent = new Agent(async (url) => {
    const { headers } = await fetch(url, { redirect: 'manual' })
    await issuers[name]!.rotate()
    return new URL(headers.get('location')!).searchParams
  })
  expect(await signIn(name, agent)).toContain('forecast')
})

test('a session goes on with a token of a new key, and not with one of the former key', async () => {
  const { sign, rotate } = issuers.given!
  const aud = `${origin}/given`
  const send = (token: string, session: string | null, method: string, params: object = {}) =>
    fetch(aud, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(session !== null && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
  const before = await sign({ aud })
  const clientInfo = { name: 'test', version: '1' }
  const begun = await send(before, null, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  const session = begun.headers.get('mcp-session-id')
  await rotate()
  const after = await send(await sign({ aud }), session, 'tools/list')
  expect([after.status, await after.text()]).toEqual([200, expect.stringContaining('forecast')])
  const stranger = await send(await sign({ aud, sub: 'eve' }), session, 'tools/list')
  expect(stranger.status).toBe(404)
  const refused = await send(before, session, 'tools/list')
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('invalid_token'),
  ])
})

test('a request without a token is refused in the form that clients expect', async () => {
  const response = await post('plain')
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    401,
    'application/json',
    '{"error":"unauthorized","error_description":"JWT token required"}',
  ])
  expect(response.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/plain", scope="read"`,
  )
  expect(response.headers.has('gatewright-decision')).toBe(true)
})

test('a token of the right issuer for another audience is refused', async () => {
  const token = await issuers.plain!.sign({ aud: `${origin}/one` })
  const response = await post('plain', token)
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/plain", error="invalid_token", scope="read"`,
  ])
})

test('HEAD and preflights of the endpoints', async () => {
  const url = `${origin}/.well-known/oauth-protected-resource/plain`
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const headers = { origin: 'https://inspector.example', 'access-control-request-method': 'GET' }
  const preflight = await fetch(url, { method: 'OPTIONS', headers })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
})

test('redirects of a provider are not followed', async () => {
  const other = issuers.given!
  const before = other.requests.length
  issuers.hostile!.behaviour = {
    answerMetadata: (response) => response.writeHead(302, { location: `${other.issuer}/x` }).end(),
  }
  const response = await fetch(`${origin}/.well-known/oauth-authorization-server/hostile`)
  expect([response.status, await response.json()]).toEqual([
    502,
    { error: 'temporarily_unavailable', error_description: 'the authorization server is not available' },
  ])
  expect(other.requests).toHaveLength(before)
})
