import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { CALLBACK, JSON_BODY, OPENID, openClient, PASSWORD, REALM } from './testing/open-client.ts'

const { provider, client, admin, ask, form, asAdmin, token, authorizationPath, signIn } = await openClient()
const { now } = clock

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
    expect(
      (await form(`${OPENID}/token`, { ...GRANT, client_id: client.clientId, client_secret: client.secret }, headers()))
        .status,
    ).not.toBe(200)
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

  test('the owner of a registration access token changes the client, but does not get more than a registration gives', async () => {
    const made = (await register({ redirect_uris: [CALLBACK], client_name: 'Agent' })).json
    const path = `${REALM}/clients-registrations/default/${made.client_id}`
    const as = (bearer: string, method = 'GET', json?: object) =>
      ask(path, {
        method,
        headers: { authorization: `Bearer ${bearer}`, ...JSON_BODY },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      })
    const first = made.registration_access_token
    expect((await as(first)).json).toMatchObject({
      name: 'Agent',
      redirectUris: [CALLBACK],
      registrationAccessToken: first,
    })
    expect((await as(first)).text).not.toContain('registrationToken')
    const wanted = {
      clientId: 'other',
      name: 'Changed',
      attributes: { 'exclude.issuer.from.auth.response': 'true' },
      directAccessGrantsEnabled: true,
      serviceAccountsEnabled: true,
    }
    const changed = await as(first, 'PUT', wanted)
    expect([...provider.files.values()].join()).toContain('Changed')
    expect(changed.json).toMatchObject({
      clientId: made.client_id,
      name: 'Changed',
      redirectUris: [CALLBACK],
      attributes: wanted.attributes,
      directAccessGrantsEnabled: false,
      serviceAccountsEnabled: false,
    })
    expect((await as(changed.json.registrationAccessToken)).status).toBe(200)
    const { answer } = await signIn(authorizationPath({ client_id: made.client_id }))
    expect([answer.has('code'), answer.has('iss')]).toEqual([true, false])

    const other = (await register({ redirect_uris: [CALLBACK] })).json.registration_access_token
    for (const bearer of [first, other, '', 'x', admin]) expect((await as(bearer)).status).toBe(401)
    const last = changed.json.registrationAccessToken
    expect((await as(last, 'PUT', { redirectUris: ['javascript:alert(1)'] })).status).toBe(400)
    expect((await as(last, 'PUT', { attributes: { a: 1 } })).status).toBe(400)
    // A client of an administrator has no such token.
    const own = `${REALM}/clients-registrations/default/${client.clientId}`
    expect((await ask(own, { headers: { authorization: 'Bearer ' } })).status).toBe(401)
    expect((await ask(`${own}x`, { headers: { authorization: `Bearer ${last}` } })).status).toBe(401)
  })

  test('who has no valid token learns nothing about the clients of the realm', async () => {
    const taken = JSON.stringify({ clientId: client.clientId, redirectUris: [CALLBACK] })
    for (const bearer of ['x', admin, (await token(PASSWORD)).json.access_token]) {
      const headers = { authorization: `Bearer ${bearer}`, ...JSON_BODY }
      const seen = await ask(`${REALM}/clients-registrations/default`, { method: 'POST', headers, body: taken })
      expect([seen.status, seen.json.error]).toEqual([401, 'invalid_token'])
    }
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
