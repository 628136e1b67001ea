import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { createClient } from '../provider/realm.ts'
import { ADMIN, setupOptions, startTestProvider, USERS } from '../provider/testing.ts'
import { dryRun, shownLines } from './dry-run.ts'
import type { IdpAnswer, IdpCall, SendCall } from './idp-call.ts'
import { CallFailed } from './idp-call.ts'
import { readyObjects } from './ready-objects.ts'
import { setUp } from './set-up.ts'
import type { Outcome } from './setup-context.ts'
import { StepFailure } from './step-failure.ts'

let provider: Awaited<ReturnType<typeof startTestProvider>>
beforeEach(async () => {
  provider = await startTestProvider()
})
afterEach(async () => {
  await provider.close()
  expect(provider.bugs).toEqual([])
})

type Told = [step: number, outcome: Outcome, detail?: string]

/** Runs the procedure. @param through wraps what sends its calls */
async function run(changes: Parameters<typeof setupOptions>[1] = {}, through = (send: SendCall) => send) {
  const told: Told[] = []
  provider.calls.length = 0
  const options = setupOptions(provider.url, changes)
  const result = await setUp(options, through(provider.send), (...step) => void told.push(step as Told))
  return { result, told, calls: [...provider.calls] }
}

const ROOT = '/admin/realms/shop'
/** The call of a method and path, without its query. */
function callIn(calls: readonly IdpCall[], method: string, path: RegExp): IdpCall {
  const found = calls.find((call) => call.method === method && path.test(call.path))
  expect(found, `${method} ${path}`).toBeDefined()
  return found!
}

verifies(
  [
    'idp.endpoints/token-request',
    'idp.endpoints/token-client-id',
    'idp.endpoints/token-username',
    'idp.endpoints/token-password',
    'idp.endpoints/token-grant-type',
    'idp.endpoints/token-response',
    'idp/step-3-admin-token',
    'idp.endpoints/initial-access-request',
    'idp.endpoints/initial-access-expiration',
    'idp.endpoints/initial-access-count',
    'idp.endpoints/initial-access-response',
    'idp/step-4-initial-token',
    'idp.endpoints/registration-request',
    'idp.endpoints/registration-client-id',
    'idp.endpoints/registration-response',
    'idp/step-5-register-client',
  ],
  'an administrator gets a token, and with an initial access token a client is registered',
  async () => {
    const { calls, result } = await run()
    expect(calls[0]).toEqual({
      method: 'POST',
      path: '/realms/master/protocol/openid-connect/token',
      form: { client_id: 'admin-cli', ...ADMIN, grant_type: 'password' },
    })
    const initial = callIn(calls, 'POST', /clients-initial-access$/)
    expect(initial).toEqual({
      method: 'POST',
      path: `${ROOT}/clients-initial-access`,
      token: expect.any(String),
      json: { expiration: 0, count: 1 },
    })
    const registration = callIn(calls, 'POST', /clients-registrations/)
    expect(registration).toEqual({
      method: 'POST',
      path: '/realms/shop/clients-registrations/default',
      token: expect.any(String),
      json: { clientId: 'gateway' },
    })
    expect(registration.token).not.toBe(initial.token)
    const client = [...provider.state.realm('shop')!.clients.values()].find(({ clientId }) => clientId === 'gateway')!
    expect(result.client).toEqual({ uuid: client.id, clientId: 'gateway', secret: client.secret })
    // The token registers one client only.
    const again = await provider.send({ ...registration, json: { clientId: 'second' } })
    expect(again.status).toBe(401)
  },
)

verifies(
  [
    'idp.endpoints/client-update',
    'idp.endpoints/client-service-accounts-enabled',
    'idp.endpoints/client-direct-access-grants-enabled',
    'idp.endpoints/client-authorization-services-enabled',
    'idp.endpoints/client-redirect-uris',
    'idp/step-6-update-client',
    'idp/step-6-redirect-uris',
    'idp.endpoints/protocol-mapper',
    'idp.endpoints/protocol-mapper-name',
    'idp.endpoints/protocol-mapper-protocol',
    'idp.endpoints/protocol-mapper-protocol-mapper',
    'idp.endpoints/protocol-mapper-config-claim-name',
    'idp.endpoints/protocol-mapper-config-json-type',
    'idp.endpoints/protocol-mapper-config-user-attribute',
    'idp.endpoints/protocol-mapper-config-id-token',
    'idp.endpoints/protocol-mapper-config-access-token',
    'idp/step-7-mapper',
  ],
  'the client is updated, and gets a mapper of the attribute group',
  async () => {
    const { calls, result } = await run()
    const { uuid } = result.client
    const settings = {
      serviceAccountsEnabled: true,
      directAccessGrantsEnabled: true,
      authorizationServicesEnabled: true,
      redirectUris: ['*'],
    }
    expect(callIn(calls, 'PUT', /clients\//)).toMatchObject({ path: `${ROOT}/clients/${uuid}`, json: settings })
    const mapper = {
      name: 'group',
      protocol: 'openid-connect',
      protocolMapper: 'oidc-usermodel-attribute-mapper',
      config: {
        'claim.name': 'group',
        'jsonType.label': 'String',
        'user.attribute': 'group',
        'id.token.claim': 'true',
        'access.token.claim': 'true',
      },
    }
    const path = `${ROOT}/clients/${uuid}/protocol-mappers/models`
    expect(callIn(calls, 'POST', /protocol-mappers/)).toMatchObject({ path, json: mapper })
    const client = provider.state.realm('shop')!.clients.get(uuid)!
    expect(client).toMatchObject({ ...settings, mappers: [mapper] })
    // Both endpoints answer success without a body.
    const [, bearer] = [0, calls.find(({ path }) => path.startsWith(ROOT))!.token!]
    const put = await provider.send({ method: 'PUT', path: `${ROOT}/clients/${uuid}`, token: bearer, json: settings })
    const post = await provider.send({ method: 'POST', path, token: bearer, json: { ...mapper, name: 'other' } })
    expect([put, post]).toEqual([
      { status: 204, json: undefined },
      { status: 201, json: undefined },
    ])
  },
)

verifies(
  [
    'idp.endpoints/user-create',
    'idp.endpoints/user-username',
    'idp.endpoints/user-email',
    'idp.endpoints/user-first-name',
    'idp.endpoints/user-last-name',
    'idp.endpoints/user-enabled',
    'idp.endpoints/user-attribute-group',
    'idp.endpoints/user-credential-type',
    'idp.endpoints/user-credential-value',
    'idp.endpoints/user-credential-temporary',
    'idp.endpoints/protocol-mapper-claim',
    'idp/step-7-both-tokens',
    'idp/step-8-users',
    'idp/step-8-password',
  ],
  'two users are created, whose tokens have the claim group',
  async () => {
    const { calls, result } = await run()
    const created = calls.filter(({ method, path }) => method === 'POST' && path === `${ROOT}/users`)
    expect(created.map(({ json }) => json)).toEqual(
      USERS.map(({ username, password, group }) => ({
        username,
        email: `${username}@example.com`,
        firstName: username,
        lastName: username,
        enabled: true,
        attributes: { group },
        credentials: [{ type: 'password', value: password, temporary: false }],
      })),
    )
    for (const { username, password, group } of USERS) {
      const form = {
        grant_type: 'password',
        client_id: 'gateway',
        client_secret: result.client.secret,
        username,
        password,
        scope: 'openid',
      }
      const { json } = await provider.send({ method: 'POST', path: '/realms/shop/protocol/openid-connect/token', form })
      const tokens = json as { access_token: string; id_token: string }
      for (const token of [tokens.access_token, tokens.id_token]) {
        const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
        expect([claims.preferred_username, claims.group]).toEqual([username, group])
      }
    }
    const token = callIn(calls, 'POST', /users$/).token!
    const json = { username: 'cleo', enabled: true }
    expect(await provider.send({ method: 'POST', path: `${ROOT}/users`, token, json })).toEqual({
      status: 201,
      json: undefined,
    })
  },
)

verifies(
  [
    'idp.endpoints/components-list-request',
    'idp.endpoints/components-list-response',
    'idp.endpoints/component-delete',
    'idp.endpoints/admin-bearer',
    'idp/step-9-trusted-hosts',
    'idp/step-9-client-templates',
  ],
  'the registration policies are removed',
  async () => {
    const anonymous: IdpCall = {
      method: 'POST',
      path: '/realms/shop/clients-registrations/default',
      json: { clientId: 'anybody' },
    }
    expect((await provider.send(anonymous)).status).toBe(403)
    const { calls } = await run()
    const type = 'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy'
    const listed = callIn(calls, 'GET', /components/)
    expect(listed.path).toBe(`${ROOT}/components?type=${type}`)
    const deleted = calls.filter(({ method }) => method === 'DELETE')
    expect(deleted).toHaveLength(2)
    const { json } = await provider.send(listed)
    const left = json as { id: string; providerId: string; subType: string }[]
    expect(left.map(({ providerId, subType }) => [providerId, subType])).toEqual([
      ['allowed-client-templates', 'authenticated'],
      ['max-clients', 'anonymous'],
    ])
    const last: IdpCall = { method: 'DELETE', path: `${ROOT}/components/${left[0]!.id}` }
    const refusals = await Promise.all(
      [
        last,
        listed,
        { method: 'POST', path: `${ROOT}/users`, json: {} } as const,
        { method: 'POST', path: `${ROOT}/clients-initial-access`, json: {} } as const,
      ].map(async ({ token: _, ...call }: IdpCall) => (await provider.send(call)).status),
    )
    expect(refusals).toEqual([401, 401, 401, 401])
    expect(await provider.send({ ...last, token: listed.token! })).toEqual({ status: 204, json: undefined })
    expect((await provider.send(anonymous)).status).toBe(201)
  },
)

verifies(
  ['idp.endpoints/discovery', 'idp/step-10-verify', 'idp/step-11-issuer', 'idp/step-11-jwks-path'],
  'the result is verified, and has the issuer and the path of the key set',
  async () => {
    const { result, told } = await run()
    const issuer = `${provider.url.origin}/realms/shop`
    const jwksPath = '/realms/shop/protocol/openid-connect/certs'
    expect(result).toMatchObject({ issuer, jwksPath, audiences: ['account'], users: USERS })
    const path = '/realms/shop/.well-known/openid-configuration'
    const { json } = await provider.send({ method: 'GET', path })
    expect(json).toMatchObject({ issuer, jwks_uri: `${provider.url.origin}${jwksPath}` })
    expect(told.filter(([step]) => step >= 10)).toEqual([
      [10, 'done', '2 users, client gateway'],
      [11, 'done', issuer],
    ])
  },
)

describe('running it again', () => {
  test('changes nothing', async () => {
    await run()
    const stored = provider.files.get('idp.json')
    const { told, calls, result } = await run()
    expect(told.map(([step, outcome]) => [step, outcome])).toEqual([
      [3, 'done'],
      [4, 'unchanged'],
      [5, 'unchanged'],
      [6, 'unchanged'],
      [7, 'unchanged'],
      [8, 'unchanged'],
      [8, 'unchanged'],
      [9, 'unchanged'],
      [10, 'done'],
      [11, 'done'],
    ])
    const writes = calls.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/token'))
    expect(writes).toEqual([])
    expect(provider.files.get('idp.json')).toBe(stored)
    expect(result.client.secret).not.toBe('')
  })

  test('mends what was changed', async () => {
    const { result } = await run()
    const realm = provider.state.realm('shop')!
    const client = realm.clients.get(result.client.uuid)!
    const [mapper] = client.mappers
    realm.clients.set(client.id, {
      ...client,
      redirectUris: [],
      mappers: [{ ...mapper!, config: { ...mapper!.config, 'claim.name': 'x' } }],
    })
    const ann = [...realm.users.values()].find(({ username }) => username === 'ann')!
    realm.users.set(ann.id, { ...ann, attributes: { group: ['x'], other: ['kept'] } })
    const { told } = await run({ users: [USERS[0]!, { ...USERS[1]!, password: 'new' }] })
    expect(told.filter(([, outcome]) => outcome === 'done').map(([step]) => step)).toEqual([3, 6, 7, 8, 8, 10, 11])
    expect(realm.users.get(ann.id)!.attributes).toEqual({ group: ['makers'], other: ['kept'] })
    expect(realm.clients.get(client.id)!.mappers).toEqual([mapper])
  })

  test('a generated password is set once, and not known afterwards', async () => {
    const users = USERS.map((user) => ({ ...user, isPasswordGenerated: true }))
    const first = await run({ users })
    expect(first.result.users).toHaveLength(2)
    const again = users.map((user) => ({ ...user, password: 'other' }))
    const { result, told } = await run({ users: again })
    expect([result.users, result.audiences]).toEqual([[], ['account']])
    expect(told.filter(([step]) => step === 8).map(([, outcome]) => outcome)).toEqual(['unchanged', 'unchanged'])
  })
})

verifies('idp/step-3-renew-token', 'after a 401 the call is repeated with a new token, once', async () => {
  const expired: SendCall = async () => ({ status: 401, json: { error: 'HTTP 401 Unauthorized' } })
  let left = 2
  const twice = (send: SendCall): SendCall => {
    return (call) => {
      const isAdmin = call.path.startsWith('/admin/')
      if (isAdmin && left > 0 && call.path.endsWith('/components')) left -= 1
      return isAdmin && /clients\?/.test(call.path) && left-- > 1 ? expired(call) : send(call)
    }
  }
  const { calls, told } = await run({}, twice)
  expect(calls.filter(({ path }) => path.startsWith('/realms/master'))).toHaveLength(2)
  expect(told.at(-1)![1]).toBe('done')
  const always =
    (send: SendCall): SendCall =>
    (call) =>
      /components/.test(call.path) ? expired(call) : send(call)
  await expect(run({}, always)).rejects.toMatchObject({ step: 9, advice: expect.stringContaining('clock') })
})

describe('failures name the step, the call, the answer and what to do', () => {
  const answering =
    (path: RegExp, answer: IdpAnswer | Error) =>
    (send: SendCall): SendCall =>
    async (call) => {
      if (!path.test(call.path)) return send(call)
      if (answer instanceof Error) throw answer
      return answer
    }

  test.each([
    ['no provider', /./, new CallFailed('connect ECONNREFUSED'), 3, 'ECONNREFUSED', '--url'],
    ['another server', /./, { status: 404, json: undefined }, 3, 'status 404', '--url'],
    ['a wrong password', /token$/, { status: 401, json: { error: 'invalid_grant' } }, 3, 'invalid_grant', 'password'],
    ['no rights', /initial-access/, { status: 403, json: undefined }, 4, 'status 403', 'administrator'],
    ['a broken provider', /initial-access/, { status: 500, json: { error: 'x' } }, 4, 'status 500: x', 'log'],
    ['a refused client', /registrations/, { status: 403, json: { error: 'no' } }, 5, 'status 403: no', 'policies'],
    [
      'another issuer',
      /openid-conf/,
      { status: 200, json: { issuer: 'http://x', jwks_uri: 'http://x/c' } },
      11,
      'http://x, not http://127',
      '--url',
    ],
    ['no metadata', /openid-conf/, { status: 200, json: {} }, 11, 'no issuer', '--url'],
  ] as const)('%s', async (_, path, answer, step, text, advice) => {
    const failure = await run({}, answering(path, answer)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StepFailure)
    expect(failure).toMatchObject({ step })
    expect((failure as StepFailure).answer).toContain(text)
    expect((failure as StepFailure).advice).toContain(advice)
    expect((failure as StepFailure).message).not.toContain(ADMIN.password)
  })

  test('a realm that does not exist: nothing is changed', async () => {
    const stored = provider.files.get('idp.json')
    await expect(run({ realm: 'shopp' })).rejects.toMatchObject({ step: 3, advice: expect.stringContaining('shopp') })
    expect(provider.files.get('idp.json')).toBe(stored)
  })

  test('a provider that discards the attribute is told to keep it', async () => {
    const writes: unknown[] = []
    let isKept = false
    const newer =
      (send: SendCall): SendCall =>
      async (call) => {
        if (call.path.endsWith('/users/profile')) {
          if (call.method === 'PUT') isKept = writes.push(call.json) > 0
          return { status: 200, json: { attributes: [{ name: 'email' }] } }
        }
        const json = call.json as { attributes?: object } | undefined
        const drops = /\/users(\/[^/]+)?$/.test(call.path) && json?.attributes !== undefined && !isKept
        return send(drops ? { ...call, json: { ...json, attributes: {} } } : call)
      }
    const { result } = await run({}, newer)
    expect(writes).toEqual([{ attributes: [{ name: 'email' }], unmanagedAttributePolicy: 'ENABLED' }])
    expect(result.users).toHaveLength(2)
  })
})

test('a dry run shows each call without secrets, and sends none', async () => {
  const shown: string[] = []
  const options = setupOptions(provider.url)
  await setUp(
    options,
    dryRun(options, (call) => shown.push(...shownLines(call))),
    () => {},
  )
  expect(provider.calls).toEqual([])
  const text = shown.join('\n')
  for (const { password } of [ADMIN, ...USERS]) expect(text).not.toContain(password)
  expect(text, 'ids that the provider would give').toContain('/clients/{client_uuid}')
  expect(shown[1]).toMatch(/^ {2}form \{"client_id":"admin-cli"/)
  const { calls } = await run()
  const pathOf = (path: string) => decodeURIComponent(path).replace(/[0-9a-f-]{36}|\{\w+\}/g, '{id}')
  const made = calls
    .filter(({ path }) => !path.includes('components/'))
    .map(({ method, path }) => `${method} ${pathOf(path)}`)
  const predicted = shown
    .filter((line) => !line.startsWith('  '))
    .map((line) => pathOf(line.replace(provider.url.origin, '')))
    .filter((line) => !line.includes('components/'))
  expect(predicted).toEqual(made)
})

test('the objects name the provider, its issuer and its audiences', async () => {
  const { result } = await run()
  const yaml = readyObjects(result, { kind: 'HTTPRoute', name: 'shop' }, new URL('https://idp.example'))
  expect(yaml).toContain('port: 443')
  expect(yaml).toContain('tls: {}')
  expect(yaml).toContain(`issuer: "${provider.url.origin}/realms/shop"`)
})

test('a public client that is registered already has no secret to read', async () => {
  const client = createClient({ clientId: 'open' })
  provider.state.realm('shop')!.clients.set(client.id, client)
  await expect(run({ clientId: 'open' })).rejects.toThrow('open is a public client: name another one with --client-id')
})
