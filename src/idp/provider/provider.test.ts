import { createRemoteJWKSet, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { setUp } from '../setup/set-up.ts'
import { ProviderState, ProviderStateUnusable } from './provider-state.ts'
import { createClient } from './realm.ts'
import { adminToken, CALLBACK, OPENID, openClient, PASSWORD, REALM, type Seen } from './testing/open-client.ts'
import { setupOptions, startTestProvider } from './testing.ts'

const { provider, client, admin, ask, form, asAdmin, token } = await openClient()

describe('tokens', () => {
  test('are signed with a key of the key set', async () => {
    const { json } = await token({ ...PASSWORD, scope: 'openid' })
    const keys = createRemoteJWKSet(new URL(`${OPENID}/certs`, provider.url))
    const issuer = new URL(REALM, provider.url).href
    const access = await jwtVerify(json.access_token, keys, { issuer, audience: 'account' })
    expect(access.payload).toMatchObject({ typ: 'Bearer', azp: 'gateway', group: 'makers', preferred_username: 'ann' })
    expect(access.payload.exp! - access.payload.iat!).toBe(300)
    const id = await jwtVerify(json.id_token, keys, { issuer, audience: 'gateway' })
    expect(id.payload).toMatchObject({ typ: 'ID', sub: access.payload.sub })
    const set = await ask(`${OPENID}/certs`)
    expect(set.json.keys.map(({ use }: { use: string }) => use).sort()).toEqual(['enc', 'sig'])
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
    expect([seen.status, seen.json.error]).toEqual([status, error])
  })

  test('the secret of a client may be in the header; both ids name the client', async () => {
    for (const id of [client.clientId, client.uuid]) {
      const authorization = `Basic ${Buffer.from(`${id}:${encodeURIComponent(client.secret)}`).toString('base64')}`
      const { status } = await form(`${OPENID}/token`, { grant_type: 'client_credentials' }, { authorization })
      expect(status).toBe(200)
    }
  })

  test('a refresh token is used once', async () => {
    const { json } = await token(PASSWORD)
    const refresh = { grant_type: 'refresh_token', refresh_token: json.refresh_token }
    const second = await token(refresh)
    expect([second.status, (await token(refresh)).status]).toEqual([200, 400])
    const ended = await form(`${OPENID}/logout`, { refresh_token: second.json.refresh_token })
    expect(ended.status).toBe(204)
    expect((await token({ ...refresh, refresh_token: second.json.refresh_token })).status).toBe(400)
  })

  test('an answer says what its token is, and scripts of any origin may ask for one', async () => {
    for (const grant of [PASSWORD, { grant_type: 'client_credentials' }]) {
      const { json, headers } = await token(grant)
      const seen = [json.token_type, json.expires_in, headers.get('access-control-allow-origin')]
      expect(seen).toEqual(['Bearer', 300, '*'])
    }
    const asked = await ask(`${OPENID}/token`, { method: 'OPTIONS' })
    expect([asked.status, asked.headers.get('access-control-allow-methods')]).toEqual([204, 'POST'])
    expect(asked.headers.get('access-control-allow-headers')).toBe('authorization, content-type')
    const wrong = await ask(`${OPENID}/token`, { method: 'PATCH' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('userinfo describes the owner of a token', async () => {
    const { json } = await token(PASSWORD)
    const asked = (value: string) => ask(`${OPENID}/userinfo`, { headers: { authorization: `Bearer ${value}` } })
    expect((await asked(json.access_token)).json).toMatchObject({ preferred_username: 'ann', group: 'makers' })
    const refused = await asked(`${json.access_token}x`)
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
    const kidOf = ({ json }: Seen) =>
      JSON.parse(Buffer.from(json.access_token.split('.')[0], 'base64url').toString()).kid
    expect(kidOf(before)).not.toBe(kidOf(after))
    const keys = createRemoteJWKSet(new URL(`${OPENID}/certs`, provider.url))
    for (const { json } of [before, after]) await jwtVerify(json.access_token, keys)
    const { json } = await asAdmin('GET', '/admin/realms/shop/keys')
    expect(json.active.RS256).toBe(kidOf(after))
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

describe('administration', () => {
  test('only an administrator of the realm master may', async () => {
    const { json } = await token(PASSWORD)
    const path = '/admin/realms/shop/users'
    const refused = (value: string) => ask(path, { headers: { authorization: `Bearer ${value}` } })
    expect((await refused(json.access_token)).status).toBe(401)
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
    expect((await refused(guest.json.access_token)).status).toBe(403)
  })

  test('users are created, changed and removed', async () => {
    const users = '/admin/realms/shop/users'
    const created = await asAdmin('POST', users, { username: 'Dora', enabled: true, email: 'd@example.com' })
    const path = new URL(created.headers.get('location')!).pathname
    expect((await asAdmin('POST', users, { username: 'dora' })).status).toBe(409)
    expect((await asAdmin('POST', users, { username: 'other', email: 'd@example.com' })).status).toBe(409)
    const second = await asAdmin('POST', users, { username: 'second', email: 's@example.com' })
    const listed = async (query: string) => (await asAdmin('GET', `${users}${query}`)).json as readonly object[]
    const all = await listed('')
    expect(await listed('?first=1&max=2')).toEqual(all.slice(1, 3))
    const secondPath = new URL(second.headers.get('location')!).pathname
    expect((await asAdmin('PUT', secondPath, { email: 'd@example.com' })).status).toBe(409)
    expect((await asAdmin('PUT', secondPath, { email: 's@example.com' })).status, 'its own').toBe(204)
    await asAdmin('PUT', path, { attributes: { group: ['a'] }, firstName: 'D' })
    const { json, text } = await asAdmin('GET', path)
    expect(json).toMatchObject({ username: 'dora', firstName: 'D', enabled: true, attributes: { group: ['a'] } })
    expect(text).not.toContain('scrypt')
    const dora = { grant_type: 'password', username: 'dora', password: 'dora' }
    await asAdmin('PUT', `${path}/reset-password`, { type: 'password', value: 'dora', temporary: true })
    expect((await token(dora)).status).toBe(401)
    await asAdmin('PUT', `${path}/reset-password`, { type: 'password', value: 'dora', temporary: false })
    const { json: tokens } = await token(dora)
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
    expect(made.json).toMatchObject({ token_endpoint_auth_method: method, redirect_uris: [CALLBACK] })
    expect([made.status, made.json.client_name, 'client_secret' in made.json]).toEqual([
      201,
      (members as { client_name?: string }).client_name,
      hasSecret,
    ])
    const found = await asAdmin('GET', `/admin/realms/shop/clients?clientId=${made.json.client_id}`)
    expect(found.json).toHaveLength(1)
    expect([found.json[0].name, found.json[0].publicClient]).toEqual([made.json.client_name, !hasSecret])
    const json = JSON.stringify({ clientId: `named ${method}`, name: 'Name', redirectUris: [CALLBACK] })
    const named = await ask(`${REALM}/clients-registrations/default`, { method: 'POST', headers, body: json })
    expect(named.json).toMatchObject({ clientId: `named ${method}`, name: 'Name', redirectUris: [CALLBACK] })
  })

  test('a client has the secret that is chosen for it, or a random one, or none if it is public', async () => {
    const clients = '/admin/realms/shop/clients'
    const secretOf = async (members: object) => {
      const made = await asAdmin('POST', clients, { ...members, redirectUris: [CALLBACK] })
      const path = new URL(made.headers.get('location')!).pathname
      const { status, json } = await asAdmin('GET', `${path}/client-secret`)
      return [made.status, status, json.value, (await asAdmin('GET', path)).json.publicClient]
    }
    expect(await secretOf({ clientId: 'chosen', secret: 'own' })).toEqual([201, 200, 'own', false])
    expect(await secretOf({ clientId: 'random' })).toEqual([201, 200, expect.stringMatching(/^[\w-]{32}$/), false])
    expect(await secretOf({ clientId: 'public', publicClient: true })).toEqual([201, 200, undefined, true])
    expect((await asAdmin('POST', clients, { redirectUris: [CALLBACK] })).status).toBe(400)
    const listed = await asAdmin('GET', `${clients}?clientId=chosen`)
    expect([listed.status, listed.json.map(({ clientId }: { clientId: string }) => clientId)]).toEqual([
      200,
      ['chosen'],
    ])
  })

  test('one mapper of a client is changed and removed without the others', async () => {
    const made = await asAdmin('POST', '/admin/realms/shop/clients', { clientId: 'mapped', redirectUris: [CALLBACK] })
    const mappers = `${new URL(made.headers.get('location')!).pathname}/protocol-mappers/models`
    const mapper = (name: string, attribute: string) => ({
      name,
      protocolMapper: 'oidc-usermodel-attribute-mapper',
      config: { 'user.attribute': attribute },
    })
    const paths: string[] = []
    for (const name of ['one', 'two', 'three']) {
      paths.push(new URL((await asAdmin('POST', mappers, mapper(name, name))).headers.get('location')!).pathname)
    }
    expect((await asAdmin('POST', mappers, mapper('one', 'again'))).status).toBe(409)
    expect((await asAdmin('POST', mappers, { protocolMapper: 'x' })).status).toBe(400)
    expect((await asAdmin('PUT', paths[1]!, mapper('two', 'changed'))).status).toBe(204)
    expect((await asAdmin('DELETE', paths[0]!)).status).toBe(204)
    for (const method of ['PUT', 'DELETE'])
      expect((await asAdmin(method, paths[0]!, mapper('one', 'x'))).status).toBe(404)
    const { status, json } = await asAdmin('GET', mappers)
    const seen = json.map((each: ReturnType<typeof mapper> & { protocol: string }) => [
      each.name,
      each.protocol,
      each.config['user.attribute'],
    ])
    expect([status, seen]).toEqual([
      200,
      [
        ['two', 'openid-connect', 'changed'],
        ['three', 'openid-connect', 'three'],
      ],
    ])
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
  const made = await other.send({
    method: 'POST',
    path: '/admin/realms/shop/clients-initial-access',
    token: await adminToken(other),
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

  test('what cannot be written is not done: the answer is an error, and the state is that of the file', async () => {
    class Disk extends Map<string, string> {
      isFull = false
      override set(name: string, text: string) {
        if (this.isFull) throw new ProviderStateUnusable('the state folder cannot be written: no space left')
        return super.set(name, text)
      }
    }
    const disk = new Disk(provider.files)
    const other = await startTestProvider(disk)
    const token = await adminToken(other)
    const send = (method: 'POST' | 'DELETE' | 'GET', path: string, json?: object) =>
      other.send({ method, path: `/admin/realms${path}`, token, ...(json === undefined ? {} : { json }) })
    const usersNow = async () =>
      ((await send('GET', '/shop/users')).json as readonly { readonly id: string; readonly username: string }[]).map(
        ({ id, username }) => [username, id] as const,
      )
    const before = await usersNow()
    disk.isFull = true
    const failed = [
      await send('POST', '/shop/users', { username: 'lost' }),
      await send('DELETE', `/shop/users/${before[0]![1]}`),
      await send('POST', '', { realm: 'lost' }),
      await other.send({
        method: 'POST',
        path: `${REALM}/clients-registrations/openid-connect`,
        json: { redirect_uris: [CALLBACK] },
      }),
    ]
    expect(failed.map(({ status }) => status)).toEqual([500, 500, 500, 500])
    expect(await usersNow()).toEqual(before)
    expect(other.state.realm('lost')).toBe(undefined)
    disk.isFull = false
    expect((await send('POST', '/shop/users', { username: 'kept' })).status).toBe(201)
    await other.close()
    expect(other.bugs).toHaveLength(4)
    const stored = disk.get('idp.json')!
    expect([stored.includes('"kept"'), stored.includes('"lost"')]).toEqual([true, false])
    expect(stored.split('"secret"').length).toBe(provider.files.get('idp.json')!.split('"secret"').length)
  })

  test.each(['{', '{"version":2}', '{"version":1,"realms":[{}]}', '7'])('%s cannot be read', async (text) => {
    const files = { read: () => text, write: () => {} }
    await expect(ProviderState.open(files)).rejects.toThrow(ProviderStateUnusable)
  })
})
