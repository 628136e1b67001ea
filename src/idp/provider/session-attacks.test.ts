import { describe, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { answerOf, CALLBACK, OPENID, openClient, PASSWORD, REALM } from './testing/open-client.ts'

const { provider, client, ask, form, asAdmin, token, authorizationPath, signIn, exchange, refresh } = await openClient()
const { now } = clock

describe('a stolen code or token', () => {
  test('a code that is used twice ends the session of whoever used it first', async () => {
    const { code, cookie } = await signIn()
    const first = await exchange(code)
    expect(first.status).toBe(200)
    expect((await exchange(code)).json.error).toBe('invalid_grant')
    expect((await refresh(first.json.refresh_token)).json.error).toBe('invalid_grant')
    const again = await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })
    expect(answerOf(again).get('error')).toBe('login_required')
  })

  test('a refresh token that is used twice ends the session', async () => {
    const { json } = await token(PASSWORD)
    const thief = await refresh(json.refresh_token)
    expect(thief.status).toBe(200)
    expect((await refresh(json.refresh_token)).json.error).toBe('invalid_grant')
    expect((await refresh(thief.json.refresh_token)).json.error).toBe('invalid_grant')
  })

  test('another session of the user goes on', async () => {
    const [one, other] = [await token(PASSWORD), await token(PASSWORD)]
    await refresh(one.json.refresh_token)
    await refresh(one.json.refresh_token)
    expect((await refresh(other.json.refresh_token)).status).toBe(200)
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
    expect((await exchange(code, thief)).json.error).toBe('invalid_grant')
    const { json } = await token(PASSWORD)
    const stolen = { grant_type: 'refresh_token', refresh_token: json.refresh_token }
    expect((await token({ ...stolen, ...thief })).json.error).toBe('invalid_grant')
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
    expect((await exchange(code)).json.error).toBe('invalid_grant')
    const silent = () => ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })
    expect(answerOf(await silent()).has('code')).toBe(true)
    clock.now = () => now() + 1_800_000
    expect((await refresh(json.refresh_token)).json.error).toBe('invalid_grant')
    expect(answerOf(await silent()).get('error')).toBe('login_required')
  })

  test('a new password ends the sessions of a user, and the codes that were issued before', async () => {
    const { code } = await signIn()
    const users = await asAdmin('GET', '/admin/realms/shop/users?username=ann&exact=true')
    const path = `/admin/realms/shop/users/${users.json[0].id}/reset-password`
    await asAdmin('PUT', path, { type: 'password', value: 'ann-password' })
    expect((await exchange(code)).json.error).toBe('invalid_grant')
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
    expect([answer.get('error'), answer.get('state')]).toEqual([error, 'a&b'])
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
    const fields = new URLSearchParams({ client_id: client.clientId, client_secret: client.secret, ...PASSWORD })
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
    expect(json).toMatchObject({
      authorization_response_iss_parameter_supported: true,
      issuer: answer.get('iss'),
      claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'name', 'preferred_username', 'email'],
    })
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
    const { json } = await exchange(code)
    const foreign = await ask(`${OPENID}/logout?id_token_hint=${json.access_token}`, { headers: { cookie } })
    expect(foreign.text, 'an access token is no id token').toContain('Do you want to sign out?')
    expect(await isSignedIn(cookie)).toBe(true)
    const done = await form(`${OPENID}/logout`, {}, { cookie })
    expect([done.status, await isSignedIn(cookie)]).toEqual([200, false])
    expect((await refresh(json.refresh_token)).status).toBe(400)
  })

  test('an id token names the session, also when it has expired; only then is the browser sent back', async () => {
    const { cookie, code } = await signIn()
    const { json } = await exchange(code)
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
    const [one, two] = [await exchange(code), await exchange(second)]
    await form(`${OPENID}/logout`, { refresh_token: one.json.refresh_token })
    expect((await refresh(two.json.refresh_token)).status).toBe(400)
    expect(await isSignedIn(cookie)).toBe(false)
  })
})
