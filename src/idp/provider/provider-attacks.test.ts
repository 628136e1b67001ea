import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { setUp } from '../setup/set-up.ts'
import { ADMIN, setupOptions, startTestProvider } from './testing.ts'

let provider: Awaited<ReturnType<typeof startTestProvider>>
let client: { readonly clientId: string; readonly secret: string; readonly uuid: string }
let admin: string

const REALM = '/realms/shop'
const OPENID = `${REALM}/protocol/openid-connect`
const CALLBACK = 'http://127.0.0.1:9/callback'
const VERIFIER = 'v'.repeat(43)
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
const JSON_BODY = { 'content-type': 'application/json' }
const { now } = clock

beforeAll(async () => {
  provider = await startTestProvider()
  ;({ client } = await setUp(setupOptions(provider.url), provider.send, () => {}))
  const cli = { client_id: 'admin-cli', grant_type: 'password', ...ADMIN }
  admin = (await form('/realms/master/protocol/openid-connect/token', cli)).json.access_token
})
afterEach(() => {
  clock.now = now
  expect(provider.bugs).toEqual([])
})
afterAll(() => provider.close())

interface Seen {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of all endpoints
  readonly json: any
  readonly text: string
  readonly headers: Headers
}

async function ask(path: string, options: RequestInit = {}): Promise<Seen> {
  const response = await fetch(new URL(path, provider.url), { redirect: 'manual', ...options })
  const body = await response.text()
  const isJson = body !== '' && response.headers.get('content-type') === 'application/json'
  return { status: response.status, json: isJson ? JSON.parse(body) : undefined, text: body, headers: response.headers }
}

function form(
  path: string,
  fields: ConstructorParameters<typeof URLSearchParams>[0],
  headers: Record<string, string> = {},
) {
  return ask(path, { method: 'POST', body: new URLSearchParams(fields), headers })
}

const asAdmin = (method: string, path: string, json?: unknown) =>
  ask(path, {
    method,
    headers: { authorization: `Bearer ${admin}`, ...JSON_BODY },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })

const own = () => ({ client_id: client.clientId, client_secret: client.secret })
const token = (fields: Record<string, string>) => form(`${OPENID}/token`, { ...own(), ...fields })
const PASSWORD = { grant_type: 'password', username: 'ann', password: 'ann-password', scope: 'openid' }
const refreshed = (refreshToken: string) => token({ grant_type: 'refresh_token', refresh_token: refreshToken })
const codeGrant = (code: string) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: CALLBACK,
  code_verifier: VERIFIER,
})

function authorizationPath(changes: Record<string, string> = {}): string {
  const fields = {
    client_id: client.clientId,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
    state: 's',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  }
  return `${OPENID}/auth?${new URLSearchParams({ ...fields, ...changes })}`
}

const cookieOf = ({ headers }: Seen) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0]!)
    .join('; ')
const answerOf = ({ headers }: Seen) => new URL(headers.get('location')!).searchParams

async function signIn(path = authorizationPath()) {
  const page = await ask(path)
  const action = /action="(?<action>[^"]+)"/.exec(page.text)!.groups!.action!
  const done = await form(action, { username: 'ann', password: 'ann-password' }, { cookie: cookieOf(page) })
  return { code: answerOf(done).get('code')!, cookie: cookieOf(done), answer: answerOf(done) }
}

/** What the provider answers to bytes. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(Number(provider.url.port), '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}

describe('a stolen code or token', () => {
  test('a code that is used twice ends the session of whoever used it first', async () => {
    const { code, cookie } = await signIn()
    const first = await token(codeGrant(code))
    expect(first.status).toBe(200)
    expect((await token(codeGrant(code))).json.error).toBe('invalid_grant')
    expect((await refreshed(first.json.refresh_token)).json.error).toBe('invalid_grant')
    const again = await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })
    expect(answerOf(again).get('error')).toBe('login_required')
  })

  test('a refresh token that is used twice ends the session', async () => {
    const { json } = await token(PASSWORD)
    const thief = await refreshed(json.refresh_token)
    expect(thief.status).toBe(200)
    expect((await refreshed(json.refresh_token)).json.error).toBe('invalid_grant')
    expect((await refreshed(thief.json.refresh_token)).json.error).toBe('invalid_grant')
  })

  test('another session of the user goes on', async () => {
    const [one, other] = [await token(PASSWORD), await token(PASSWORD)]
    await refreshed(one.json.refresh_token)
    await refreshed(one.json.refresh_token)
    expect((await refreshed(other.json.refresh_token)).status).toBe(200)
  })

  test('a code and a refresh token are of one client and one realm', async () => {
    await asAdmin('POST', '/admin/realms/shop/clients', {
      clientId: 'thief',
      secret: 'thief',
      redirectUris: ['*'],
      directAccessGrantsEnabled: true,
    })
    const { code } = await signIn()
    const thief = { client_id: 'thief', client_secret: 'thief' }
    expect((await token({ ...codeGrant(code), ...thief })).json.error).toBe('invalid_grant')
    const { json } = await token(PASSWORD)
    const refresh = { grant_type: 'refresh_token', refresh_token: json.refresh_token }
    expect((await token({ ...refresh, ...thief })).json.error).toBe('invalid_grant')
    const other = await token(PASSWORD)
    const elsewhere = await form('/realms/master/protocol/openid-connect/token', {
      client_id: 'admin-cli',
      grant_type: 'refresh_token',
      refresh_token: other.json.refresh_token,
    })
    expect(elsewhere.json.error).toBe('invalid_grant')
  })

  test('a code, a refresh token and a session end with their time', async () => {
    const [{ code, cookie }, { json }] = [await signIn(), await token(PASSWORD)]
    clock.now = () => now() + 60_000
    expect((await token(codeGrant(code))).json.error).toBe('invalid_grant')
    const silent = () => ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })
    expect(answerOf(await silent()).has('code')).toBe(true)
    clock.now = () => now() + 1_800_000
    expect((await refreshed(json.refresh_token)).json.error).toBe('invalid_grant')
    expect(answerOf(await silent()).get('error')).toBe('login_required')
  })

  test('a new password ends the sessions of a user, and the codes that were issued before', async () => {
    const { code } = await signIn()
    const users = await asAdmin('GET', '/admin/realms/shop/users?username=ann&exact=true')
    const path = `/admin/realms/shop/users/${users.json[0].id}/reset-password`
    await asAdmin('PUT', path, { type: 'password', value: 'ann-password' })
    expect((await token(codeGrant(code))).json.error).toBe('invalid_grant')
  })
})

describe('authorization requests', () => {
  test.each([
    ['a response mode that would be ignored', { response_mode: 'fragment' }, 'invalid_request'],
    ['a form as response', { response_mode: 'form_post' }, 'invalid_request'],
    ['a request object', { request: 'x' }, 'request_not_supported'],
    ['the URI of a request object', { request_uri: 'http://127.0.0.1:9/' }, 'request_uri_not_supported'],
    ['an age that is no number', { max_age: '-1' }, 'invalid_request'],
    ['a challenge without its method', { code_challenge_method: '' }, 'invalid_request'],
  ])('%s is an error', async (_, changes, error) => {
    const answer = answerOf(await ask(authorizationPath(changes)))
    expect([answer.get('error'), answer.get('state')]).toEqual([error, 's'])
  })

  test('no parameter may be there twice', async () => {
    const twice = async (addition: string) => ask(`${authorizationPath()}&${addition}`)
    for (const name of ['redirect_uri', 'client_id']) {
      const { status, headers } = await twice(`${name}=x`)
      expect([status, headers.get('location')]).toEqual([400, null])
    }
    expect(answerOf(await twice('code_challenge=x')).get('error')).toBe('invalid_request')
    const two = 'resource=http%3A%2F%2Fa%2F&resource=http%3A%2F%2Fb%2F'
    expect((await twice(two)).status).toBe(200)
    const fields = new URLSearchParams({ ...own(), ...PASSWORD })
    fields.append('username', 'ben')
    expect((await form(`${OPENID}/token`, fields)).json.error).toBe('invalid_request')
  })

  test('a user who signed in too long ago signs in again', async () => {
    const { cookie } = await signIn()
    const silent = async (age: string) =>
      answerOf(await ask(authorizationPath({ prompt: 'none', max_age: age }), { headers: { cookie } }))
    clock.now = () => now() + 20_000
    expect((await silent('10')).get('error')).toBe('login_required')
    expect((await silent('60')).has('code')).toBe(true)
    const page = await ask(authorizationPath({ prompt: 'login' }), { headers: { cookie } })
    expect(page.text).toContain('name="password"')
  })

  test('answers name the provider', async () => {
    const { answer } = await signIn()
    expect(answer.get('iss')).toBe(new URL(REALM, provider.url).href)
    const { json } = await ask(`${REALM}/.well-known/openid-configuration`)
    expect(json).toMatchObject({ authorization_response_iss_parameter_supported: true, issuer: answer.get('iss') })
  })

  test('cookies are for one realm, no scripts, and not for other sites; a browser cannot choose them', async () => {
    const page = await ask(authorizationPath(), { headers: { cookie: 'idp_browser=chosen' } })
    const [cookie = ''] = page.headers.getSetCookie()
    expect(cookie).toMatch(/^idp_browser=[\w-]{22}; Path=\/realms\/shop\/; HttpOnly; SameSite=Lax$/)
  })

  test('scripts of other origins cannot read pages, and no page can frame them', async () => {
    const { headers } = await ask(authorizationPath())
    expect(headers.get('access-control-allow-origin')).toBe(null)
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect((await ask(`${OPENID}/certs`)).headers.get('access-control-allow-origin')).toBe('*')
  })

  test('a session of one realm is none of another', async () => {
    const { cookie } = await signIn()
    await asAdmin('POST', '/admin/realms', { realm: 'other' })
    const page = await ask('/realms/other/account', { headers: { cookie } })
    expect(page.text).toContain('name="password"')
  })
})

describe('sign-out', () => {
  const isSignedIn = async (cookie: string) =>
    answerOf(await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })).has('code')

  test('a link to it asks the user first', async () => {
    const { cookie, code } = await signIn()
    const page = await ask(`${OPENID}/logout?state=%22%3E%3Cscript%3E`, { headers: { cookie } })
    expect(page.text).toContain('Do you want to sign out?')
    expect(page.text).not.toContain('<script>')
    const { json } = await token(codeGrant(code))
    const foreign = await ask(`${OPENID}/logout?id_token_hint=${json.access_token}`, { headers: { cookie } })
    expect(foreign.text, 'an access token is no id token').toContain('Do you want to sign out?')
    expect(await isSignedIn(cookie)).toBe(true)
    const done = await form(`${OPENID}/logout`, {}, { cookie })
    expect([done.status, await isSignedIn(cookie)]).toEqual([200, false])
    expect((await refreshed(json.refresh_token)).status).toBe(400)
  })

  test('an id token names the session, also when it has expired; only then is the browser sent back', async () => {
    const { cookie, code } = await signIn()
    const { json } = await token(codeGrant(code))
    const out = (hint: string) =>
      form(`${OPENID}/logout`, { id_token_hint: hint, post_logout_redirect_uri: CALLBACK, state: 's' })
    expect((await out('x')).status).toBe(200)
    expect((await out(json.access_token)).status).toBe(200)
    expect(await isSignedIn(cookie)).toBe(true)
    clock.now = () => now() + 400_000
    const back = await out(json.id_token)
    expect([back.status, back.headers.get('location')]).toEqual([302, `${CALLBACK}?state=s`])
    expect(await isSignedIn(cookie)).toBe(false)
  })

  test('a refresh token ends its whole session', async () => {
    const { cookie, code } = await signIn()
    const second = answerOf(await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })).get('code')!
    const [one, two] = [await token(codeGrant(code)), await token(codeGrant(second))]
    await form(`${OPENID}/logout`, { refresh_token: one.json.refresh_token })
    expect((await refreshed(two.json.refresh_token)).status).toBe(400)
    expect(await isSignedIn(cookie)).toBe(false)
  })
})

describe('authentication of clients', () => {
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  })
  const GRANT = { grant_type: 'client_credentials' }

  test('in the header, it may be repeated by name, but not with another name or a secret', async () => {
    const right = basic(client.clientId, client.secret)
    expect((await form(`${OPENID}/token`, { ...GRANT, client_id: client.clientId }, right)).status).toBe(200)
    for (const more of [{ client_id: 'thief' }, { client_secret: client.secret }, { client_secret: '' }]) {
      const { status, json } = await form(`${OPENID}/token`, { ...GRANT, ...more }, right)
      expect([status, json.error]).toEqual([400, 'invalid_request'])
    }
  })

  test.each([
    ['a wrong secret', () => basic(client.clientId, 'x')],
    ['no secret', () => basic(client.clientId, '')],
    ['no colon', () => ({ authorization: `Basic ${Buffer.from(client.clientId).toString('base64')}` })],
    ['a wrong encoding', () => basic(client.clientId, '%')],
    ['no base64', () => ({ authorization: 'Basic !' })],
    ['nothing', () => ({ authorization: 'Basic' })],
  ])('a header with %s is refused, whatever the form says', async (_, headers) => {
    const seen = await form(`${OPENID}/token`, GRANT, headers())
    expect([seen.status, seen.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="clients"'])
    expect((await form(`${OPENID}/token`, { ...GRANT, ...own() }, headers())).status).not.toBe(200)
  })

  test.each([
    ['', 'x'],
    ['', ''],
    ['account-console', ''],
    ['__proto__', ''],
    ['constructor', ''],
  ])('client %j gets nothing for itself', async (id, secret) => {
    expect((await token({ ...GRANT, client_id: id, client_secret: secret })).status).toBe(401)
  })

  test('no client has an empty secret or an empty name', async () => {
    const clients = '/admin/realms/shop/clients'
    expect((await asAdmin('POST', clients, { clientId: 'open', secret: '' })).status).toBe(400)
    expect((await asAdmin('PUT', `${clients}/${client.uuid}`, { clientId: '' })).status).toBe(400)
  })
})

describe('tokens of others', () => {
  const userinfo = (value: string) => ask(`${OPENID}/userinfo`, { headers: { authorization: `Bearer ${value}` } })

  test('only access tokens that the realm has signed with RS256 are accepted', async () => {
    const { json } = await token(PASSWORD)
    expect((await userinfo(json.access_token)).status).toBe(200)
    const [header = '', payload = '', signature = ''] = json.access_token.split('.')
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const publicKey = provider.state.realm('shop')!.keys.find((key) => key.kid === kid)!.publicKey
    const asSecret = Buffer.from(publicKey.export({ format: 'pem', type: 'spki' }))
    const own256 = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(asSecret)
    const unsigned = part({ alg: 'none', kid })
    const encryption = provider.state.realm('shop')!.keys.find(({ use }) => use === 'enc')!
    const withOther = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: encryption.kid })
      .sign(encryption.privateKey)
    const { privateKey } = provider.state.realm('shop')!.keys.find((key) => key.kid === kid)!
    const signed = (changes: object, key: object = { kid }) =>
      new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'RS256', ...key }).sign(privateKey)
    const foreign = [
      json.id_token,
      admin,
      `${unsigned}.${payload}.`,
      `${unsigned}.${payload}.${signature}`,
      own256,
      withOther,
      `${header}.${part({ ...claims, sub: 'other' })}.${signature}`,
      await signed({}, {}),
      await signed({}, { kid: '../../dev/null' }),
      await signed({}, { kid: '__proto__' }),
      await signed({ nbf: claims.iat + 100 }),
      await signed({ exp: claims.iat - 1 }),
      await signed({ iss: `${claims.iss}x` }),
      await signed({ typ: 'InitialAccessToken' }),
      await signed({ sub: '__proto__' }),
    ]
    for (const value of foreign) expect((await userinfo(value)).status, value).toBe(401)
    expect((await userinfo(await signed({}))).status, 'the table above is not refused for another reason').toBe(200)
    clock.now = () => now() + 301_000
    expect((await userinfo(json.access_token)).status).toBe(401)
  })

  test('each endpoint of the admin API needs an administrator', async () => {
    const { json } = await token(PASSWORD)
    const root = '/admin/realms/shop'
    const endpoints = [
      ['POST', '/admin/realms'],
      ['GET', root],
      ['POST', `${root}/clients-initial-access`],
      ...['clients', 'users', 'components'].flatMap((kind) => [
        ['GET', `${root}/${kind}`],
        ['POST', `${root}/${kind}`],
        ['DELETE', `${root}/${kind}/x`],
      ]),
      ['GET', `${root}/clients/${client.uuid}/client-secret`],
      ['GET', `${root}/clients/${client.uuid}/protocol-mappers/models`],
      ['PUT', `${root}/users/x/reset-password`],
      ['GET', `${root}/keys`],
      ['HEAD', `${root}/keys`],
    ] as const
    for (const [method, path] of endpoints) {
      for (const headers of [{}, { authorization: `Bearer ${json.access_token}` }, { authorization: 'Basic YTpi' }]) {
        expect((await ask(path!, { method: method!, headers })).status, `${method} ${path}`).toBe(401)
      }
    }
  })

  test('mappers do not replace the claims on which others rely; names of properties are no attributes', async () => {
    const mapper = (name: string, attribute: string) => ({
      name: `${name}-${attribute}`,
      protocolMapper: 'oidc-usermodel-attribute-mapper',
      config: { 'claim.name': name, 'user.attribute': attribute, 'access.token.claim': 'true', 'id.token.claim': true },
    })
    const path = `/admin/realms/shop/clients/${client.uuid}/protocol-mappers/models`
    const names = ['sub', 'iss', 'aud', 'typ', 'azp', 'exp', 'sid', 'realm_access', '__proto__']
    for (const name of names) expect((await asAdmin('POST', path, mapper(name, 'group'))).status).toBe(201)
    for (const attribute of ['__proto__', 'constructor', 'toString']) {
      expect((await asAdmin('POST', path, mapper('extra', attribute))).status).toBe(201)
    }
    const { status, json } = await token(PASSWORD)
    expect(status).toBe(200)
    for (const value of [json.access_token, json.id_token]) {
      const claims = JSON.parse(Buffer.from(value.split('.')[1], 'base64url').toString())
      for (const name of names.slice(0, -1)) expect(claims[name], name).not.toBe('makers')
      expect([claims.extra, claims.group]).toEqual([undefined, 'makers'])
    }
    for (const config of ['text', [], { a: {} }, { a: [1] }]) {
      const bad = { name: 'bad', protocolMapper: 'x', config }
      expect((await asAdmin('POST', path, bad)).status, JSON.stringify(config)).toBe(400)
    }
    for (const attributes of ['text', [], 7]) {
      const bad = { username: 'bad', attributes }
      expect((await asAdmin('POST', '/admin/realms/shop/users', bad)).status).toBe(400)
    }
  })
})

describe('registration', () => {
  const register = (json: object, headers: Record<string, string> = {}, realm = 'shop') =>
    ask(`/realms/${realm}/clients-registrations/openid-connect`, {
      method: 'POST',
      headers: { ...JSON_BODY, ...headers },
      body: JSON.stringify(json),
    })

  test.each([
    [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['callback'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [`${CALLBACK}#a`] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_client_metadata'],
    [{ redirect_uris: [CALLBACK], token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    [{ redirect_uris: [7] }, 'invalid_request'],
  ])('%j is refused', async (json, error) => {
    const seen = await register(json)
    expect([seen.status, seen.json.error]).toEqual([400, error])
  })

  test('before step 9, no header makes a host known', async () => {
    await asAdmin('POST', '/admin/realms', { realm: 'closed' })
    const forged = {
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': 'localhost',
      forwarded: 'for=127.0.0.1',
      origin: 'http://localhost',
    }
    expect((await register({ redirect_uris: [CALLBACK] }, forged, 'closed')).status).toBe(403)
    const made = await asAdmin('POST', '/admin/realms/shop/clients-initial-access', { count: 1 })
    const foreign = { authorization: `Bearer ${made.json.token}` }
    expect((await register({ redirect_uris: [CALLBACK] }, foreign, 'closed')).status).toBe(401)
    expect((await register({ redirect_uris: [CALLBACK] }, { authorization: `Bearer ${admin}` }, 'closed')).status).toBe(
      401,
    )
  })

  test('an initial access token is used as often as it says, also at the same time, and not after its end', async () => {
    const made = await asAdmin('POST', '/admin/realms/shop/clients-initial-access', { count: 2 })
    const headers = { authorization: `Bearer ${made.json.token}` }
    const all = await Promise.all(Array.from({ length: 8 }, () => register({ redirect_uris: [CALLBACK] }, headers)))
    expect(all.map(({ status }) => status).sort()).toEqual([201, 201, 401, 401, 401, 401, 401, 401])
    const short = await asAdmin('POST', '/admin/realms/shop/clients-initial-access', { count: 2, expiration: 10 })
    clock.now = () => now() + 11_000
    const late = await register({ redirect_uris: [CALLBACK] }, { authorization: `Bearer ${short.json.token}` })
    expect(late.status).toBe(401)
  })
})

describe('bytes', () => {
  test.each(['a b', 'a/b', 'user@a', 'a?b', 'a#b', '"><script>', 'a:b', '', '[::1', 'a,b'])(
    'the Host %j is refused',
    async (host) => {
      const answer = await raw(`GET ${OPENID}/certs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1.1 400 /)
    },
  )

  test.each(['localhost', 'localhost:8180', '[::1]:8180', 'idp.shop.example'])(
    'the Host %s is in the issuer',
    async (host) => {
      const path = `${REALM}/.well-known/openid-configuration`
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(answer).toContain(`"issuer":"http://${host}${REALM}"`)
    },
  )

  test.each(['..', '.', '...', ''])('a realm cannot have the name %j', async (realm) => {
    expect((await asAdmin('POST', '/admin/realms', { realm })).status).toBe(400)
  })

  test.each(['__proto__', 'constructor', '..%2fmaster', '%2e%2e', '%00', '%', 'shop%2f..%2fmaster'])(
    'there is no realm, client or user %s',
    async (name) => {
      for (const path of [`realms/${name}`, `realms/shop/clients/${name}`, `realms/shop/users/${name}`]) {
        const bytes = `GET /admin/${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${admin}\r\n\r\n`
        expect(await raw(bytes.replace('Host: a', `Host: ${provider.url.host}`))).toMatch(/^HTTP\/1.1 404 /)
      }
    },
  )

  test('a body that is too large is answered before its end', async () => {
    const head = `POST ${OPENID}/token HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n`
    const answer = await raw(head + 'x'.repeat(300_000))
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
  })

  test('large heads and addresses are refused', async () => {
    expect(await raw(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /)
    expect(await raw(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /)
  })

  test('a client that leaves in the middle of a body is not reported as a bug', async () => {
    const socket = connect(Number(provider.url.port), '127.0.0.1')
    socket.write(`POST ${OPENID}/token HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf`)
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.destroy()
    for (let count = 0; count < 3; count += 1) expect((await ask(`${OPENID}/certs`)).status).toBe(200)
  })

  test('deep JSON and many fields are refused or ignored', async () => {
    const post = (body: string) =>
      ask('/admin/realms/shop/users', {
        method: 'POST',
        headers: { authorization: `Bearer ${admin}`, ...JSON_BODY },
        body,
      })
    expect((await post('['.repeat(100_000))).status).toBe(400)
    expect((await post(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).status).toBe(400)
    expect((await form(`${OPENID}/token`, `a=&${'b&'.repeat(50_000)}`)).status).toBe(400)
  })
})
