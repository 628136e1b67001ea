import { bearerChallenge } from './challenge.ts'
import type { Report } from './report.ts'
import { ask, explanationIn, isHttp, isObject, NoReply, type Reply } from './web.ts'

/** What the metadata says. */
export interface Discovered {
  /** The resource that a token is asked for. */
  readonly resource: string
  readonly scope: string | undefined
  readonly server: ServerMetadata
}

export interface ServerMetadata {
  readonly issuer: string
  readonly authorization: string
  readonly token: string
  readonly registration: string | undefined
  readonly namesItself: boolean
}

type Members = Readonly<Record<string, unknown>>

/** The request that a client begins with. */
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'gatewright-doctor', version: '1' },
  },
}

export const MCP_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Sends a request without a token. @returns the reply that asks for one; `open`: none is needed */
export async function probe(report: Report, url: URL): Promise<Reply | 'open' | undefined> {
  const reply = await ask(url, { method: 'POST', headers: MCP_HEADERS, body: JSON.stringify(INITIALIZE) })
  if (reply instanceof NoReply) return report.fail('probe', reply.why, reply.change)
  const { status, headers } = reply
  if (status === 401) {
    report.ok('probe', '401, as expected')
    return reply
  }
  if (status >= 200 && status <= 299) {
    report.note(
      'probe',
      `${status}: no token is needed`,
      'Clients never begin to sign in. If they should, set traffic.jwtAuthentication with mode Strict.',
    )
    return 'open'
  }
  if (status >= 300 && status <= 399) {
    const location = headers.get('location') ?? 'nowhere'
    return report.fail('probe', `${status}: redirected to ${location}`, 'Clients do not follow it: use that URL.')
  }
  return report.fail('probe', `${status}${explanationIn(reply)}`, PROBE_CHANGES[status] ?? 'See the log of the server.')
}

const PROBE_CHANGES: Readonly<Record<number, string>> = {
  400: 'The server does not accept an initialize request: check that the URL is that of MCP.',
  403: 'A policy refuses before it asks for a token: authorization, csrf, or the check of the host on loopback listeners.',
  404: 'No MCP server is at this path: check the path of the URL and the matches of the route.',
  405: 'Something else than an MCP server is at this path: check the path of the URL.',
  503: 'The MCP servers behind the gateway do not answer.',
}

/** Follows the metadata from the challenge to the authorization server. */
export async function discover(report: Report, url: URL, refused: Reply): Promise<Discovered | undefined> {
  const places = placesOfResource(report, url, refused)
  if (places === undefined) return undefined
  const resource = await readResource(report, url, places)
  if (resource === undefined) return undefined
  const server = await readServer(report, resource.server)
  if (server === undefined) return undefined
  const challenged = bearerChallenge(refused.headers.get('www-authenticate'))?.get('scope')
  return { resource: resource.resource, scope: challenged ?? resource.scope, server }
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

function placesOfResource(report: Report, url: URL, { headers }: Reply): readonly string[] | undefined {
  const parameters = bearerChallenge(headers.get('www-authenticate'))
  const usual = [...new Set([url.origin + WELL_KNOWN + url.pathname.replace(/\/$/, ''), url.origin + WELL_KNOWN])]
  const named = parameters?.get('resource_metadata')
  if (named === undefined) {
    const what = parameters === undefined ? 'the 401 has no Bearer challenge' : 'the challenge has no resource_metadata'
    report.note(
      'challenge',
      what,
      'Older clients give up here. Set traffic.jwtAuthentication.mcp, even if it is empty.',
    )
    return usual
  }
  if (URL.parse(named) === null) {
    return report.fail('challenge', `resource_metadata is not a URL: ${named}`, 'Correct resourceMetadata.resource.')
  }
  report.ok('challenge', `metadata at ${named}`)
  return [named]
}

interface FoundResource {
  readonly resource: string
  readonly server: string
  readonly scope: string | undefined
}

async function readResource(report: Report, url: URL, places: readonly string[]): Promise<FoundResource | undefined> {
  const found = await firstDocument(places)
  if ('why' in found) {
    const change =
      found.change ?? 'Set traffic.jwtAuthentication.mcp; a route or a proxy in front must not take this path.'
    return report.fail('resource', found.why, change)
  }
  const { members, place, reply } = found
  const { resource, authorization_servers: servers, scopes_supported: scopes } = members
  if (typeof resource !== 'string' || !covers(resource, url)) {
    return report.fail('resource', `it is for ${text(resource)}, not for ${url.href}`, changeOfResource(resource, url))
  }
  const server: unknown = Array.isArray(servers) ? servers[0] : undefined
  const address = typeof server === 'string' ? URL.parse(server) : null
  if (typeof server !== 'string' || address === null || !isHttp(address)) {
    const change = 'The issuer of a provider must be an https address; or set resourceMetadata.authorizationServers.'
    return report.fail('resource', 'it names no authorization server', change)
  }
  if (reply.headers.get('access-control-allow-origin') === null) {
    report.note(
      'resource',
      `${place} permits no other origins`,
      'Clients in browsers cannot read it: permit all origins.',
    )
  } else report.ok('resource', `${resource}, with authorization server ${server}`)
  const scope = Array.isArray(scopes) ? scopes.filter((each) => typeof each === 'string').join(' ') : ''
  return { resource, server, scope: scope || undefined }
}

/** Clients accept a resource that is the URL, or above it, at the same origin. */
function covers(resource: string, url: URL): boolean {
  const found = URL.parse(resource)
  if (found?.origin !== url.origin) return false
  const path = found.pathname.endsWith('/') ? found.pathname : `${found.pathname}/`
  return `${url.pathname}/`.startsWith(path)
}

function changeOfResource(resource: unknown, url: URL): string {
  const found = typeof resource === 'string' ? URL.parse(resource) : null
  if (found?.host === url.host && found.protocol !== url.protocol) {
    return 'The proxy that terminates TLS must set X-Forwarded-Proto; or set resourceMetadata.resource.'
  }
  return `Clients refuse metadata for another resource. Set resourceMetadata.resource to ${url.href}, or use the URL that it names.`
}

async function readServer(report: Report, server: string): Promise<ServerMetadata | undefined> {
  const found = await firstDocument(placesOfServer(new URL(server)))
  if ('why' in found) {
    const change =
      found.change ??
      'Check the issuer of the first provider. If the gateway answers 502, its log says what is wrong with the metadata of the provider.'
    return report.fail('server', found.why, change)
  }
  const { members, place } = found
  const { issuer, authorization_endpoint: authorization, token_endpoint: token } = members
  if (issuer !== server && !(typeof issuer === 'string' && withoutSlash(issuer) === withoutSlash(server))) {
    const change =
      'Clients refuse metadata of another issuer. Set the issuer of the provider exactly as its metadata says, or set provider, so that the gateway adapts it.'
    return report.fail('server', `${place}: its issuer is ${text(issuer)}, not ${server}`, change)
  }
  for (const [name, value] of Object.entries({ authorization_endpoint: authorization, token_endpoint: token })) {
    if (isUsable(value)) continue
    const change =
      'It must be an https address; http is for loopback addresses only. Correct it at the identity provider.'
    return report.fail('server', `${place}: its ${name} is ${text(value)}`, change)
  }
  report.ok('server', `${place}, with issuer ${issuer}`)
  if (!checkPkce(report, members)) return undefined
  const { registration_endpoint: registration, authorization_response_iss_parameter_supported: names } = members
  return {
    issuer: issuer as string,
    authorization: authorization as string,
    token: token as string,
    registration: typeof registration === 'string' ? registration : undefined,
    namesItself: names === true,
  }
}

/** Clients must refuse a server that does not announce it (MCP, Authorization, "Authorization Code Protection"). */
function checkPkce(report: Report, { code_challenge_methods_supported: methods }: Members): boolean {
  if (Array.isArray(methods) && methods.includes('S256')) {
    report.ok('pkce', 'S256')
    return true
  }
  const change = 'Clients refuse to sign in without it. Switch on PKCE with S256 at the identity provider.'
  report.fail('pkce', `code_challenge_methods_supported is ${text(methods)}`, change)
  return false
}

/** Where clients look, in their order (MCP, Authorization, "Authorization Server Metadata Discovery"). */
function placesOfServer({ origin, pathname }: URL): readonly string[] {
  const path = withoutSlash(pathname)
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  return [...new Set(places)]
}

interface FoundDocument {
  readonly place: string
  readonly members: Members
  readonly reply: Reply
}

/** The first document that exists; a server without one has 404 or another status of 4xx. */
async function firstDocument(
  places: readonly string[],
): Promise<FoundDocument | { readonly why: string; readonly change: string | undefined }> {
  let missing: string | undefined
  for (const place of places) {
    const reply = await ask(place, { headers: { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' } })
    if (reply instanceof NoReply) return reply
    const { status, json } = reply
    if (status === 200 && isObject(json)) return { place, members: json, reply }
    missing ??= `${place}: ${status === 200 ? 'it is not JSON' : `${status}${explanationIn(reply)}`}`
    if (status < 400 || status > 499) break
  }
  return { why: missing!, change: undefined }
}

/** Over plain HTTP only on this machine (OAuth 2.1, 1.5). */
function isUsable(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return (
    url?.protocol === 'https:' || (url?.protocol === 'http:' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname))
  )
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function text(value: unknown): string {
  return value === undefined ? 'absent' : typeof value === 'string' ? value : JSON.stringify(value)
}
