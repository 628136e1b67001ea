import { describe, expect, test } from 'vitest'
import { actionOf, answerOf, CALLBACK, cookieOf, OPENID, openClient, REALM } from './testing/open-client.ts'

const { provider, ask, form, asAdmin, token, authorizationPath, sendForm, exchange, refresh } = await openClient()

describe('the code flow', () => {
  test('a user signs in, and the client gets tokens, once', async () => {
    const page = await ask(authorizationPath())
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    ])
    const wrong = await sendForm(page, 'wrong')
    expect([wrong.status, wrong.text]).toEqual([200, expect.stringContaining('Invalid user name or password')])
    const done = await sendForm(wrong)
    expect([done.status, done.headers.get('location')]).toEqual([302, expect.stringContaining(`${CALLBACK}?code=`)])
    expect(answerOf(done).get('state')).toBe('a&b')
    const code = answerOf(done).get('code')!
    const { status, json } = await exchange(code)
    expect(status).toBe(200)
    const claims = JSON.parse(Buffer.from(json.id_token.split('.')[1], 'base64url').toString())
    expect([claims.nonce, claims.group, typeof claims.auth_time]).toEqual(['n', 'makers', 'number'])

    // The browser stays signed in until the user signs out.
    const cookie = cookieOf(done)
    const again = await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })
    expect([again.status, answerOf(again).has('code')]).toEqual([302, true])
    const back = new URLSearchParams({ id_token_hint: json.id_token, post_logout_redirect_uri: CALLBACK, state: 's' })
    const out = await ask(`${OPENID}/logout?${back}`, { headers: { cookie } })
    expect([out.status, out.headers.get('location')]).toEqual([302, `${CALLBACK}?state=s`])
    const after = await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie } })
    expect(answerOf(after).get('error')).toBe('login_required')
  })

  test.each([
    ['a wrong verifier', { code_verifier: 'w'.repeat(43) }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect URI', { redirect_uri: `${CALLBACK}2` }],
  ])('a code with %s is refused, and is used up', async (_, fields) => {
    const code = answerOf(await sendForm(await ask(authorizationPath()))).get('code')!
    expect((await exchange(code, fields)).json.error).toBe('invalid_grant')
    expect((await exchange(code)).json.error).toBe('invalid_grant')
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
    expect(answerOf(await ask(authorizationPath(changes))).get('error')).toBe(error)
  })

  test('a public client must use PKCE', async () => {
    const body = JSON.stringify({ redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' })
    const registered = await ask(`${REALM}/clients-registrations/openid-connect`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect([registered.status, registered.json.client_secret]).toEqual([201, undefined])
    const changes = { client_id: registered.json.client_id, code_challenge: '', code_challenge_method: '' }
    expect(answerOf(await ask(authorizationPath(changes))).get('error_description')).toContain('code_challenge')
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
    const done = await sendForm(page)
    const { json } = await exchange(answerOf(done).get('code')!, { client_id: `out ${_}`, client_secret: 's' })
    const fields = fieldsOf(json.id_token)
    const out = await ask(`${OPENID}/logout?${new URLSearchParams(fields)}`, { headers: { cookie: cookieOf(done) } })
    expect([out.status, out.headers.get('location'), out.text.includes('You are signed out.')]).toEqual([
      200,
      null,
      true,
    ])
  })

  test('a sign-out ends the session everywhere: in the browser and for the refresh tokens of its clients', async () => {
    const done = await sendForm(await ask(authorizationPath()))
    const { json } = await exchange(answerOf(done).get('code')!)
    const hint = new URLSearchParams({ id_token_hint: json.id_token })
    await ask(`${OPENID}/logout?${hint}`, { headers: { cookie: cookieOf(done) } })
    expect((await refresh(json.refresh_token)).json.error).toBe('invalid_grant')

    const second = await sendForm(await ask(authorizationPath()))
    const tokens = (await exchange(answerOf(second).get('code')!)).json
    await form(`${OPENID}/logout`, { refresh_token: tokens.refresh_token })
    const after = await ask(authorizationPath({ prompt: 'none' }), { headers: { cookie: cookieOf(second) } })
    expect(answerOf(after).get('error')).toBe('login_required')
  })

  test('a page that has expired, or was used, signs nobody in', async () => {
    const page = await ask(authorizationPath())
    expect((await sendForm(page)).status).toBe(302)
    const again = await sendForm(page)
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('The page has expired')])
  })

  test('a client without the code flow signs nobody in; without a state there is none in the answer', async () => {
    await asAdmin('POST', '/admin/realms/shop/clients', {
      clientId: 'service',
      secret: 's',
      redirectUris: [CALLBACK],
      standardFlowEnabled: false,
    })
    const refused = answerOf(await ask(authorizationPath({ client_id: 'service', state: '' })))
    expect([refused.get('error'), refused.has('state')]).toEqual(['unauthorized_client', false])
  })

  test('a confidential client may do without PKCE', async () => {
    const changes = { code_challenge: '', code_challenge_method: '' }
    const done = await sendForm(await ask(authorizationPath(changes)))
    const fields = { grant_type: 'authorization_code', code: answerOf(done).get('code')!, redirect_uri: CALLBACK }
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
      return (await ask(`${REALM}/clients-registrations/openid-connect`, options)).json
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
    const codes = [answerOf(await sendForm(await ask(path))), answerOf(await sendForm(await ask(path)))]
    expect(codes.map((answer) => answer.has('state'))).toEqual([false, false])
    const [one, two] = codes.map((answer) => answer.get('code')!) as [string, string]
    expect((await exchange(one)).json.error).toBe('invalid_grant')
    const fields = { grant_type: 'authorization_code', code: two, redirect_uri: CALLBACK }
    expect((await token(fields)).status).toBe(200)
  })

  test('a client that may not sign users in, and one without a name', async () => {
    const json = { clientId: 'service', redirectUris: [CALLBACK], standardFlowEnabled: false }
    await asAdmin('POST', '/admin/realms/shop/clients', json)
    expect(answerOf(await ask(authorizationPath({ client_id: 'service' }))).get('error')).toBe('unauthorized_client')
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
    const other = await sendForm(page, 'ann-password', 'idp_browser=other')
    expect([other.status, other.headers.getSetCookie()]).toEqual([400, []])
  })

  test('the account page shows a token after a sign-in', async () => {
    const page = await ask(`${REALM}/account`)
    const done = await sendForm(page)
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
    expect((await exchange(answerOf(done).get('code')!, fields)).status).toBe(400)
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
