import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type IssuerBehaviour, type OAuthIssuer, startOAuthIssuer } from '#examples/upstreams/oauth-issuer.ts'
import { openBrowser } from '#test/support/agreeing-browser.ts'
import { type CommandResult, gatewright } from '#test/support/command-line.ts'

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** How a protected MCP server departs from what clients need. Addresses have `ORIGIN` and `ISSUER` for those of server and issuer. */
interface Faults {
  readonly probe?: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  readonly challenge?: string
  readonly metadata?: Readonly<Record<string, unknown>> | string
  readonly withoutCors?: true
  /** What requests with a token get. */
  readonly answer?: (method: string, headers: IncomingMessage['headers']) => Answer | undefined
}

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

async function startServer(faults: Faults, issuer: OAuthIssuer): Promise<string> {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => close(server))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const placed = (text: string) => text.replaceAll('ORIGIN', origin).replaceAll('ISSUER', issuer.issuer)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    if (request.url === '/.well-known/oauth-protected-resource/mcp') return metadata(response)
    if (request.url !== '/mcp') return void response.writeHead(404).end()
    if (request.headers.authorization === undefined) return refuse(response)
    const { id, method = '' } = JSON.parse(body || '{}') as { id?: number; method?: string }
    const found = faults.answer?.(method, request.headers) ?? usual(method, request.headers)
    const headers = { 'content-type': 'application/json', ...found.headers }
    response.writeHead(found.status, headers).end(JSON.stringify({ jsonrpc: '2.0', id, ...found.body }))
  }

  function metadata(response: ServerResponse): void {
    const cors = faults.withoutCors ? {} : { 'access-control-allow-origin': '*' }
    const usual = { resource: 'ORIGIN/mcp', authorization_servers: ['ISSUER'], scopes_supported: ['read'] }
    const text =
      typeof faults.metadata === 'string' ? faults.metadata : JSON.stringify({ ...usual, ...faults.metadata })
    response.writeHead(200, { 'content-type': 'application/json', ...cors }).end(placed(text))
  }

  function refuse(response: ServerResponse): void {
    const { status, headers = {}, body = '' } = faults.probe ?? { status: 401 }
    const usual = 'Bearer resource_metadata="ORIGIN/.well-known/oauth-protected-resource/mcp"'
    const challenge = status === 401 ? placed(faults.challenge ?? usual) : ''
    response.writeHead(status, { ...(challenge !== '' && { 'www-authenticate': challenge }), ...headers }).end(body)
  }

  return `${origin}/mcp`
}

/** A server of revision 2025-11-25. */
function usual(method: string, { 'mcp-protocol-version': version }: IncomingMessage['headers']): Answer {
  if (version === '2026-07-28') return { status: 400, body: { error: { code: -32_022, message: 'unsupported' } } }
  if (method === 'initialize') return { status: 200, body: { result: { protocolVersion: '2025-11-25' } } }
  return { status: 200, body: { result: { tools: [{ name: 'a' }] } } }
}

function close(server: Server): Promise<unknown> {
  server.closeAllConnections()
  return new Promise((done) => server.close(done))
}

interface Examined extends CommandResult {
  /** Without the ports, which differ. */
  readonly lines: readonly string[]
}

/** Runs the doctor; a browser whose user agrees follows the address that it prints. */
async function examine(
  faults: Faults = {},
  behaviour: IssuerBehaviour = {},
  flags: readonly string[] = [],
): Promise<Examined> {
  const issuer = await startOAuthIssuer(behaviour)
  stops.push(async () => issuer[Symbol.asyncDispose]())
  const url = await startServer(faults, issuer)
  return run(url, issuer, flags)
}

async function run(url: string, issuer: OAuthIssuer, flags: readonly string[]): Promise<Examined> {
  using _ = openBrowser(issuer)
  const result = await gatewright(['mcp', 'doctor', url, '--timeout', '5', ...flags])
  const places = (text: string) =>
    text
      .replaceAll(new URL(url).origin, 'SERVER')
      .replaceAll(`http://127.0.0.1:${issuer.port}`, 'ISSUER')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+\/callback/g, 'CALLBACK')
      .replaceAll(/client [0-9a-f-]{36}/g, 'client ID')
  const lines = places(result.stdout).trimEnd().split('\n')
  return { ...result, lines: lines.filter((line) => !/^$|Open this|^ {2}ISSUER/.test(line)) }
}

test('a sign-in that works', async () => {
  const { code, lines, stdout } = await examine()
  expect(lines).toEqual([
    'ok    request without a token               401, as expected',
    'ok    challenge                             metadata at SERVER/.well-known/oauth-protected-resource/mcp',
    'ok    metadata of the resource              SERVER/mcp, with authorization server ISSUER',
    'ok    metadata of the authorization server  ISSUER/.well-known/oauth-authorization-server, with issuer ISSUER',
    'ok    PKCE                                  S256',
    'ok    registration of the client            client ID',
    'ok    sign-in in the browser                CALLBACK, with a code',
    'ok    token                                 Bearer',
    'ok    audience of the token                 issuer ISSUER, audience SERVER/mcp',
    'ok    tools, with a session                 2025-11-25, 1 tool',
    '-     tools, without a session              not offered: tools/list: 400: unsupported',
  ])
  expect(code).toBe(0)
  expect(stdout).toMatch(/Open this address in a browser, and sign in:\n\n {2}http:\S+code_challenge=\S+scope=read/)
})

/** Of the step that fails (or has a note): what was found, and what to change. */
const FAULTS: Readonly<
  Record<string, readonly [Faults, IssuerBehaviour, readonly string[], flags?: readonly string[]]>
> = {
  'no MCP server at the path': [
    { probe: { status: 404 } },
    {},
    [
      'FAIL  request without a token               404',
      '      No MCP server is at this path: check the path of the URL and the matches of the route.',
    ],
  ],
  'a redirect': [
    { probe: { status: 307, headers: { location: 'https://elsewhere.example/mcp' } } },
    {},
    [
      'FAIL  request without a token               307: redirected to https://elsewhere.example/mcp',
      '      Clients do not follow it: use that URL.',
    ],
  ],
  'a refusal before the challenge': [
    { probe: { status: 403, body: '{"error":"host"}' } },
    {},
    [
      'FAIL  request without a token               403: host',
      '      A policy refuses before it asks for a token: authorization, csrf, or the check of the host on loopback listeners.',
    ],
  ],
  'an error of the server': [
    { probe: { status: 500 } },
    {},
    ['FAIL  request without a token               500', '      See the log of the server.'],
  ],
  'no challenge': [
    { challenge: '' },
    {},
    [
      'note  challenge                             the 401 has no Bearer challenge',
      '      Older clients give up here. Set traffic.jwtAuthentication.mcp, even if it is empty.',
    ],
  ],
  'a challenge without metadata': [
    { challenge: 'Basic realm="x", Bearer error="invalid_token"' },
    {},
    [
      'note  challenge                             the challenge has no resource_metadata',
      '      Older clients give up here. Set traffic.jwtAuthentication.mcp, even if it is empty.',
    ],
  ],
  'metadata that is no URL': [
    { challenge: 'Bearer resource_metadata="mcp"' },
    {},
    [
      'FAIL  challenge                             resource_metadata is not a URL: mcp',
      '      Correct resourceMetadata.resource.',
    ],
  ],
  'metadata that is absent': [
    { challenge: 'Bearer resource_metadata="ORIGIN/absent"' },
    {},
    [
      'FAIL  metadata of the resource              SERVER/absent: 404',
      '      Set traffic.jwtAuthentication.mcp; a route or a proxy in front must not take this path.',
    ],
  ],
  'metadata that is a page': [
    { metadata: '<html>' },
    {},
    [
      'FAIL  metadata of the resource              SERVER/.well-known/oauth-protected-resource/mcp: it is not JSON',
      '      Set traffic.jwtAuthentication.mcp; a route or a proxy in front must not take this path.',
    ],
  ],
  'metadata of another resource': [
    { metadata: { resource: 'https://tools.example/mcp' } },
    {},
    [
      'FAIL  metadata of the resource              it is for https://tools.example/mcp, not for SERVER/mcp',
      '      Clients refuse metadata for another resource. Set resourceMetadata.resource to SERVER/mcp, or use the URL that it names.',
    ],
  ],
  'metadata of no resource': [
    { metadata: { resource: 'mcp' } },
    {},
    [
      'FAIL  metadata of the resource              it is for mcp, not for SERVER/mcp',
      '      Clients refuse metadata for another resource. Set resourceMetadata.resource to SERVER/mcp, or use the URL that it names.',
    ],
  ],
  'metadata of a path beside': [
    { metadata: { resource: 'ORIGIN/mcp2' } },
    {},
    [
      'FAIL  metadata of the resource              it is for SERVER/mcp2, not for SERVER/mcp',
      '      Clients refuse metadata for another resource. Set resourceMetadata.resource to SERVER/mcp, or use the URL that it names.',
    ],
  ],
  'no authorization server': [
    { metadata: { authorization_servers: [] } },
    {},
    [
      'FAIL  metadata of the resource              it names no authorization server',
      '      The issuer of a provider must be an https address; or set resourceMetadata.authorizationServers.',
    ],
  ],
  'no permission for browsers': [
    { withoutCors: true },
    {},
    [
      'note  metadata of the resource              SERVER/.well-known/oauth-protected-resource/mcp permits no other origins',
      '      Clients in browsers cannot read it: permit all origins.',
    ],
  ],
  'no metadata of the authorization server': [
    { metadata: { authorization_servers: ['ISSUER/absent'] } },
    {},
    [
      'FAIL  metadata of the authorization server  ISSUER/.well-known/oauth-authorization-server/absent: 404: not_found',
      '      Check the issuer of the first provider. If the gateway answers 502, its log says what is wrong with the metadata of the provider.',
    ],
  ],
  'another issuer': [
    {},
    { metadata: { issuer: 'https://id.example' } },
    [
      'FAIL  metadata of the authorization server  ISSUER/.well-known/oauth-authorization-server: its issuer is https://id.example, not ISSUER',
      '      Clients refuse metadata of another issuer. Set the issuer of the provider exactly as its metadata says, or set provider, so that the gateway adapts it.',
    ],
  ],
  'an endpoint without TLS': [
    {},
    { metadata: { token_endpoint: 'http://id.example/token' } },
    [
      'FAIL  metadata of the authorization server  ISSUER/.well-known/oauth-authorization-server: its token_endpoint is http://id.example/token',
      '      It must be an https address; http is for loopback addresses only. Correct it at the identity provider.',
    ],
  ],
  'no PKCE': [
    {},
    { metadata: { code_challenge_methods_supported: ['plain'] } },
    [
      'FAIL  PKCE                                  code_challenge_methods_supported is ["plain"]',
      '      Clients refuse to sign in without it. Switch on PKCE with S256 at the identity provider.',
    ],
  ],
  'no registration': [
    {},
    { registration: false },
    [
      'FAIL  registration of the client            the authorization server registers no clients',
      '      Set clientId, so that the gateway answers registrations with the id of a client that you have registered; or use --client-id.',
    ],
  ],
  'a registration that is refused': [
    {},
    { refuseRegistration: true },
    [
      'FAIL  registration of the client            ISSUER/register: 403: access_denied',
      '      Permit anonymous registration at the identity provider, or set clientId.',
    ],
  ],
  'a registration without the redirect': [
    {},
    { registered: { redirect_uris: ['https://elsewhere.example'] } },
    [
      'FAIL  registration of the client            the client is registered without the redirect CALLBACK',
      '      Permit redirects to loopback addresses with any port (RFC 8252, 7.3) at the identity provider.',
    ],
  ],
  'a redirect that the provider does not know': [
    {},
    { metadata: { authorization_endpoint: 'ISSUER/nothing' } },
    [
      'FAIL  sign-in in the browser                the identity provider refuses the request: 404: not_found',
      '      Usually the redirect CALLBACK or the client is not known there: permit redirects to loopback addresses with any port.',
    ],
  ],
  'a user who is refused': [
    {},
    { refuseAuthorization: 'invalid_scope' },
    [
      'FAIL  sign-in in the browser                the identity provider refused: invalid_scope',
      '      Define the scopes of scopesSupported at the identity provider, or use --scope.',
    ],
  ],
  'an issuer that the metadata does not name': [
    {},
    { namesItself: true, issuerInResponse: 'https://id.example' },
    [
      'FAIL  sign-in in the browser                the redirect is of issuer https://id.example, not ISSUER',
      '      Newer clients refuse it (RFC 9207). Switch off iss in authorization responses at the identity provider, or leave provider unset.',
    ],
  ],
  'a code that is refused': [
    {},
    { refuseToken: 'invalid_grant' },
    [
      'FAIL  token                                 ISSUER/token: 400: invalid_grant',
      '      The client must be a public client with PKCE at the identity provider (or one with a secret for client credentials), and may ask for the resource.',
    ],
  ],
  'a token for something else': [
    {},
    { claims: { aud: 'https://other.example' } },
    [
      'note  audience of the token                 issuer ISSUER, audience https://other.example; the resource is SERVER/mcp',
      '      The audiences of the provider in jwtAuthentication must have one that the token has, and no other service may accept it. Let the identity provider issue tokens for the resource.',
    ],
  ],
  'a token that is refused': [
    { answer: () => ({ status: 401 }) },
    { claims: { aud: 'https://other.example' } },
    [
      'note  audience of the token                 issuer ISSUER, audience https://other.example; the resource is SERVER/mcp',
      '      The audiences of the provider in jwtAuthentication must have one that the token has, and no other service may accept it. Let the identity provider issue tokens for the resource.',
      'FAIL  tools, with a session                 initialize: 401',
      '      Compare the issuer of the token ("ISSUER") and its audience ("https://other.example") with issuer and audiences in jwtAuthentication, and the key set with that of the issuer. The decision record of the gateway says which of them it is.',
      'FAIL  tools, without a session              tools/list: 401',
      '      Compare the issuer of the token ("ISSUER") and its audience ("https://other.example") with issuer and audiences in jwtAuthentication, and the key set with that of the issuer. The decision record of the gateway says which of them it is.',
    ],
  ],
  'a server whose text has line breaks': [
    { probe: { status: 403, body: JSON.stringify({ error: 'x\nok    token   Bearer' }) } },
    {},
    [
      String.raw`FAIL  request without a token               403: x\u000aok    token   Bearer`,
      '      A policy refuses before it asks for a token: authorization, csrf, or the check of the host on loopback listeners.',
    ],
  ],
  'metadata at an address of another kind': [
    { challenge: 'Bearer resource_metadata="file:///etc/passwd"' },
    {},
    [
      'FAIL  metadata of the resource              file:///etc/passwd is no http or https address',
      '      Correct the address where it is announced.',
    ],
  ],
  'an authorization server that is no address': [
    { metadata: { authorization_servers: ['urn:example:issuer'] } },
    {},
    [
      'FAIL  metadata of the resource              it names no authorization server',
      '      The issuer of a provider must be an https address; or set resourceMetadata.authorizationServers.',
    ],
  ],
  'a registration at no address': [
    {},
    { metadata: { registration_endpoint: '/register' } },
    [
      'FAIL  registration of the client            /register is no http or https address',
      '      Correct the address where it is announced.',
    ],
  ],
  'a token that expired at no time': [
    {},
    {},
    ['FAIL  audience of the token                 the token expired at -1e+300', '      Get a new token.'],
    ['--token', `e30.${Buffer.from('{"exp":-1e300}').toString('base64url')}.x`],
  ],
  'a token of the future': [
    {},
    { claims: { nbf: 4_102_444_800 } },
    [
      'FAIL  audience of the token                 the token is not valid before 2100-01-01T00:00:00.000Z',
      '      The clocks of the identity provider and of this machine must agree, and nbf is in seconds.',
    ],
  ],
  'a token that is no JSON Web Token': [
    { answer: () => ({ status: 401 }) },
    {},
    [
      'FAIL  audience of the token                 the token is not a JSON Web Token',
      '      The gateway verifies tokens itself. Some providers issue opaque tokens unless the client requests an audience: set audiences and provider.',
      'FAIL  tools, with a session                 initialize: 401',
      '      The server accepts no such token: the gateway verifies JSON Web Tokens.',
      'FAIL  tools, without a session              tools/list: 401',
      '      The server accepts no such token: the gateway verifies JSON Web Tokens.',
    ],
    ['--token', 'opaque-token'],
  ],
  'an API key where the server offers no sign-in': [{ challenge: 'Bearer' }, {}, [], ['--token', 'key-of-ann']],
  'a scope that lacks': [
    {
      answer: () => ({
        status: 403,
        headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="read write"' },
      }),
    },
    {},
    [
      'FAIL  tools, with a session                 initialize: 403',
      "      The token needs more scopes: use --scope 'read write'.",
      'FAIL  tools, without a session              tools/list: 403',
      "      The token needs more scopes: use --scope 'read write'.",
    ],
  ],
  'rules that refuse': [
    { answer: () => ({ status: 403 }) },
    {},
    [
      'FAIL  tools, with a session                 initialize: 403',
      '      Rules of authorization refuse it, whatever the scopes of the token: see the decision record of the gateway.',
      'FAIL  tools, without a session              tools/list: 403',
      '      Rules of authorization refuse it, whatever the scopes of the token: see the decision record of the gateway.',
    ],
  ],
  'targets that do not answer': [
    { answer: () => ({ status: 503, body: { error: { message: 'no target' } } }) },
    {},
    [
      'FAIL  tools, with a session                 initialize: 503: no target',
      '      The sign-in works. See the log of the gateway, and of the MCP servers behind it.',
      'FAIL  tools, without a session              tools/list: 503: no target',
      '      The sign-in works. See the log of the gateway, and of the MCP servers behind it.',
    ],
  ],
}

test.each(Object.entries(FAULTS))('%s', async (_, [faults, behaviour, expected, flags]) => {
  const { code, lines } = await examine(faults, behaviour, flags)
  const shown = lines.filter((line) => /^(note|FAIL| )/.test(line))
  expect(shown).toEqual(expected)
  expect(code).toBe(expected.some((line) => line.startsWith('FAIL')) ? 1 : 0)
})

test('a server that needs no token', async () => {
  const issuer = await startOAuthIssuer()
  stops.push(async () => issuer[Symbol.asyncDispose]())
  const body = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","tools":[]}}'
  const open = await startServer(
    { probe: { status: 200, headers: { 'content-type': 'application/json' }, body } },
    issuer,
  )
  const { code, lines } = await run(open, issuer, [])
  expect([code, ...lines.filter((line) => !line.includes('not reached'))]).toEqual([
    0,
    'note  request without a token               200: no token is needed',
    '      Clients never begin to sign in. If they should, set traffic.jwtAuthentication with mode Strict.',
    'ok    tools, with a session                 2025-06-18, 0 tools',
    'ok    tools, without a session              2026-07-28, 0 tools',
  ])
})

test('without a client there is no sign-in', async () => {
  const { lines } = await examine({}, { registration: false })
  const { length } = lines.filter((line) => line.endsWith('not reached'))
  expect(length).toBe(5)
})

test('nothing listens', async () => {
  const { code, stdout } = await gatewright(['mcp', 'doctor', 'http://127.0.0.1:1/mcp'])
  expect(code).toBe(1)
  expect(stdout.split('\n').slice(0, 3)).toEqual([
    expect.stringMatching(/^FAIL {2}request without a token {15}http:\/\/127\.0\.0\.1:1: /),
    expect.stringMatching(/^ {6}\S/),
    '-     challenge                             not reached',
  ])
})

test('a client of its own, and answers in event streams', async () => {
  const faults: Faults = {
    answer: (method, headers) =>
      method === 'tools/list' && headers['mcp-protocol-version'] === '2026-07-28'
        ? { status: 200, body: { result: { tools: [] } } }
        : undefined,
  }
  const flags = ['--client-id', 'service', '--client-secret', 'top-secret', '--scope', 'read']
  const { code, lines, stdout, stderr } = await examine(faults, {}, flags)
  expect(code).toBe(0)
  expect(lines.slice(5)).toEqual([
    '-     registration of the client            the client is given',
    '-     sign-in in the browser                the client has a secret of its own',
    'ok    token                                 Bearer',
    'ok    audience of the token                 issuer ISSUER, audience SERVER/mcp',
    'ok    tools, with a session                 2025-11-25, 1 tool',
    'ok    tools, without a session              2026-07-28, 0 tools',
  ])
  expect(stdout + stderr).not.toContain('top-secret')
})

test('-o json, with a token from a file; no secret is printed', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'gatewright-test-')), 'token')
  const issuer = await startOAuthIssuer()
  stops.push(async () => issuer[Symbol.asyncDispose]())
  // A server that repeats what it got.
  const faults: Faults = {
    answer: (_, { authorization }) => ({ status: 500, body: { error: { message: `bad ${authorization}` } } }),
  }
  const url = await startServer(faults, issuer)
  const token = await issuer.sign({ aud: url })
  writeFileSync(file, `${token}\n`)
  const { code, stdout } = await run(url, issuer, ['--token', `@${file}`, '-o', 'json'])
  expect(code).toBe(1)
  expect(stdout).not.toContain(token)
  const report = JSON.parse(stdout) as { steps: { step: string; verdict: string; detail: string }[] }
  expect(report).toMatchObject({ url, ok: false })
  expect(report.steps.map(({ step, verdict }) => `${step} ${verdict}`)).toEqual([
    'probe ok',
    'challenge ok',
    'resource ok',
    'server ok',
    'pkce ok',
    'registration skipped',
    'redirect skipped',
    'token skipped',
    'audience ok',
    'session failed',
    'stateless failed',
  ])
  for (const { detail } of report.steps.slice(5, 8)) expect(detail).toBe('a token is given')
  expect(report.steps[9]).toEqual({
    step: 'session',
    verdict: 'failed',
    detail: 'initialize: 500: bad Bearer ***',
    change: 'The sign-in works. See the log of the gateway, and of the MCP servers behind it.',
  })
})

test('a user who does not come', async () => {
  const issuer = await startOAuthIssuer()
  stops.push(async () => issuer[Symbol.asyncDispose]())
  const url = await startServer({}, issuer)
  const { code, stdout } = await gatewright(['mcp', 'doctor', url, '--timeout', '0', '--client-id', 'known'])
  expect(code).toBe(1)
  expect(stdout).toContain('FAIL  sign-in in the browser                no redirect came in time')
  expect(stdout).toContain('-     registration of the client            the client is given')
})

test.each([
  [['ftp://a/'], 'ftp://a/ is not a URL with scheme http or https'],
  [['mcp'], 'mcp is not a URL with scheme http or https'],
  [['http://a/', '-o', 'yaml'], '--output is text or json, not yaml'],
  [['http://a/', '--client-secret', 'x'], '--client-secret requires --client-id'],
  [['http://a/', '--timeout', 'x'], '--timeout is a number up to 86400, not x'],
  [['http://a/', '--redirect-port', '70000'], '--redirect-port is a number up to 65535, not 70000'],
  [['http://a/', '--token', '@/nonexistent/file'], '--token: ENOENT'],
])('a wrong command line: %j', async (words, message) => {
  const { code, stderr } = await gatewright(['mcp', 'doctor', ...words])
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})
