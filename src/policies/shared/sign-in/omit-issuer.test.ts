import { expect, test } from 'vitest'
import { CallError, type CallRequest, type CallResponse } from '#exchange/call.ts'
import { runContext } from '../testing.ts'
import { AuthorizationServer, Unavailable } from './authorization-server.ts'
import { omitIssuer } from './omit-issuer.ts'

const ISSUER = 'https://id.example.com/realms/a'
const PATH = '/realms/a/clients-registrations/default'
const REGISTERED = '{"client_id":"c1","registration_access_token":"first","client_id_issued_at":12345678901234567890}'
const CLIENT = {
  clientId: 'c1',
  redirectUris: ['http://127.0.0.1/*'],
  attributes: { 'pkce.code.challenge.method': 'S256' },
}

type Answer = { readonly status?: number; readonly body: unknown } | CallError

/** An identity provider that answers with these, one after the other. */
function providerOf(...answers: readonly Answer[]) {
  const requests: CallRequest[] = []
  const call = async (_: string, request: CallRequest): Promise<CallResponse> => {
    const answer = answers[requests.length]!
    requests.push(request)
    if (answer instanceof CallError) throw answer
    const { status = 200, body } = answer
    const bytes = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
    return {
      status,
      headers: [],
      header: () => undefined,
      endpoint: '127.0.0.1:80',
      trailer: () => undefined,
      body: (async function* () {
        yield bytes
      })(),
    }
  }
  const server = new AuthorizationServer({
    destination: 'ProxyBackend/default/id',
    issuer: ISSUER,
    url: new URL(ISSUER),
    usesDiscovery: true,
  })
  return { requests, omit: (registered = REGISTERED) => omitIssuer(server, registered, PATH, runContext({ call })) }
}

const headersOf = (request: CallRequest) => Object.fromEntries(request.headers)

test('the client is changed with its own token, and gets the newest one', async () => {
  const { omit, requests } = providerOf(
    { body: { ...CLIENT, registrationAccessToken: 'second' } },
    { body: { ...CLIENT, registrationAccessToken: 'third' } },
  )
  // Numbers keep their digits.
  expect(await omit()).toBe(
    '{"client_id":"c1","registration_access_token":"third","client_id_issued_at":12345678901234567890}',
  )
  expect(requests.map((request) => [request.method, request.path, headersOf(request)])).toEqual([
    ['GET', `${PATH}/c1`, { accept: 'application/json', authorization: 'Bearer first' }],
    [
      'PUT',
      `${PATH}/c1`,
      { accept: 'application/json', authorization: 'Bearer second', 'content-type': 'application/json' },
    ],
  ])
  expect(JSON.parse(new TextDecoder().decode(requests[1]!.body as Uint8Array))).toMatchObject({
    redirectUris: CLIENT.redirectUris,
    attributes: { ...CLIENT.attributes, 'exclude.issuer.from.auth.response': 'true' },
  })
})

test('a provider that keeps the token, and a client without attributes', async () => {
  const { omit } = providerOf({ body: { clientId: 'c1' } }, { body: {} })
  expect(await omit()).toBe(REGISTERED)
})

test.each([
  '{}',
  '[]',
  'x',
  '{"client_id":"c1"}',
  '{"registration_access_token":"t"}',
  '{"client_id":"c1","registration_access_token":"a\\r\\nb: c"}',
  '{"client_id":"c1","registration_access_token":7}',
  '{"client_id":"","registration_access_token":"t"}',
  '{"client_id":"..","registration_access_token":"t"}',
])('with the registration %s nothing is sent', async (registered) => {
  const { omit, requests } = providerOf()
  expect(await omit(registered)).toBeInstanceOf(Unavailable)
  expect(requests).toEqual([])
})

test('an id cannot leave its place in the path', async () => {
  const { omit, requests } = providerOf({ body: {} }, { body: {} })
  await omit('{"client_id":"../../admin?x#y","registration_access_token":"t"}')
  expect(requests.map(({ path }) => path)).toEqual(Array(2).fill(`${PATH}/..%2F..%2Fadmin%3Fx%23y`))
})

test.each<[string, readonly Answer[]]>([
  [`GET ${PATH}: the server answered 401`, [{ status: 401, body: {} }]],
  [`GET ${PATH}: the server answered 200`, [{ body: '<html>' }]],
  [`PUT ${PATH}: the server answered 403`, [{ body: {} }, { status: 403, body: { error: 'x' } }]],
  ['GET /realms/a/clients-registrations/default/c1 of ProxyBackend/default/id: timeout', [new CallError('timeout')]],
])('%s', async (why, answers) => {
  expect(await providerOf(...answers).omit()).toEqual(new Unavailable(why))
})
