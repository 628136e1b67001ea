import { expect, test } from 'vitest'
import type { Bodies, RequestBodyAccess } from '#exchange/bodies.ts'
import { CallError, type CallRequest, type CallResponse } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { LARGE_BODY, UNREAD_BODY } from '#exchange/known-body.ts'
import { NO_BODIES } from '#exchange/no-bodies.ts'
import { type Outcome, refusalStatus, reject } from '#exchange/outcome.ts'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, type ExchangeInputs, exchangeWith, linesOf, runContext, sourceOf } from '../testing.ts'
import { compileSignIn, type SignInSettings } from './compile-sign-in.ts'
import { signInEndpoint } from './endpoint.ts'
import { readServerMetadata } from './server-metadata.ts'

const ISSUER = 'https://id.example.com/realms/a'
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  registration_endpoint: `${ISSUER}/register`,
}

const bodiesRead = (read: RequestBodyAccess['read']): Bodies => ({
  ...NO_BODIES,
  request: { ...NO_BODIES.request, read },
})

interface Answer {
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** An identity provider; by default it publishes `METADATA` at every address. */
class Provider {
  readonly requests: (CallRequest & { readonly destination: string })[] = []
  answer: (request: CallRequest) => Answer | Promise<Answer> = () => ({ body: METADATA })

  readonly call = async (destination: string, request: CallRequest): Promise<CallResponse> => {
    this.requests.push({ destination, ...request })
    const { status = 200, body, headers = {} } = await this.answer(request)
    const bytes =
      body instanceof Uint8Array
        ? body
        : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
    return {
      status,
      headers: Object.entries(headers),
      header: (name) => headers[name],
      endpoint: '127.0.0.1:80',
      trailer: () => undefined,
      body: (async function* () {
        yield bytes
      })(),
    }
  }

  get lines(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`)
  }
}

function start(more: Partial<SignInSettings> = {}, provider = new Provider()) {
  const context = contextWith({ staticHosts: { 'ProxyBackend/default/id': 'id.example.com' } })
  const settings = {
    issuers: [ISSUER],
    audience: 'https://mcp.example.com/mcp',
    jwks: undefined,
    key: {},
    path: '.mcp',
    ownPath: '',
    ...more,
  }
  const signIn = compileSignIn(sourceOf(undefined), settings, context)
  let nowMs = 0
  function arrive(target: string, inputs: ExchangeInputs = {}): Exchange {
    const exchange = exchangeWith({ target, ...inputs })
    const { call } = provider
    exchange.context = runContext({ call, callShared: call, monotonic: () => nowMs })
    // A policy may have read it before.
    const readTwice = () => Promise.reject(new Error('the body is read twice'))
    if (inputs.body !== undefined) exchange.bodies = bodiesRead(readTwice)
    return exchange
  }
  async function ask(target: string, inputs: ExchangeInputs = {}) {
    const outcome = await signIn.answer(signInEndpoint(target)!, arrive(target, inputs))
    return described(outcome)
  }
  return {
    signIn,
    context,
    provider,
    arrive,
    ask,
    json: async (target: string, inputs?: ExchangeInputs) => JSON.parse((await ask(target, inputs)).body) as unknown,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

function described(outcome: Outcome) {
  if (outcome === undefined) throw new Error('not answered')
  if (outcome.kind === 'refusal') {
    const { body = '', headers, detail, code } = outcome
    return { status: refusalStatus(outcome), body, lines: headers.map((field) => field.join(': ')), detail, code }
  }
  expect(outcome.kind).toBe('answer')
  const { head, body = '' } = outcome
  return { status: head.status, body: String(body), lines: linesOf(head), detail: undefined, code: undefined }
}

const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'
const POST: ExchangeInputs = { method: 'POST', body: '{"redirect_uris":["http://localhost:1/cb"],"client_name":"x"}' }

test.each([
  [RESOURCE, { kind: 'resource', path: '' }],
  [`${RESOURCE}/`, { kind: 'resource', path: '' }],
  [`${RESOURCE}/mcp/a`, { kind: 'resource', path: '/mcp/a' }],
  [`${RESOURCE}X`, undefined],
  [SERVER, { kind: 'server', path: '' }],
  [`${SERVER}/mcp`, { kind: 'server', path: '/mcp' }],
  [`${SERVER}/client-registration`, { kind: 'registration', path: '' }],
  [`${SERVER}/mcp/client-registration`, { kind: 'registration', path: '/mcp' }],
  [`${SERVER}/mcp/my-client-registration`, { kind: 'server', path: '/mcp/my-client-registration' }],
  [`${RESOURCE}/mcp/client-registration`, { kind: 'resource', path: '/mcp/client-registration' }],
  ['/mcp/client-registration', undefined],
  ['/.well-known/openid-configuration', undefined],
])('the endpoint at %s: %j', (path, endpoint) => {
  expect(signInEndpoint(path)).toEqual(endpoint)
})

test.each<[Partial<SignInSettings>, readonly string[]]>([
  [{}, [ISSUER]],
  [{ issuers: [ISSUER, 'https://other.example'] }, [ISSUER, 'https://other.example']],
  [{ provider: 'IdpOne' }, ['http://example.com/mcp']],
  [{ clientId: 'c' }, ['http://example.com/mcp']],
])('metadata of the resource, with %j', async (settings, servers) => {
  const { ask, provider } = start(settings)
  expect(await ask(`${RESOURCE}/mcp`)).toEqual({
    status: 200,
    lines: [
      'content-type: application/json',
      'access-control-allow-origin: *',
      'access-control-allow-methods: GET, OPTIONS',
      'access-control-allow-headers: content-type, mcp-protocol-version',
    ],
    body: JSON.stringify({
      resource: 'http://example.com/mcp',
      authorization_servers: servers,
      mcp_protocol_version: '2025-06-18',
      resource_type: 'mcp-server',
    }),
    detail: undefined,
    code: undefined,
  })
  expect(provider.requests).toEqual([])
})

verifies('traffic.jwtAuthentication.mcp/resourceMetadata', 'resourceMetadata, with the names of the RFC', async () => {
  const { json } = start({
    resourceMetadata: {
      resource: 'https://mcp.example.com/mcp',
      scopesSupported: ['a'],
      jwks_uri: 'x',
      tlsClientCertificateBoundAccessTokens: true,
      x_ownMember: 1,
      any: { nestedName: [1] },
    },
  })
  expect(await json(`${RESOURCE}/mcp`)).toEqual({
    resource: 'https://mcp.example.com/mcp',
    authorization_servers: [ISSUER],
    mcp_protocol_version: '2025-06-18',
    resource_type: 'mcp-server',
    scopes_supported: ['a'],
    jwks_uri: 'x',
    tls_client_certificate_bound_access_tokens: true,
    x_ownMember: 1,
    any: { nestedName: [1] },
  })
})

test.each([
  ['https', 'https://example.com/mcp'],
  ['HTTP', 'http://example.com/mcp'],
  ['https, http', 'http://example.com/mcp'],
  ['javascript', 'http://example.com/mcp'],
])('of forwarding headers only the protocol counts: %s', async (proto, resource) => {
  const headers = { 'x-forwarded-proto': proto, 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
  expect(await start().json(`${RESOURCE}/mcp`, { headers })).toMatchObject({ resource })
})

test.each<[Partial<SignInSettings>, object]>([
  [{}, METADATA],
  [
    { provider: 'IdpOne' },
    {
      ...METADATA,
      issuer: 'http://example.com/mcp',
      authorization_endpoint: `${ISSUER}/authorize?audience=https%3A%2F%2Fmcp.example.com%2Fmcp`,
    },
  ],
  [
    { provider: 'IdpOne', audience: undefined },
    { ...METADATA, issuer: 'http://example.com/mcp' },
  ],
  [
    { provider: 'IdpTwo' },
    {
      ...METADATA,
      issuer: 'http://example.com/mcp',
      registration_endpoint: `http://example.com${SERVER}/mcp/client-registration`,
    },
  ],
  [
    { provider: 'IdpThree' },
    {
      ...METADATA,
      issuer: 'http://example.com/mcp',
      authorization_endpoint: `${ISSUER}/authorize?audience=https%3A%2F%2Fmcp.example.com%2Fmcp`,
      registration_endpoint: `http://example.com${SERVER}/mcp/client-registration`,
    },
  ],
  [
    { clientId: 'c' },
    {
      ...METADATA,
      issuer: 'http://example.com/mcp',
      registration_endpoint: `http://example.com${SERVER}/mcp/client-registration`,
    },
  ],
])('metadata of the authorization server, with %j', async (settings, metadata) => {
  expect(await start(settings).json(`${SERVER}/mcp`)).toEqual(metadata)
})

test('an authorization endpoint with a query gets a further parameter', async () => {
  const { json, provider } = start({ provider: 'IdpOne' })
  provider.answer = () => ({ body: { ...METADATA, authorization_endpoint: `${ISSUER}/authorize?x=1` } })
  expect(await json(SERVER)).toMatchObject({
    issuer: 'http://example.com',
    authorization_endpoint: `${ISSUER}/authorize?x=1&audience=https%3A%2F%2Fmcp.example.com%2Fmcp`,
  })
})

test.each(['IdpTwo', 'IdpThree'] as const)('%s without registration: none is announced', async (provider) => {
  const { registration_endpoint: _, ...metadata } = METADATA
  const started = start({ provider })
  started.provider.answer = () => ({ body: metadata })
  expect(await started.json(`${SERVER}/mcp`)).not.toHaveProperty('registration_endpoint')
  const given = start({ provider, clientId: 'c' }, started.provider)
  expect(await given.json(`${SERVER}/mcp`)).toHaveProperty('registration_endpoint')
})

test('what repeats the other issuer is removed if the gateway stands in, and kept if not', async () => {
  const more = { signed_metadata: 'a.b.c', authorization_response_iss_parameter_supported: true }
  const body = `${JSON.stringify({ ...METADATA, ...more }).slice(0, -1)},"big":12345678901234567890}`
  const own = start()
  own.provider.answer = () => ({ body })
  expect((await own.ask(SERVER)).body).toBe(body)
  const standsIn = await start({ provider: 'IdpTwo' }, own.provider).ask(SERVER)
  expect(standsIn.body).not.toMatch(/signed_metadata|iss_parameter/)
  expect(standsIn.body).toContain('"big":12345678901234567890')
})

test.each<[Partial<SignInSettings>, readonly string[]]>([
  [{}, [`GET ${SERVER}/realms/a`, 'GET /realms/a/.well-known/openid-configuration']],
  [
    { provider: 'IdpOne', issuers: ['https://id.example.com/'] },
    [`GET ${SERVER}`, 'GET /.well-known/openid-configuration'],
  ],
  [{ provider: 'IdpTwo', issuers: [`${ISSUER}/`] }, ['GET /realms/a/.well-known/openid-configuration']],
  [{ provider: 'IdpThree' }, ['GET /realms/a/.well-known/openid-configuration']],
])('where metadata is looked for, with %j', async (settings, lines) => {
  const { ask, provider } = start(settings)
  provider.answer = () => ({ status: 404, body: '' })
  const detail = expect.stringMatching(`^${lines[0]} of .*: the server answered 404$`)
  expect(await ask(SERVER)).toMatchObject({ status: 502, code: 'sign-in-unavailable', detail })
  expect(provider.lines).toEqual(lines)
  expect(provider.requests[0]).toMatchObject({
    purpose: 'sign-in',
    host: 'id.example.com',
    timeoutMs: 0,
    deadlineMs: 10_000,
    headers: [['accept', 'application/json']],
  })
})

const KEYS = { jwksPath: '/keys', cacheDuration: '5m' } as const

test.each<[Partial<SignInSettings>, string]>([
  [{}, 'ProxyBackend/default/ProxyPolicy:test:spec.traffic.field'],
  [{ ownPath: '.authentication' }, 'ProxyBackend/default/ProxyPolicy:test:spec.traffic.field.authentication'],
  [
    { jwks: { ...KEYS, backendRef: { group: '', kind: 'Service', name: 'keys', port: 80 } } },
    'Service/default/keys/80',
  ],
  [
    { jwks: { ...KEYS, backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'id' } } },
    'ProxyBackend/default/id',
  ],
  [
    { jwks: { ...KEYS, backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'elsewhere' } } },
    'ProxyBackend/default/ProxyPolicy:test:spec.traffic.field',
  ],
])('the server that is asked, with %j', async (settings, destination) => {
  const { ask, provider } = start(settings)
  await ask(SERVER)
  expect(provider.requests.map((request) => request.destination)).toEqual([destination])
})

test.each([
  [399, 1],
  [400, 2],
  [499, 2],
  [500, 1],
])('after status %d, the number of documents that are asked for is %d', async (status, count) => {
  const { ask, provider } = start()
  provider.answer = () => ({ status })
  expect((await ask(SERVER)).status).toBe(502)
  expect(provider.lines).toHaveLength(count)
})

test('metadata is kept for a minute, and after a failure for ten more', async () => {
  const { ask, provider, pass } = start()
  await ask(SERVER)
  pass(59_999)
  await ask(SERVER)
  expect(provider.lines).toHaveLength(1)
  provider.answer = () => Promise.reject(new CallError('connect-failed'))
  pass(1)
  expect((await ask(SERVER)).status).toBe(200)
  expect(provider.lines).toHaveLength(2)
  pass(4999)
  expect((await ask(SERVER)).status).toBe(200)
  expect(provider.lines).toHaveLength(2)
  pass(1)
  await ask(SERVER)
  expect(provider.lines).toHaveLength(3)
  pass(594_999)
  expect((await ask(SERVER)).status).toBe(200)
  pass(1)
  expect((await ask(SERVER)).status).toBe(502)
  provider.answer = () => ({ body: METADATA })
  pass(5000)
  expect((await ask(SERVER)).status).toBe(200)
})

test('a failure counts for five seconds', async () => {
  const { ask, provider, pass } = start()
  provider.answer = () => Promise.reject(new CallError('timeout'))
  expect(await ask(SERVER)).toEqual({
    status: 502,
    code: 'sign-in-unavailable',
    detail: `GET ${SERVER}/realms/a of ProxyBackend/default/ProxyPolicy:test:spec.traffic.field: timeout`,
    lines: [
      'access-control-allow-origin: *',
      'access-control-allow-methods: GET, OPTIONS',
      'access-control-allow-headers: content-type, mcp-protocol-version',
    ],
    body: '{"error":"temporarily_unavailable","error_description":"the authorization server is not available"}',
  })
  pass(4999)
  await ask(SERVER)
  expect(provider.lines).toHaveLength(1)
  pass(1)
  await ask(SERVER)
  expect(provider.lines).toHaveLength(2)
})

test('clients that ask at the same time share a fetch', async () => {
  const { ask, provider } = start()
  await Promise.all([ask(SERVER), ask(`${SERVER}/mcp`), ask(SERVER)])
  expect(provider.lines).toHaveLength(1)
})

test('a client that leaves does not count as a failure of the provider', async () => {
  const { signIn, arrive, provider, ask } = start()
  const leaving = new AbortController()
  provider.answer = async () => {
    await Promise.resolve()
    leaving.abort()
    throw new CallError('cancelled')
  }
  const exchange = arrive(SERVER)
  exchange.context = { ...exchange.context, signal: leaving.signal }
  void signIn.answer({ kind: 'server', path: '' }, exchange)
  await new Promise((resolve) => setImmediate(resolve))
  provider.answer = () => ({ body: METADATA })
  expect((await ask(SERVER)).status).toBe(200)
})

test('what was fetched survives an edit of other objects', async () => {
  const key = {}
  const { ask, provider } = start({ key })
  await ask(SERVER)
  await start({ key }, provider).ask(SERVER)
  expect(provider.lines).toHaveLength(1)
  await start({ key, ownPath: '.moved' }, provider).ask(SERVER)
  expect(provider.lines).toHaveLength(2)
})

test.each<[string, Answer, string]>([
  ['HTML', { body: '<html></html>' }, 'it is not JSON'],
  ['a list', { body: [] }, 'it is not a JSON object'],
  ['null', { body: 'null' }, 'it is not a JSON object'],
  [
    'another issuer',
    { body: { ...METADATA, issuer: 'https://evil.example' } },
    'its issuer is "https://evil.example", not',
  ],
  [
    'a slash more',
    { body: { ...METADATA, issuer: `${ISSUER}/` } },
    'its issuer is "https://id.example.com/realms/a/", not',
  ],
  ['no issuer', { body: { ...METADATA, issuer: undefined } }, 'its issuer is absent, not'],
  [
    'two issuers',
    { body: `{"issuer":"https://evil.example",${JSON.stringify(METADATA).slice(1)}` },
    'it has two members "issuer"',
  ],
  [
    'no authorization_endpoint',
    { body: { ...METADATA, authorization_endpoint: undefined } },
    'it has no authorization_endpoint',
  ],
  ['no token_endpoint', { body: { ...METADATA, token_endpoint: undefined } }, 'it has no token_endpoint'],
  [
    'a script',
    { body: { ...METADATA, authorization_endpoint: 'javascript:alert(1)' } },
    'its authorization_endpoint is not',
  ],
  ['plain HTTP', { body: { ...METADATA, token_endpoint: 'http://id.example.com/token' } }, 'its token_endpoint is not'],
  ['a user in an address', { body: { ...METADATA, jwks_uri: 'https://a:b@id.example.com/' } }, 'its jwks_uri is not'],
  [
    'a list as address',
    { body: { ...METADATA, revocation_endpoint: [`${ISSUER}/revoke`] } },
    'its revocation_endpoint is not',
  ],
  ['a fragment', { body: { ...METADATA, token_endpoint: `${ISSUER}/token#x` } }, 'its token_endpoint is not'],
  ['a redirect', { status: 302, headers: { location: 'https://evil.example' } }, 'the server answered 302'],
  ['an error', { status: 500 }, 'the server answered 500'],
  ['too much', { body: 'x'.repeat(256 * 1024 + 1) }, 'response-invalid: the response has more than 262144 bytes'],
  [
    'a coding',
    { headers: { 'content-encoding': 'gzip' }, body: METADATA },
    'response-invalid: the response is compressed',
  ],
  ['no UTF-8', { body: new Uint8Array([0x7b, 0xff]) }, 'response-invalid: the response is not UTF-8'],
  ['too deep', { body: `${'['.repeat(100_000)}` }, 'it is not JSON'],
])('metadata of a hostile provider is refused: %s', async (_, answer, why) => {
  const { ask, provider } = start()
  provider.answer = () => answer
  const refused = await ask(SERVER)
  expect(refused).toMatchObject({ status: 502, code: 'sign-in-unavailable', detail: expect.stringContaining(why) })
  expect(provider.lines).toHaveLength(1)
  expect(refused.body).not.toContain('evil')
})

test('a text of a provider is cut in the log', () => {
  const issuer = 'x'.repeat(300)
  expect(readServerMetadata(JSON.stringify({ issuer }), ISSUER)).toBe(
    `its issuer is "${'x'.repeat(199)}, not ${JSON.stringify(ISSUER)}`,
  )
})

test('an issuer without TLS may have endpoints without', async () => {
  const issuer = 'http://127.0.0.1:9000'
  const { ask, provider } = start({ issuers: [issuer] })
  const body = { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` }
  provider.answer = () => ({ body })
  expect((await ask(SERVER)).status).toBe(200)
  expect(provider.requests[0]).toMatchObject({ host: '127.0.0.1:9000' })
})

test('an issuer that is no address has no metadata', async () => {
  const settings = { issuers: ['tokens'], key: {} }
  start(settings)
  const { ask, provider, context } = start(settings)
  expect(await ask(SERVER)).toMatchObject({
    status: 502,
    detail: 'the issuer of the first provider is not an http or https address',
  })
  expect(await ask(`${SERVER}/client-registration`, POST)).toMatchObject({ status: 502 })
  expect(provider.lines).toEqual([])
  expect(context.reports).toEqual(['sign-in-incomplete spec.traffic.field.mcp'])
})

verifies(
  ['traffic.jwtAuthentication.mcp/clientId-returned', 'traffic.jwtAuthentication.mcp/clientId-not-forwarded'],
  'with clientId, registrations are answered here',
  async () => {
    const { ask, provider } = start({ clientId: 'known', provider: 'IdpTwo' })
    const answers = [
      POST,
      { method: 'POST', body: '' },
      { method: 'POST', body: '[' },
      { method: 'POST', body: '{"redirect_uris":[1]}' },
    ]
    for (const [index, inputs] of answers.entries()) {
      expect(await ask(`${SERVER}/mcp/client-registration`, inputs)).toEqual({
        status: 201,
        code: undefined,
        detail: undefined,
        lines: [
          'content-type: application/json',
          'cache-control: no-store',
          'access-control-allow-origin: *',
          'access-control-allow-methods: POST, OPTIONS',
          'access-control-allow-headers: content-type, mcp-protocol-version',
        ],
        body: JSON.stringify({
          client_id: 'known',
          client_id_issued_at: 0,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code'],
          response_types: ['code'],
          redirect_uris: index === 0 ? ['http://localhost:1/cb'] : [],
        }),
      })
    }
    expect(provider.lines).toEqual([])
  },
)

test.each<[Partial<SignInSettings>, readonly string[]]>([
  [{ provider: 'IdpTwo' }, ['POST /realms/a/clients-registrations/openid-connect']],
  [{ provider: 'IdpTwo', issuers: [`${ISSUER}/`] }, ['POST /realms/a/clients-registrations/openid-connect']],
  [{ provider: 'IdpThree' }, ['POST /oauth2/v1/clients']],
  [{ provider: 'IdpOne' }, [`GET ${SERVER}/realms/a`, 'POST /realms/a/register']],
  [{}, [`GET ${SERVER}/realms/a`, 'POST /realms/a/register']],
])('a registration is forwarded, with %j', async (settings, lines) => {
  const { ask, provider } = start(settings)
  provider.answer = ({ method }) =>
    method === 'GET' ? { body: METADATA } : { status: 201, body: { client_id: 'new' } }
  const headers = { authorization: 'Bearer secret', cookie: 'a=b', 'content-type': 'application/json' }
  expect(await ask(`${SERVER}/mcp/client-registration`, { ...POST, headers })).toMatchObject({
    status: 201,
    body: '{"client_id":"new"}',
  })
  expect(provider.lines).toEqual(lines)
  expect(provider.requests.at(-1)).toMatchObject({
    host: 'id.example.com',
    headers: [
      ['content-type', 'application/json'],
      ['accept', 'application/json'],
    ],
    body: new TextEncoder().encode(POST.body),
  })
})

test('IdpTwo is told to leave its issuer out of authorization responses; if it refuses, the client is registered all the same', async () => {
  const registered = { client_id: 'new', registration_access_token: 'first' }
  const { signIn, provider, arrive } = start({ provider: 'IdpTwo' })
  let isChanged = true
  provider.answer = ({ method }) => {
    if (method === 'POST') return { status: 201, body: registered }
    return isChanged ? { body: { registrationAccessToken: method } } : { status: 403, body: {} }
  }
  const register = async () => {
    const exchange = arrive(`${SERVER}/mcp/client-registration`, POST)
    const { status, body, lines } = described(await signIn.answer({ kind: 'registration', path: '/mcp' }, exchange))
    expect(lines).toContain('cache-control: no-store')
    return { status, body: JSON.parse(body) as unknown, note: exchange.refusalDetail }
  }
  expect(await register()).toEqual({
    status: 201,
    body: { client_id: 'new', registration_access_token: 'PUT' },
    note: undefined,
  })
  const path = '/realms/a/clients-registrations'
  expect(provider.lines).toEqual([`POST ${path}/openid-connect`, `GET ${path}/default/new`, `PUT ${path}/default/new`])
  isChanged = false
  expect(await register()).toEqual({
    status: 201,
    body: registered,
    note: expect.stringMatching(
      /^authorization responses of the client may name the identity provider as issuer.*: GET .* 403$/,
    ),
  })
})

test.each<[Answer, number, string | undefined]>([
  [{ status: 200, body: '{}' }, 200, undefined],
  [{ status: 299, body: '{}' }, 299, undefined],
  [{ status: 300, body: '{}' }, 502, 'the server answered 300'],
  [{ status: 399, body: '{}' }, 502, 'the server answered 399'],
  [{ status: 400, body: '{"error":"invalid_redirect_uri"}' }, 400, undefined],
  [{ status: 499, body: '{}' }, 499, undefined],
  [{ status: 403, body: '<html>' }, 502, 'the server answered with something that is not JSON'],
  [{ status: 302, body: '{}' }, 502, 'the server answered 302'],
  [{ status: 500, body: '{}' }, 502, 'the server answered 500'],
])('the answer to a registration, %j: %d', async (answer, status, why) => {
  const { signIn, arrive, provider } = start({ provider: 'IdpTwo' })
  provider.answer = () => answer
  const exchange = arrive(`${SERVER}/client-registration`, POST)
  const refused = described(await signIn.answer({ kind: 'registration', path: '' }, exchange))
  // Only a registered client can be changed.
  expect(exchange.refusalDetail !== undefined).toBe(status < 300)
  expect(refused).toMatchObject({ status, ...(why !== undefined && { detail: expect.stringContaining(why) }) })
  expect(refused.lines).toContain('access-control-allow-methods: POST, OPTIONS')
})

test('a registration that fails on the way', async () => {
  for (const settings of [{ provider: 'IdpTwo' }, {}] as const) {
    const { ask, provider } = start(settings)
    provider.answer = () => Promise.reject(new CallError('timeout'))
    const refused = await ask(`${SERVER}/client-registration`, POST)
    expect(refused).toMatchObject({
      status: 502,
      code: 'sign-in-unavailable',
      detail: expect.stringMatching(/: timeout$/),
    })
    expect(refused.lines).toContain('access-control-allow-methods: POST, OPTIONS')
  }
})

test.each([
  undefined,
  'https://evil.example/register',
  'http://id.example.com/register',
  'register',
  7,
  [`${ISSUER}/register`],
])('registrations go to the origin of the issuer only, not to %j', async (endpoint) => {
  const { ask, provider } = start()
  provider.answer = () => ({ body: { ...METADATA, registration_endpoint: endpoint } })
  const refused = await ask(`${SERVER}/client-registration`, POST)
  expect(refused.status).toBe(502)
  expect(refused.lines).toContain('access-control-allow-methods: POST, OPTIONS')
  expect(provider.lines).toEqual([`GET ${SERVER}/realms/a`])
})

test('a registration has at most 64 KiB', async () => {
  const { ask, signIn, arrive } = start({ clientId: 'c' })
  const target = `${SERVER}/client-registration`
  const body = ' '.repeat(64 * 1024)
  expect((await ask(target, { method: 'POST', body })).status).toBe(201)
  const large = await ask(target, { method: 'POST', body: `${body} ` })
  expect(large).toMatchObject({ status: 413, code: 'body-too-large', detail: 'the limit is 65536 bytes' })
  expect(large.lines).toContain('access-control-allow-methods: POST, OPTIONS')
  const unread = arrive(target, { method: 'POST' })
  const limits: unknown[] = []
  unread.bodies = bodiesRead(async (...given) => {
    limits.push(given)
    unread.requestBody = LARGE_BODY
    return undefined
  })
  expect(described(await signIn.answer({ kind: 'registration', path: '' }, unread)).status).toBe(413)
  expect(limits).toEqual([[64 * 1024, true]])
  unread.requestBody = UNREAD_BODY
  unread.bodies = bodiesRead(async () => reject('body-memory-exhausted'))
  expect(described(await signIn.answer({ kind: 'registration', path: '' }, unread)).status).toBe(503)
})

test.each([
  ['OPTIONS', RESOURCE, 204, 'access-control-allow-methods: GET, OPTIONS'],
  ['OPTIONS', SERVER, 204, 'access-control-allow-methods: GET, OPTIONS'],
  ['OPTIONS', `${SERVER}/client-registration`, 204, 'access-control-allow-methods: POST, OPTIONS'],
  ['HEAD', RESOURCE, 200, 'content-type: application/json'],
  ['HEAD', SERVER, 200, 'content-type: application/json'],
  ['POST', RESOURCE, 405, 'allow: GET, HEAD, OPTIONS'],
  ['DELETE', SERVER, 405, 'allow: GET, HEAD, OPTIONS'],
  ['GET', `${SERVER}/client-registration`, 405, 'allow: POST, OPTIONS'],
])('%s %s: %d', async (method, target, status, line) => {
  const answer = await start().ask(target, { method })
  expect(answer.status).toBe(status)
  expect(answer.lines).toContain(line)
  expect(answer.lines).toContain('access-control-allow-origin: *')
})

const challengeOf = (
  settings: Partial<SignInSettings>,
  code: 'jwt-missing' | 'jwt-invalid',
  inputs: ExchangeInputs = {},
) => {
  const { signIn, arrive } = start(settings)
  return described(signIn.challenge(reject(code, { detail: 'why' }), arrive(inputs.target ?? '/mcp', inputs)))
}

test('a challenge without a token', () => {
  expect(challengeOf({}, 'jwt-missing')).toEqual({
    status: 401,
    code: 'jwt-missing',
    detail: 'why',
    lines: ['www-authenticate: Bearer resource_metadata="http://example.com/.well-known/oauth-protected-resource/mcp"'],
    body: '{"error":"unauthorized","error_description":"JWT token required"}',
  })
})

test.each<[Partial<SignInSettings>, 'jwt-missing' | 'jwt-invalid', ExchangeInputs, string]>([
  [{}, 'jwt-invalid', {}, 'http://example.com/.well-known/oauth-protected-resource/mcp", error="invalid_token"'],
  [{}, 'jwt-missing', { target: '/' }, 'http://example.com/.well-known/oauth-protected-resource"'],
  [{}, 'jwt-missing', { target: '/a/b?x="' }, 'http://example.com/.well-known/oauth-protected-resource/a/b"'],
  [
    {},
    'jwt-missing',
    { target: '/a"%22%0d%0a' },
    'http://example.com/.well-known/oauth-protected-resource/a%22%22%0D%0A"',
  ],
  [
    {},
    'jwt-missing',
    { headers: { 'x-forwarded-proto': 'https' } },
    'https://example.com/.well-known/oauth-protected-resource/mcp"',
  ],
  [
    { resourceMetadata: { resource: 'https://mcp.example.com:8443/other' } },
    'jwt-missing',
    {},
    'https://mcp.example.com:8443/.well-known/oauth-protected-resource/mcp"',
  ],
  [
    { resourceMetadata: { scopesSupported: ['a', 'b:c'] } },
    'jwt-missing',
    {},
    'http://example.com/.well-known/oauth-protected-resource/mcp", scope="a b:c"',
  ],
  [
    { resourceMetadata: { scopes_supported: ['a', 'b"', 'c d', 'e\r\nf', '', 7, 'g\\', 'h'] } },
    'jwt-invalid',
    {},
    'http://example.com/.well-known/oauth-protected-resource/mcp", error="invalid_token", scope="a h"',
  ],
])('a challenge, with %j', (settings, code, inputs, rest) => {
  expect(challengeOf(settings, code, inputs).lines).toEqual([`www-authenticate: Bearer resource_metadata="${rest}`])
})

test.each<[Partial<SignInSettings>, readonly string[]]>([
  [{}, []],
  [{ provider: 'IdpOne' }, []],
  [{ issuers: [undefined] }, ['.mcp: without an issuer clients cannot find the authorization server']],
  [
    { issuers: [ISSUER, 'x'] },
    ['.mcp: issuer x is not an http or https address: clients cannot find the authorization server'],
  ],
  [
    { issuers: ['https://a:b@id.example', 'https://id.example?a', 'https://id.example#a', 'ftp://id.example'] },
    ['.mcp', '.mcp', '.mcp', '.mcp'],
  ],
  [
    { issuers: [ISSUER, 'https://b.example'], provider: 'IdpOne' },
    ['.mcp.provider: clients are sent to the first provider only; tokens of all providers are accepted'],
  ],
  [
    { resourceMetadata: { resource: 'mcp' } },
    ['.mcp.resourceMetadata: resource is not an http or https address: clients will refuse the metadata'],
  ],
  [
    { resourceMetadata: { resource: ['https://a.example/mcp'] } },
    ['.mcp.resourceMetadata: resource is not an http or https address: clients will refuse the metadata'],
  ],
  [{ resourceMetadata: { resource: 'http://a.example/mcp' } }, []],
  [
    { resourceMetadata: { scopesSupported: 'a b' } },
    ['.mcp.resourceMetadata: scopesSupported is not a list of scopes'],
  ],
  [
    { resourceMetadata: { scopesSupported: ['a b'] } },
    ['.mcp.resourceMetadata: scopesSupported is not a list of scopes'],
  ],
  [{ resourceMetadata: { resource: 'https://a.example/mcp', scopesSupported: ['a'] } }, []],
])('findings, with %j', (settings, findings) => {
  const { problems } = start(settings).context
  expect(problems.map(({ code, severity }) => `${severity} ${code}`)).toEqual(
    findings.map(() => 'warning sign-in-incomplete'),
  )
  for (const [index, { path, message }] of problems.entries()) {
    expect(`${path.slice('spec.traffic.field'.length)}: ${message}`).toContain(findings[index])
  }
})

test('without a token no scope helps', () => {
  const { signIn, arrive } = start({ resourceMetadata: { scopesSupported: ['a'] } })
  expect(signIn.challengeScopes(arrive('/mcp'), () => true)).toBeUndefined()
})

test('issuers that are no addresses are not announced', async () => {
  const { json } = start({ issuers: ['x', ISSUER] })
  expect(await json(RESOURCE)).toMatchObject({ authorization_servers: [ISSUER] })
})
