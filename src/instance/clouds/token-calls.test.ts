import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { CredentialRequest } from '#policies/shared/clouds/cloud-credential.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { obtainToken as obtainThree } from './cloud-three.ts'
import { obtainToken as obtainTwo } from './cloud-two.ts'
import { fetchCredential } from './fetch-credential.ts'

/** Requests for tokens, compared with those that the vendors' Python libraries send (test/interop/token-requests.py). */

interface Sent {
  readonly method: string
  readonly url: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly form: Readonly<Record<string, unknown>>
}

const file = new URL('../../../test/interop/token-requests.json', import.meta.url)
const { requests } = JSON.parse(readFileSync(file, 'utf8')) as { requests: Record<string, readonly Sent[]> }

const TENANT = '11111111-2222-3333-4444-555555555555'
const CLIENT = '66666666-7777-8888-9999-000000000000'
const SCOPE = 'https://cognitiveservices.azure.com/.default'
const AUDIENCE = 'https://service.example.run.app'
const ID_TOKEN = `x.${Buffer.from('{"exp":4102444800}').toString('base64url')}.x`
const ANSWER = {
  access_token: 'token',
  expires_in: '3600',
  id_token: ID_TOKEN,
  accessToken: 'token',
  expireTime: '2099-01-01T00:00:00Z',
}

/** `fetch` that records requests, and answers all with a token. */
function recorder() {
  const sent: Sent[] = []
  const send = async (to: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(to instanceof Request ? to.url : to))
    const headers = Object.fromEntries(new Headers(init.headers))
    const { authorization, metadata, 'x-identity-header': identity } = headers
    sent.push({
      method: init.method ?? 'GET',
      url: `${url.origin}${url.pathname}`,
      query: Object.fromEntries(url.searchParams),
      headers: JSON.parse(JSON.stringify({ authorization, metadata, 'x-identity-header': identity })),
      form: formIn(init.body),
    })
    return Response.json(ANSWER)
  }
  return { sent, send: send as typeof fetch }
}

function formIn(body: RequestInit['body']): Sent['form'] {
  const text = body == null ? '' : String(body)
  if (text.startsWith('{')) return JSON.parse(text)
  const form = Object.fromEntries(new URLSearchParams(text))
  if (form.assertion === undefined) return form
  const claims = JSON.parse(Buffer.from(form.assertion.split('.')[1]!, 'base64url').toString())
  return { ...form, assertion: { ...claims, iat: undefined, exp: undefined } }
}

const signal = new AbortController().signal

type Two = Omit<Extract<CredentialRequest, { cloud: 'cloudTwo' }>, 'cloud' | 'scope'>
const NAMED = { AZURE_TENANT_ID: TENANT, AZURE_CLIENT_ID: CLIENT }
const APP_SERVICE = { IDENTITY_ENDPOINT: 'http://127.0.0.1:41500/msi/token', IDENTITY_HEADER: 'header-secret' }
const client = { clientId: CLIENT, tenantId: TENANT, secret: 'se/cr+et=' }
const twos: [name: string, request: Two, env?: Record<string, string>][] = [
  ['secret', { client }],
  ['secret', {}, { ...NAMED, AZURE_CLIENT_SECRET: 'se/cr+et=', AZURE_FEDERATED_TOKEN_FILE: 'none', ...APP_SERVICE }],
  ['secret', { client }, { ...NAMED, AZURE_CLIENT_SECRET: 'other', ...APP_SERVICE }],
  ['federated token', {}, { ...NAMED, AZURE_FEDERATED_TOKEN_FILE: 'file', ...APP_SERVICE }],
  ['managed identity of the machine', {}],
  ['client id', {}, { AZURE_CLIENT_ID: CLIENT }],
  ['client id', { identity: { parameter: 'client_id', value: CLIENT } }],
  ['object id', { identity: { parameter: 'object_id', value: 'object' } }, NAMED],
  ['resource id', { identity: { parameter: 'msi_res_id', value: '/subscriptions/s/id' } }],
  ['App Service', { identity: { parameter: 'msi_res_id', value: '/subscriptions/s/id' } }, APP_SERVICE],
]
for (const [name, request, env = {}] of twos) {
  test(`Azure, ${name}, with ${Object.keys({ ...request, ...env }).join() || 'nothing configured'}: the request is that of msal`, async () => {
    const { sent, send } = recorder()
    vi.spyOn(globalThis, 'fetch').mockImplementation(send)
    if (env.AZURE_FEDERATED_TOKEN_FILE === 'file') {
      env.AZURE_FEDERATED_TOKEN_FILE = join(temporaryFolder(), 'token')
      writeFileSync(env.AZURE_FEDERATED_TOKEN_FILE, 'federated.token\n')
    }
    const { secret, expiresMs } = await obtainTwo({ cloud: 'cloudTwo', scope: SCOPE, ...request }, signal, env)
    expect(sent).toEqual(requests[`cloudTwo: ${name}`])
    expect([secret, Math.round((expiresMs! - Date.now()) / 60_000)]).toEqual([{ token: 'token' }, 60])
  })
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ACCOUNT = {
  type: 'service_account',
  client_email: 'robot@project.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  private_key_id: 'k1',
}
const USER = {
  type: 'authorized_user',
  client_id: 'user-client',
  client_secret: 'user-secret',
  refresh_token: 'refresh',
}
const TARGET =
  'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/target@project.iam.gserviceaccount.com:generateAccessToken'
const threes: [name: string, credentials: object, audience?: string][] = [
  ['access token of a service account', ACCOUNT],
  ['ID token of a service account', ACCOUNT, AUDIENCE],
  ['access token of a user', USER],
  [
    'impersonation',
    { type: 'impersonated_service_account', service_account_impersonation_url: TARGET, source_credentials: USER },
  ],
]
for (const [name, credentials, audience] of threes) {
  test(`Google Cloud, ${name}: the requests are those of google-auth`, async () => {
    const { sent, send } = recorder()
    const request = { cloud: 'cloudThree', audience, credentials: JSON.stringify(credentials) } as const
    const { secret, expiresMs } = await obtainThree(request, signal, send)
    // Members without a value, and the order of scopes and delegates, differ between the two libraries.
    const form = (one: Sent) => ({ ...one, headers: {}, form: JSON.parse(JSON.stringify(one.form)) })
    const expected = requests[`cloudThree: ${name}`]!.map(form)
    for (const one of expected) if (one.form.delegates === null) one.form.delegates = []
    expect(sent.map(form)).toEqual(expected)
    expect(secret).toEqual({ token: audience === undefined ? 'token' : ID_TOKEN })
    expect(expiresMs).toBeGreaterThan(Date.now())
  })
}

/** Everything that a request has. */
async function echoOf(to: Parameters<typeof fetch>[0], { headers, body }: RequestInit = {}): Promise<string> {
  return [String(to), ...new Headers(headers).values(), String(body ?? '')].join(' ')
}

const EXPIRES = { expires_in: 3600, expireTime: '2099-01-01T00:00:00Z' }
const answers: [what: string, status: number, answer: (echo: string) => unknown, failure: RegExp | string][] = [
  [
    'refuses and repeats the request',
    400,
    (echo) => ({ error: 'invalid_grant', error_description: echo }),
    / answered 400: invalid_grant$/,
  ],
  ['has the request as its code', 400, (echo) => ({ error: echo }), / answered 400$/],
  ['has an object as its error', 403, (echo) => ({ error: { code: 403, message: echo } }), / answered 403$/],
  ['fails with the request as text', 500, (echo) => echo, / answered 500$/],
  ['is overloaded', 429, () => ({}), / answered 429$/],
  ['answers with the request', 200, (echo) => echo, /without an? (?:ID )?token$/],
  ['answers with nothing', 200, () => '', /without an? (?:ID )?token$/],
  ['answers with two lines', 200, () => ({ ...EXPIRES, access_token: 'a\r\nb', id_token: 'a\r\nb' }), /./],
  ['answers with an object', 200, () => ({ ...EXPIRES, access_token: {}, id_token: {} }), /./],
  ['does not say when the token expires', 200, () => ({ access_token: 'token' }), /./],
]
const accounts: [name: string, credentials: object, audience?: string][] = [
  ...threes,
  [
    'impersonation, ID token',
    { type: 'impersonated_service_account', service_account_impersonation_url: TARGET, source_credentials: ACCOUNT },
    AUDIENCE,
  ],
]
const combinations = accounts.flatMap(([name, credentials, audience]) =>
  answers.map(([what, ...answer]) => [name, what, credentials, audience, ...answer] as const),
)
test.each(combinations)(
  'Google Cloud, %s: an endpoint that %s',
  async (_name, _what, credentials, audience, status, answer, failure) => {
    const secrets: string[] = []
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (to, init) => {
      const echo = await echoOf(to, init)
      secrets.push(...(echo.match(/(?<==)[\w.+%-]{6,}/g) ?? []))
      const said = answer(echo)
      const type = typeof said === 'string' ? 'text/plain' : 'application/json'
      const body = typeof said === 'string' ? said : JSON.stringify(said)
      return new Response(body, { status, headers: { 'content-type': type } })
    })
    const request = { cloud: 'cloudThree', audience, credentials: JSON.stringify(credentials) } as const
    const fetched = await fetchCredential(request, signal)
    expect(fetched).toEqual({ failure: expect.stringMatching(failure) })
    const asked = vi.mocked(globalThis.fetch).mock.calls.map(([to]) => String(to))
    expect(asked, 'no request is repeated').toEqual([...new Set(asked)])
    expect(secrets).not.toEqual([])
    for (const secret of secrets) expect(JSON.stringify(fetched)).not.toContain(secret)
  },
)

test('credentials with endpoints of their own are not used', async () => {
  const { sent, send } = recorder()
  const credentials = JSON.stringify({
    type: 'external_account',
    token_url: 'http://127.0.0.1/',
    credential_source: { file: '/etc/passwd' },
  })
  await expect(obtainThree({ cloud: 'cloudThree', audience: undefined, credentials }, signal, send)).rejects.toThrow(
    'credentials.json has an unknown form',
  )
  expect(sent).toEqual([])
})
