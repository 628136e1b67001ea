import { createHash } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setUp } from '../setup/set-up.ts'
import { ProviderState, ProviderStateUnusable } from './provider-state.ts'
import { createClient } from './realm.ts'
import { ADMIN, setupOptions, startTestProvider } from './testing.ts'

let provider: Awaited<ReturnType<typeof startTestProvider>>
let client: { readonly clientId: string; readonly secret: string; readonly uuid: string }
let admin: string

const REALM = '/realms/shop'
const OPENID = `${REALM}/protocol/openid-connect`
const CALLBACK = 'http://127.0.0.1:9/callback'

beforeAll(async () => {
  provider = await startTestProvider()
  ;({ client } = await setUp(setupOptions(provider.url), provider.send, () => {}))
  const { body } = await form('/realms/master/protocol/openid-connect/token', {
    client_id: 'admin-cli',
    grant_type: 'password',
    ...ADMIN,
  })
  admin = body.access_token
})
afterAll(async () => {
  await provider.close()
  expect(provider.bugs).toEqual([])
})

interface Seen {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of all endpoints
  readonly body: any
  readonly text: string
  readonly headers: Headers
}

async function ask(path: string, options: RequestInit = {}): Promise<Seen> {
  const response = await fetch(new URL(path, provider.url), { redirect: 'manual', ...options })
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  return { status: response.status, body: isJson ? JSON.parse(text) : text, text, headers: response.headers }
}

function form(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Seen> {
  return ask(path, { method: 'POST', body: new URLSearchParams(fields), headers })
}

const asAdmin = (method: string, path: string, json?: unknown) =>
  ask(path, {
    method,
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })

const token = (fields: Record<string, string>) =>
  form(`${OPENID}/token`, { client_id: client.clientId, client_secret: client.secret, ...fields })
const PASSWORD = { grant_type: 'password', username: 'ann', password: 'ann-password' }

describe('tokens', () => {
  test('are signed with a key of the key set', async () => {
    const { body } = await token({ ...PASSWORD, scope: 'openid' })
    const keys = createRemoteJWKSet(new URL(`${OPENID}/certs`, provider.url))
    const issuer = new URL(REALM, provider.url).href
    const access = await jwtVerify(body.access_token, keys, { issuer, audience: 'account' })
    expect(access.payload).toMatchObject({ typ: 'Bearer', azp: 'gateway', group: 'makers', preferred_username: 'ann' })
    expect(access.payload.exp! - access.payload.iat!).toBe(300)
    const id = await jwtVerify(body.id_token, keys, { issuer, audience: 'gateway' })
    expect(id.payload).toMatchObject({ typ: 'ID', sub: access.payload.sub })
    const set = await ask(`${OPENID}/certs`)
    expect(set.body.keys.map(({ use }: { use: string }) => use).sort()).toEqual(['enc', 'sig'])
    expect(set.text).not.toContain('"d"')
  })

  test.each([
    ['a wrong password', { ...PASSWORD, password: 'x' }, 401, 'invalid_grant'],
    ['an unknown user', { ...PASSWORD, username: 'nobody' }, 401, 'invalid_grant'],
    ['a wrong secret', { ...PASSWORD, client_secret: 'x' }, 401, 'unauthorized_client'],
    ['an unknown client', { ...PASSWORD, client_id: 'x' }, 401, 'invalid_client'],
    ['another grant', { grant_type: 'implicit' }, 400, 'unsupported_grant_type'],
    ['a wrong code', { grant_type: 'authorization_code', code: 'x' }, 400, 'invalid_grant'],
    ['a wrong refresh token', { grant_type: 'refresh_token', refresh_token: 'x' }, 400, 'invalid_grant'],
    ['a client without direct access', { ...PASSWORD, client_id: 'account-console' }, 400, 'unauthorized_client'],
  ])('%s is refused', async (_, fields, status, error) => {
    const seen = await token(fields)
    expect([seen.status, seen.body.error]).toEqual([status, error])
  })

  test('the secret of a client may be in the header; both ids name the client', async () => {
    for (const id of [client.clientId, client.uuid]) {
      const authorization = `Basic ${Buffer.from(`${id}:${encodeURIComponent(client.secret)}`).toString('base64')}`
      const { status } = await form(`${OPENID}/token`, { grant_type: 'client_credentials' }, { authorization })
      expect(status).toBe(200)
    }
  })

  test('a refresh token is used once', async () => {
    const { body } = await token(PASSWORD)
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    const second = await token(refresh)
    expect([second.status, (await token(refresh)).status]).toEqual([200, 400])
    const ended = await form(`${OPENID}/logout`, { refresh_token: second.body.refresh_token })
    expect(ended.status).toBe(204)
    expect((await token({ ...refresh, refresh_token: second.body.refresh_token })).status).toBe(400)
  })

  test('userinfo describes the owner of a token', async () => {
    const { body } = await token(PASSWORD)
    const asked = (value: string) => ask(`${OPENID}/userinfo`, { headers: { authorization: `Bearer ${value}` } })
    expect((await asked(body.access_token)).body).toMatchObject({ preferred_username: 'ann', group: 'makers' })
    const refused = await asked(`${body.access_token}x`)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="shop", error="invalid_token"',
    ])
    // A token of another realm.
    expect((await asked(admin)).status).toBe(401)
  })

  test('after a rotation, old tokens are still valid and new ones have a new key', async () => {
    const before = await token(PASSWORD)
    const component = { providerType: 'org.keycloak.keys.KeyProvider', providerId: 'rsa-generated' }
    expect((await asAdmin('POST', '/admin/realms/shop/components', component)).status).toBe(201)
    const after = await token(PASSWORD)
    const kidOf = ({ body }: Seen) =>
      JSON.parse(Buffer.from(body.access_token.split('.')[0], 'base64url').toString()).kid
    expect(kidOf(before)).not.toBe(kidOf(after))
    const keys = createRemoteJWKSet(new URL(`${OPENID}/certs`, provider.url))
    for (const { body } of [before, after]) await jwtVerify(body.access_token, keys)
    const { body } = await asAdmin('GET', '/admin/realms/shop/keys')
    expect(body.active.RS256).toBe(kidOf(after))
  })

  test('who guesses passwords must wait', async () => {
    await asAdmin('POST', '/admin/realms/shop/users', {
      username: 'guessed',
      enabled: true,
      credentials: [{ type: 'password', value: 'right', temporary: false }],
    })
    const guess = (password: string) => token({ ...PASSWORD, username: 'Guessed', password })
    expect((await guess('right')).status).toBe(200)
    for (let count = 0; count < 10; count += 1) await guess('wrong')
    expect((await guess('right')).status).toBe(401)
    expect((await token(PASSWORD)).status).toBe(200)
  })

  test('guesses at the same time do not all count as the first', async () => {
    const user = { username: 'raced', enabled: true, credentials: [{ type: 'password', value: 'right' }] }
    await asAdmin('POST', '/admin/realms/shop/users', user)
    const guess = (password: string) => token({ ...PASSWORD, username: 'raced', password })
    const guesses = await Promise.all([...Array<string>(40).fill('wrong'), 'right'].map(guess))
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([401]))
    expect(new Set(guesses.map(({ text }) => text)).size, 'nobody sees which one is right').toBe(1)
  })

  test('of users that are created at the same time, one has the name and the email', async () => {
    const create = (username: string) =>
      asAdmin('POST', '/admin/realms/shop/users', {
        username,
        email: 'same@shop.example',
        credentials: [{ type: 'password', value: 'secret' }],
      })
    const statuses = await Promise.all(['twin', 'twin', 'other-twin'].map(async (name) => (await create(name)).status))
    expect(statuses.toSorted()).toEqual([201, 409, 409])
  })
})

describe('the code flow', () => {
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')

  function authorizationPath(changes: Record<string, string> = {}): string {
    const query = new URLSearchParams({
      client_id: client.clientId,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
      state: 'a&b',
      nonce: 'n',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    })
    for (const [name, value] of Object.entries(changes)) if (value === '') query.delete(name)
    return `${OPENID}/auth?${query}`
  }

  const cookieOf = ({ headers }: Seen) =>
    headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0]!)
      .join('; ')
  const actionOf = ({ text }: Seen) => /action="(?<action>[^"]+)"/.exec(text)!.groups!.action!.replaceAll('&#38;', '&')

  async function signIn(page: Seen, password = 'ann-password', cookie = cookieOf(page)): Promise<Seen> {
    return form(actionOf(page), { username: 'ann', password }, { cookie })
  }

  const codeIn = ({ headers }: Seen) => new URL(headers.get('location')!).searchParams
  const exchange = (code: string, fields: Record<string, string> = {}) =>
    token({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier, ...fields })

  test('a user signs in, and the client gets tokens, once', async () => {
    const page = await ask(authorizationPath())
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    ])
    const wrong = await signIn(page, 'wrong')
    expect([wrong.status, wrong.text]).toEqual([200, expect.stringContaining('Invalid user name or password')])
    const done = await signIn(wrong)
    expect([done.status, done.headers.get('location')]).toEqual([302, expect.stringContaining(`${CALLBACK}?code=`)])
    expect(codeIn(done).get('state')).toBe('a&b')
    const code = codeIn(done).get('code')!
    const { status, body } = await exchange(code)
    expect(status).toBe(200)
    const claims = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString())
    expect([claims.nonce, claims.group, typeof claims.auth_time]).toEqual(['n', 'makers', 'number'])

    // The browser stays signed in until the user signs out.
    const cookie = cookieOf(done)
    const again = await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })
    expect([again.status, codeIn(again).has('code')]).toEqual([302, true])
    const back = new URLSearchParams({ id_token_hint: body.id_token, post_logout_redirect_uri: CALLBACK, state: 's' })
    const out = await ask(`${OPENID}/logout?${back}`, { headers: { cookie } })
    expect([out.status, out.headers.get('location')]).toEqual([302, `${CALLBACK}?state=s`])
    const after = await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })
    expect(codeIn(after).get('error')).toBe('login_required')
  })

  test.each([
    ['a wrong verifier', { code_verifier: 'w'.repeat(43) }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect URI', { redirect_uri: `${CALLBACK}2` }],
  ])('a code with %s is refused, and is used up', async (_, fields) => {
    const code = codeIn(await signIn(await ask(authorizationPath()))).get('code')!
    expect((await exchange(code, fields)).body.error).toBe('invalid_grant')
    expect((await exchange(code)).body.error).toBe('invalid_grant')
  })

  test.each([
    ['an unknown client', { client_id: 'x' }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['a fragment', { redirect_uri: `${CALLBACK}#a` }],
    ['no URI', { redirect_uri: 'callback' }],
    ['a URI that the client does not have', { client_id: 'account-console' }],
  ])('%s is never redirected', async (_, changes) => {
    const { status, headers } = await ask(authorizationPath(changes))
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test.each([
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'x' }, 'invalid_request'],
  ])('%s is an error for the client', async (_, changes, error) => {
    expect(codeIn(await ask(authorizationPath(changes))).get('error')).toBe(error)
  })

  test('a public client must use PKCE', async () => {
    const body = JSON.stringify({ redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' })
    const registered = await ask(`${REALM}/clients-registrations/openid-connect`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect([registered.status, registered.body.client_secret]).toEqual([201, undefined])
    const changes = { client_id: registered.body.client_id, code_challenge: '', code_challenge_method: '' }
    expect(codeIn(await ask(authorizationPath(changes))).get('error_description')).toContain('code_challenge')
  })

  test.each([
    [
      'an address that the client does not have',
      (hint: string) => ({ id_token_hint: hint, post_logout_redirect_uri: 'https://evil.example/' }),
    ],
    [
      'an address that is a script',
      (hint: string) => ({ id_token_hint: hint, post_logout_redirect_uri: 'javascript:alert(1)' }),
    ],
    ['no address', (hint: string) => ({ id_token_hint: hint, post_logout_redirect_uri: '' })],
  ])('after a sign-out with %s, the browser stays at the provider', async (_, fieldsOf) => {
    const own = await asAdmin('POST', '/admin/realms/shop/clients', {
      clientId: `out ${_}`,
      secret: 's',
      redirectUris: [CALLBACK],
    })
    expect(own.status).toBe(201)
    const page = await ask(authorizationPath({ client_id: `out ${_}` }))
    const done = await signIn(page)
    const { body } = await exchange(codeIn(done).get('code')!, { client_id: `out ${_}`, client_secret: 's' })
    const fields = fieldsOf(body.id_token)
    const out = await ask(`${OPENID}/logout?${new URLSearchParams(fields)}`, { headers: { cookie: cookieOf(done) } })
    expect([out.status, out.headers.get('location'), out.text.includes('You are signed out.')]).toEqual([
      200,
      null,
      true,
    ])
  })

  test('a sign-out ends the session everywhere: in the browser and for the refresh tokens of its clients', async () => {
    const done = await signIn(await ask(authorizationPath()))
    const { body } = await exchange(codeIn(done).get('code')!)
    const hint = new URLSearchParams({ id_token_hint: body.id_token })
    await ask(`${OPENID}/logout?${hint}`, { headers: { cookie: cookieOf(done) } })
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    expect((await token(refresh)).body.error).toBe('invalid_grant')

    const second = await signIn(await ask(authorizationPath()))
    const tokens = (await exchange(codeIn(second).get('code')!)).body
    await form(`${OPENID}/logout`, { refresh_token: tokens.refresh_token })
    const after = await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie: cookieOf(second) } })
    expect(codeIn(after).get('error')).toBe('login_required')
  })

  test('a page that has expired, or was used, signs nobody in', async () => {
    const page = await ask(authorizationPath())
    expect((await signIn(page)).status).toBe(302)
    const again = await signIn(page)
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('The page has expired')])
  })

  test('a client without the code flow signs nobody in; without a state there is none in the answer', async () => {
    await asAdmin('POST', '/admin/realms/shop/clients', {
      clientId: 'service',
      secret: 's',
      redirectUris: [CALLBACK],
      standardFlowEnabled: false,
    })
    const refused = codeIn(await ask(authorizationPath({ client_id: 'service', state: '' })))
    expect([refused.get('error'), refused.has('state')]).toEqual(['unauthorized_client', false])
  })

  test('a confidential client may do without PKCE', async () => {
    const changes = { code_challenge: '', code_challenge_method: '' }
    const done = await signIn(await ask(authorizationPath(changes)))
    const fields = { grant_type: 'authorization_code', code: codeIn(done).get('code')!, redirect_uri: CALLBACK }
    expect((await token(fields)).status).toBe(200)
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'blob:x', 'file:///etc/passwd'])(
    '%s is no redirect URI, even for a client that allows all',
    async (redirect_uri) => {
      expect((await ask(authorizationPath({ redirect_uri }))).status).toBe(400)
    },
  )

  test('a client that is registered has what it asked for', async () => {
    const register = async (json: object) => {
      const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }
      return (await ask(`${REALM}/clients-registrations/openid-connect`, options)).body
    }
    const named = await register({ redirect_uris: [CALLBACK], client_name: 'Inspector' })
    expect(named).toMatchObject({ client_name: 'Inspector', token_endpoint_auth_method: 'client_secret_basic' })
    expect(named.client_secret).toHaveLength(32)
    const page = await ask(authorizationPath({ client_id: named.client_id }))
    expect(page.text).toContain('Inspector asks you to sign in')
    expect(await register({ redirect_uris: [CALLBACK] })).not.toHaveProperty('client_name')
    expect((await register({})).error).toBe('invalid_client_metadata')
  })

  test('a client with a secret may sign users in without PKCE; a verifier is an error then', async () => {
    const path = authorizationPath({ code_challenge: '', code_challenge_method: '', state: '' })
    const codes = [codeIn(await signIn(await ask(path))), codeIn(await signIn(await ask(path)))]
    expect(codes.map((answer) => answer.has('state'))).toEqual([false, false])
    const [one, two] = codes.map((answer) => answer.get('code')!) as [string, string]
    expect((await exchange(one)).body.error).toBe('invalid_grant')
    const fields = { grant_type: 'authorization_code', code: two, redirect_uri: CALLBACK }
    expect((await token(fields)).status).toBe(200)
  })

  test('a client that may not sign users in, and one without a name', async () => {
    const json = { clientId: 'service', redirectUris: [CALLBACK], standardFlowEnabled: false }
    await asAdmin('POST', '/admin/realms/shop/clients', json)
    expect(codeIn(await ask(authorizationPath({ client_id: 'service' }))).get('error')).toBe('unauthorized_client')
    expect((await ask(authorizationPath({ client_id: '' }))).text).toContain('Client not found')
  })

  test('a page is for one sign-in in one realm', async () => {
    const page = await ask(authorizationPath())
    const elsewhere = actionOf(page).replace(REALM, '/realms/master')
    const fields = { username: 'ann', password: 'ann-password' }
    const asked = (action: string) => form(action, fields, { cookie: cookieOf(page) })
    for (const action of [elsewhere, actionOf(page), actionOf(page).replace(/attempt=.*/, '')]) {
      const { status, text } = await asked(action)
      expect([status, text]).toEqual([400, expect.stringContaining('The page has expired')])
    }
  })

  test('another browser cannot end a sign-in', async () => {
    const page = await ask(authorizationPath())
    const other = await signIn(page, 'ann-password', 'idp_browser=other')
    expect([other.status, other.headers.getSetCookie()]).toEqual([400, []])
  })

  test('the account page shows a token after a sign-in', async () => {
    const page = await ask(`${REALM}/account`)
    const done = await signIn(page)
    const { pathname, search } = new URL(done.headers.get('location')!)
    expect(pathname).toBe(`${REALM}/account`)
    const shown = await ask(pathname + search, { headers: { cookie: cookieOf(done) } })
    expect(shown.text).toContain('Signed in as ann')
    expect(shown.text).toContain('Authorization: Bearer ey')
    // The code in the address is worthless.
    const fields = {
      client_id: 'account-console',
      client_secret: '',
      redirect_uri: `${provider.url.origin}${REALM}/account`,
    }
    expect((await exchange(codeIn(done).get('code')!, fields)).status).toBe(400)
  })

  test('names in pages are text', async () => {
    await asAdmin('POST', '/admin/realms/shop/clients', {
      clientId: 'evil',
      name: '<script>alert(1)</script>',
      redirectUris: ['*'],
    })
    const { text } = await ask(authorizationPath({ client_id: 'evil' }))
    expect(text).toContain('&#60;script&#62;')
    expect(text).not.toContain('<script>')
  })
})

describe('administration', () => {
  test('only an administrator of the realm master may', async () => {
    const { body } = await token(PASSWORD)
    const path = '/admin/realms/shop/users'
    const refused = (value: string) => ask(path, { headers: { authorization: `Bearer ${value}` } })
    expect((await refused(body.access_token)).status).toBe(401)
    expect((await refused('x')).status).toBe(401)
    await asAdmin('POST', '/admin/realms/master/users', {
      username: 'guest',
      enabled: true,
      credentials: [{ type: 'password', value: 'guest' }],
    })
    const guest = await form('/realms/master/protocol/openid-connect/token', {
      client_id: 'admin-cli',
      grant_type: 'password',
      username: 'guest',
      password: 'guest',
    })
    expect((await refused(guest.body.access_token)).status).toBe(403)
  })

  test('users are created, changed and removed', async () => {
    const users = '/admin/realms/shop/users'
    const created = await asAdmin('POST', users, { username: 'Dora', enabled: true, email: 'd@example.com' })
    const path = new URL(created.headers.get('location')!).pathname
    expect((await asAdmin('POST', users, { username: 'dora' })).status).toBe(409)
    expect((await asAdmin('POST', users, { username: 'other', email: 'd@example.com' })).status).toBe(409)
    await asAdmin('PUT', path, { attributes: { group: ['a'] }, firstName: 'D' })
    const { body, text } = await asAdmin('GET', path)
    expect(body).toMatchObject({ username: 'dora', firstName: 'D', enabled: true, attributes: { group: ['a'] } })
    expect(text).not.toContain('scrypt')
    const dora = { grant_type: 'password', username: 'dora', password: 'dora' }
    await asAdmin('PUT', `${path}/reset-password`, { type: 'password', value: 'dora', temporary: true })
    expect((await token(dora)).status).toBe(401)
    await asAdmin('PUT', `${path}/reset-password`, { type: 'password', value: 'dora', temporary: false })
    const { body: tokens } = await token(dora)
    await asAdmin('PUT', path, { enabled: false })
    expect((await token(dora)).status).toBe(401)
    await asAdmin('PUT', path, { enabled: true })
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect((await token(refresh)).status).toBe(400)
    await asAdmin('DELETE', path)
    expect((await asAdmin('GET', path)).status).toBe(404)
  })

  test.each([
    [{}, 'client_secret_basic', true],
    [{ token_endpoint_auth_method: 'client_secret_post', client_name: 'Shop' }, 'client_secret_post', true],
    [{ token_endpoint_auth_method: 'none' }, 'none', false],
  ])('a client registers itself with %j', async (members, method, hasSecret) => {
    const body = JSON.stringify({ redirect_uris: [CALLBACK], ...members })
    const headers = { 'content-type': 'application/json' }
    const made = await ask(`${REALM}/clients-registrations/openid-connect`, { method: 'POST', headers, body })
    expect(made.body).toMatchObject({ token_endpoint_auth_method: method, redirect_uris: [CALLBACK] })
    expect([made.status, made.body.client_name, 'client_secret' in made.body]).toEqual([
      201,
      (members as { client_name?: string }).client_name,
      hasSecret,
    ])
    const found = await asAdmin('GET', `/admin/realms/shop/clients?clientId=${made.body.client_id}`)
    expect(found.body).toHaveLength(1)
    expect([found.body[0].name, found.body[0].publicClient]).toEqual([made.body.client_name, !hasSecret])
    const json = JSON.stringify({ clientId: `named ${method}`, name: 'Name', redirectUris: [CALLBACK] })
    const named = await ask(`${REALM}/clients-registrations/default`, { method: 'POST', headers, body: json })
    expect(named.body).toMatchObject({ clientId: `named ${method}`, name: 'Name', redirectUris: [CALLBACK] })
  })

  test('realms are created', async () => {
    expect((await asAdmin('POST', '/admin/realms', { realm: 'a/b' })).status).toBe(400)
    expect((await asAdmin('POST', '/admin/realms', { realm: 'shop' })).status).toBe(409)
    expect((await asAdmin('GET', '/admin/realms/none')).status).toBe(404)
    expect((await ask('/realms/none/.well-known/openid-configuration')).status).toBe(404)
  })

  test.each([
    ['POST', '/admin/realms/shop/users', '[]', 400],
    ['POST', '/admin/realms/shop/users', '{"username":7}', 400],
    ['POST', '/admin/realms/shop/users', '{"username":"x","attributes":{"a":[1]}}', 400],
    ['POST', '/admin/realms/shop/users', '{', 400],
    ['POST', '/admin/realms/shop/clients-initial-access', '{"count":-1}', 400],
    ['POST', '/admin/realms/shop/components', '{"providerType":"x"}', 400],
    ['PATCH', '/admin/realms/shop/users', '{}', 405],
    ['POST', '/admin/realms/shop/nothing', '{}', 404],
    ['POST', '/admin/realms/shop/users', `{"username":"${'x'.repeat(300_000)}"}`, 413],
  ])('%s %s with a body that it does not take', async (method, path, body, status) => {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' }
    expect((await ask(path, { method, headers, body })).status).toBe(status)
  })
})

test('anybody registers clients only until there are 200 of them; a realm has at most 10,000', async () => {
  const other = await startTestProvider()
  await setUp(setupOptions(other.url), other.send, () => {})
  const realm = other.state.realm('shop')!
  const path = `${REALM}/clients-registrations/default`
  const register = (json: object, initial?: string) =>
    other.send({ method: 'POST', path, json, ...(initial === undefined ? {} : { token: initial }) })
  const fill = (count: number) => {
    while (realm.clients.size < count) {
      const filler = createClient({ clientId: `c${realm.clients.size}` })
      realm.clients.set(filler.id, filler)
    }
  }
  fill(199)
  expect((await register({ clientId: 'last' })).status).toBe(201)
  expect((await register({ clientId: 'late' })).status).toBe(403)
  const { json } = await other.send({
    method: 'POST',
    path: '/realms/master/protocol/openid-connect/token',
    form: { client_id: 'admin-cli', grant_type: 'password', ...ADMIN },
  })
  const made = await other.send({
    method: 'POST',
    path: '/admin/realms/shop/clients-initial-access',
    token: (json as { access_token: string }).access_token,
    json: { count: 2 },
  })
  const initial = (made.json as { token: string }).token
  expect((await register({ clientId: 'invited' }, initial)).status).toBe(201)
  fill(10_000)
  expect((await register({ clientId: 'too-many' }, initial)).status).toBe(400)
  await other.close()
})

describe('state', () => {
  test('outlives the process', async () => {
    const files = new Map(provider.files)
    const second = await startTestProvider(files)
    const { status } = await second.send({
      method: 'POST',
      path: `${OPENID}/token`,
      form: { ...PASSWORD, client_id: client.clientId, client_secret: client.secret },
    })
    await second.close()
    expect(status).toBe(200)
    expect(files.get('idp.json')).not.toContain('ann-password')
  })

  test.each(['{', '{"version":2}', '{"version":1,"realms":[{}]}', '7'])('%s cannot be read', async (text) => {
    const files = { read: () => text, write: () => {} }
    await expect(ProviderState.open(files)).rejects.toThrow(ProviderStateUnusable)
  })
})
