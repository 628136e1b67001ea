import { expect, test } from 'vitest'
import type { JsonObject } from '#base/json.ts'
import { codeOf, contextWith, exchangeWith, sourceOf, specFrom } from '#policies/shared/testing.ts'
import { importKey } from '#test/support/import-key.ts'
import { createSigningKey, keySetOf, signToken } from '#test/support/token-issuer.ts'
import { verifies } from '#test/support/verifies.ts'
import { compileAuthentication } from './compile-authentication.ts'
import { backendMcp } from './policy-schema.ts'

const KEY = createSigningKey('P-256')
const ISSUER = 'https://id.example.com'
const AUDIENCE = 'https://mcp.example.com'
const exp = Math.floor(Date.now() / 1000) + 300
const CLAIMS = { iss: ISSUER, aud: AUDIENCE, exp }
const GOOD = signToken(KEY, 'ES256', CLAIMS)
const CHALLENGE = 'Bearer resource_metadata="http://example.com/.well-known/oauth-protected-resource/mcp"'

function start(more: object = {}) {
  const context = contextWith({ importKey })
  const jwks = { jwksPath: '/keys', backendRef: { name: 'keys', port: 80 } }
  const written = { issuer: ISSUER, audiences: [AUDIENCE], jwks, ...more }
  const spec = specFrom(backendMcp, { authentication: written })
  const { authenticate, signIn } = compileAuthentication(
    sourceOf(spec, { path: 'spec.backend.mcp' }),
    spec.authentication!,
    context,
  )
  const value = keySetOf(KEY)
  context.keySets.update({
    id: 'Service/default/keys /keys',
    value,
    fetchedMs: 1,
    failure: undefined,
    final: true,
    restMs: 0,
  })
  function ask(token: string | undefined, earlier?: JsonObject) {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const exchange = exchangeWith({ target: '/mcp', headers })
    if (earlier !== undefined) exchange.identity.jwt = { claims: earlier, token: 'h.p.s' }
    return { exchange, outcome: authenticate(exchange) }
  }
  return { ask, signIn, context }
}

const tokenWith = (claims: object) => signToken(KEY, 'ES256', { ...CLAIMS, ...claims })

verifies(
  ['backend.mcp.authentication/works', 'backend.mcp.authentication/mode-default'],
  'a request needs a valid token of the issuer for one of the audiences',
  () => {
    const { ask } = start()
    expect(ask(undefined).outcome).toMatchObject({
      code: 'jwt-missing',
      status: 401,
      headers: [['www-authenticate', CHALLENGE]],
      body: '{"error":"unauthorized","error_description":"JWT token required"}',
    })
    expect(ask('rubbish').outcome).toMatchObject({
      code: 'jwt-invalid',
      status: 401,
      headers: [['www-authenticate', `${CHALLENGE}, error="invalid_token"`]],
    })
    for (const claims of [{ iss: 'https://other.example' }, { aud: 'other' }, { exp: 1 }]) {
      expect(codeOf(ask(tokenWith(claims)).outcome)).toBe('jwt-invalid')
    }
    const { exchange, outcome } = ask(GOOD)
    expect(outcome).toBeUndefined()
    expect(exchange.identity.jwt?.claims).toEqual(CLAIMS)
    expect(exchange.request.has('authorization')).toBe(false)
  },
)

test.each([
  ['Optional', undefined, 'proceed'],
  ['Optional', 'x', 'jwt-invalid'],
  ['Permissive', undefined, 'proceed'],
  ['Permissive', 'x', 'proceed'],
])('mode %s, token %s: %s', (mode, token, code) => {
  expect(codeOf(start({ mode }).ask(token).outcome)).toBe(code)
})

test.each<[object, JsonObject, string]>([
  [{}, CLAIMS, 'proceed'],
  [{}, { ...CLAIMS, aud: ['x', AUDIENCE] }, 'proceed'],
  [{}, { ...CLAIMS, aud: 'x' }, 'jwt-invalid'],
  [{}, { iss: ISSUER }, 'jwt-invalid'],
  [{}, { ...CLAIMS, iss: 'https://other.example' }, 'jwt-invalid'],
  [{ mode: 'Optional' }, { ...CLAIMS, aud: 'x' }, 'jwt-invalid'],
  [{ mode: 'Permissive' }, { ...CLAIMS, aud: 'x' }, 'proceed'],
  [{ audiences: undefined }, { ...CLAIMS, aud: 'x' }, 'proceed'],
  [{ issuer: undefined }, { ...CLAIMS, iss: 'x' }, 'proceed'],
])('with %j, a token that traffic.jwtAuthentication accepted, %j: %s', (more, claims, code) => {
  const { outcome } = start(more).ask(undefined, claims)
  expect(codeOf(outcome)).toBe(code)
  if (code === 'jwt-invalid') {
    expect(outcome).toMatchObject({ headers: [['www-authenticate', `${CHALLENGE}, error="invalid_token"`]] })
  }
})

test('without an issuer, the keys alone decide, loudly', () => {
  const { ask, context } = start({ issuer: undefined })
  for (const claims of [{}, { iss: 'https://other.example' }, { iss: undefined }]) {
    expect(ask(tokenWith(claims)).outcome).toBeUndefined()
  }
  expect(codeOf(ask(tokenWith({ aud: 'x' })).outcome)).toBe('jwt-invalid')
  expect(context.reports).toEqual(['sign-in-incomplete spec.backend.mcp.authentication'])
})

test('problems are at the field', () => {
  const { context } = start({ audiences: undefined, issuer: 'x' })
  expect(context.reports).toEqual([
    'sign-in-incomplete spec.backend.mcp.authentication',
    'audience-any spec.backend.mcp.authentication',
  ])
})

test('the metadata of the resource', async () => {
  const { signIn } = start({ resourceMetadata: { scopesSupported: ['a'] } })
  expect(await signIn.answer({ kind: 'resource', path: '/mcp' }, exchangeWith())).toMatchObject({
    body: expect.stringContaining('"authorization_servers":["https://id.example.com"]'),
  })
})
