import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { CredentialRequest } from '#policies/shared/clouds/cloud-credential.ts'
import { freePort } from '#test/support/free-port.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { type Answer, startTokenEndpoint } from '#test/support/token-endpoint.ts'
import { verifies } from '#test/support/verifies.ts'
import { fetchCredential } from './fetch-credential.ts'

/** Credentials from token endpoints on real sockets, and what goes wrong there. */

const open = new AbortController().signal
/** No variables of the machine that the tests run on. */
const CLEAN = /^(?:AWS|AZURE|GOOGLE|GCE|GCLOUD|CLOUDSDK|IDENTITY|MSI)_/
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (CLEAN.test(name)) vi.stubEnv(name, undefined)
  const home = temporaryFolder()
  vi.stubEnv('HOME', home)
  vi.stubEnv('AWS_CONFIG_FILE', join(home, 'config'))
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(home, 'credentials'))
})
afterEach(() => {
  vi.unstubAllEnvs()
})

async function endpointWith(answer: Answer) {
  const endpoint = await startTokenEndpoint(answer)
  onTestFinished(() => endpoint[Symbol.asyncDispose]())
  return endpoint
}

const client = { clientId: 'app', tenantId: 'tenant', secret: 'client-s3cret' }
const AZURE: CredentialRequest = { cloud: 'cloudTwo', scope: 'https://cognitiveservices.azure.com/.default', client }
const GOOGLE: CredentialRequest = { cloud: 'cloudThree', audience: undefined }
const TOKEN = { access_token: 'token', expires_in: 3600 }

verifies(
  'backend.auth.cloudTwo/secretRef',
  'Azure: a token for the application of the Secret, renewed at 76 to 80% of its life',
  async () => {
    const endpoint = await endpointWith({ json: TOKEN })
    vi.stubEnv('AZURE_AUTHORITY_HOST', endpoint.url)
    const fetched = await fetchCredential(AZURE, open)
    expect(endpoint.seen).toEqual([
      'POST /tenant/oauth2/v2.0/token grant_type=client_credentials&client_id=app&client_secret=client-s3cret&scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default',
    ])
    expect(fetched).toEqual({
      value: { secret: { token: 'token' }, expiresMs: expect.any(Number) },
      forMs: expect.any(Number),
    })
    const { forMs } = fetched as { forMs: number }
    expect(forMs).toBeGreaterThan(0.75 * 3_600_000)
    expect(forMs).toBeLessThanOrEqual(0.8 * 3_600_000)
  },
)

verifies(
  'backend.auth.cloudTwo/managedIdentity',
  'Azure: a token of the managed identity, from the metadata server',
  async () => {
    const endpoint = await endpointWith({
      json: { access_token: 'token', expires_in: '3600', expires_on: '4102444800' },
    })
    vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', endpoint.url)
    const identity = { parameter: 'client_id', value: 'app' } as const
    expect(
      await fetchCredential({ cloud: 'cloudTwo', scope: 'https://ai.azure.com/.default', identity }, open),
    ).toHaveProperty('value')
    expect(endpoint.seen).toEqual([
      'GET /metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fai.azure.com&client_id=app',
    ])
  },
)

const OLD = Math.floor(Date.now() / 1000) - 60
const faults: [what: string, answer: Answer, failure: string | RegExp][] = [
  ['a server error', { status: 500, text: 'oops client-s3cret' }, / answered 500$/],
  [
    'a refusal',
    {
      status: 401,
      text: JSON.stringify({ error: 'invalid_client', error_codes: [7000215], error_description: 'client-s3cret' }),
    },
    / answered 401: invalid_client AADSTS7000215$/,
  ],
  ['another form of refusal', { status: 400, text: '{"error":"<client-s3cret>"}' }, / answered 400$/],
  ['garbage', { status: 200, text: '<html>client-s3cret' }, / answered without a token$/],
  ['no token', { json: { expires_in: 3600 } }, / answered without a token$/],
  [
    'a token that is no header value',
    { json: { access_token: 'a\r\nb', expires_in: 3600 } },
    'the answer has no usable credential',
  ],
  ['a token that is empty', { json: { access_token: '', expires_in: 3600 } }, 'the answer has no usable credential'],
  ['a code that is none', { status: 400, text: '{"error":"client-s3cret"}' }, / answered 400$/],
  ['no expiry', { json: { access_token: 'token' } }, 'the answer does not say when the credential expires'],
  [
    'an expiry that is no number',
    { json: { access_token: 'token', expires_in: 'soon' } },
    'the answer does not say when the credential expires',
  ],
  [
    'an expiry that is never',
    { json: { access_token: 'token', expires_on: 'Infinity' } },
    'the answer does not say when the credential expires',
  ],
  ['a negative lifetime', { json: { access_token: 'token', expires_in: -1 } }, /already expired/],
  [
    'an expired token',
    { json: { access_token: 'token', expires_in: 0 } },
    'the credential has already expired; check the clock of this machine',
  ],
  [
    'a token that expired by its absolute time',
    { json: { access_token: 'token', expires_on: `${OLD}` } },
    /already expired/,
  ],
  ['too much', { status: 200, text: 'x'.repeat(100_000) }, 'the answer of the token endpoint is too large'],
  ['a redirect', { status: 302, text: '', headers: { location: 'http://127.0.0.1:1/' } }, / answered 302$/],
  ['a connection that breaks off', (request) => request.socket.resetAndDestroy(), / did not answer: ECONNRESET$/],
  ['silence', 'silence', 'no answer within 0.3 s'],
  ['a body that stalls', (_, response) => response.writeHead(200).write('{'), 'no answer within 0.3 s'],
]
for (const [what, answer, failure] of faults) {
  test(`a failed attempt: ${what}`, async () => {
    const endpoint = await endpointWith(answer)
    vi.stubEnv('AZURE_AUTHORITY_HOST', endpoint.url)
    const fetched = await fetchCredential(
      AZURE,
      open,
      typeof failure === 'string' && failure.includes('0.3') ? 300 : 10_000,
    )
    expect(fetched).toEqual({ failure: typeof failure === 'string' ? failure : expect.stringMatching(failure) })
    expect(JSON.stringify(fetched)).not.toContain('s3cret')
  })
}

test('a token endpoint that refuses connections, and one without TLS elsewhere', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  vi.stubEnv('AZURE_AUTHORITY_HOST', url)
  expect(await fetchCredential(AZURE, open)).toEqual({ failure: `${url} did not answer: ECONNREFUSED` })
  vi.stubEnv('AZURE_AUTHORITY_HOST', 'http://login.example.com')
  expect(await fetchCredential(AZURE, open)).toEqual({ failure: 'AZURE_AUTHORITY_HOST must begin with https://' })
})

test('a lifetime that ends after all dates', async () => {
  const endpoint = await endpointWith({ json: { access_token: 'token', expires_in: 1e300 } })
  vi.stubEnv('AZURE_AUTHORITY_HOST', endpoint.url)
  expect(await fetchCredential(AZURE, open)).toMatchObject({ value: { expiresMs: 8.64e15 } })
})

const variables: [name: string, value: string, failure: string][] = [
  [
    'IDENTITY_ENDPOINT',
    'http://user:pass-s3cret@127.0.0.1:1/',
    'IDENTITY_ENDPOINT is not a URL without user and password',
  ],
  ['IDENTITY_ENDPOINT', 'no-url-s3cret', 'IDENTITY_ENDPOINT is not a URL without user and password'],
  ['IDENTITY_HEADER', 'two\nlines-s3cret', 'IDENTITY_HEADER is not a header value'],
]
test.each(variables)('Azure: %s=%j is refused without its value', async (name, value, failure) => {
  vi.stubEnv('IDENTITY_ENDPOINT', 'http://127.0.0.1:1/')
  vi.stubEnv('IDENTITY_HEADER', 'header')
  vi.stubEnv(name, value)
  expect(await fetchCredential({ cloud: 'cloudTwo', scope: 'https://ai.azure.com/.default' }, open)).toEqual({
    failure,
  })
})

test('a closed keeper ends the attempt', async () => {
  const endpoint = await endpointWith('silence')
  vi.stubEnv('AZURE_AUTHORITY_HOST', endpoint.url)
  const closing = new AbortController()
  const pending = fetchCredential(AZURE, closing.signal)
  await vi.waitFor(() => expect(endpoint.seen).toHaveLength(1))
  closing.abort()
  expect(await pending).toHaveProperty('failure')
})

verifies(
  'backend.auth.cloudThree/ambient',
  'Google Cloud: tokens of the machine, from the metadata server',
  async () => {
    const idToken = `x.${Buffer.from('{"exp":4102444800}').toString('base64url')}.x`
    const endpoint = await endpointWith(({ url = '' }, response) => {
      response.writeHead(200, {
        'metadata-flavor': 'Google',
        'content-type': url.includes('/identity') ? 'text/plain' : 'application/json',
      })
      response.end(url.includes('/identity') ? idToken : JSON.stringify(TOKEN))
    })
    // The library does not look for the server first, which takes seconds on a busy machine.
    vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present')
    vi.stubEnv('GCE_METADATA_HOST', `127.0.0.1:${endpoint.port}`)
    expect(await fetchCredential(GOOGLE, open, 20_000)).toMatchObject({ value: { secret: { token: 'token' } } })
    const audience = 'https://service.example.run.app'
    expect(await fetchCredential({ ...GOOGLE, audience }, open, 20_000)).toMatchObject({
      value: { secret: { token: idToken }, expiresMs: 4_102_444_800_000 },
    })
    // Looking for the project takes seconds, and tokens do not need it.
    expect(endpoint.seen.filter((request) => request.includes('/project/'))).toEqual([])
    expect(endpoint.seen.some((request) => request.includes(`identity?format=full&audience=${audience}`))).toBe(true)
  },
)

test('Google Cloud: nothing in the environment', async () => {
  vi.stubEnv('METADATA_SERVER_DETECTION', 'none')
  expect(await fetchCredential(GOOGLE, open, 20_000)).toEqual({
    failure: expect.stringMatching(/^Could not load the default credentials/),
  })
})

test('AWS: temporary keys from the environment', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  vi.stubEnv('AWS_SESSION_TOKEN', 'session')
  expect(await fetchCredential({ cloud: 'cloudOne' }, open, 20_000)).toEqual({
    value: {
      secret: { keys: { accessKey: 'AKIDEXAMPLE', secretKey: 'secret', sessionToken: 'session' } },
      expiresMs: undefined,
    },
    forMs: 3_600_000,
  })
})

test('AWS: the API key of a service comes before keys, for that service only', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  vi.stubEnv('AWS_BEARER_TOKEN_BEDROCK', ' api-key\n')
  expect(await fetchCredential({ cloud: 'cloudOne', service: 'bedrock' }, open, 20_000)).toEqual({
    value: { secret: { token: 'api-key' }, expiresMs: undefined },
    forMs: 3_600_000,
  })
  const keys = { value: { secret: { keys: { accessKey: 'AKIDEXAMPLE' } } } }
  expect(await fetchCredential({ cloud: 'cloudOne' }, open, 20_000)).toMatchObject(keys)
  vi.stubEnv('AWS_BEARER_TOKEN_BEDROCK', ' ')
  expect(await fetchCredential({ cloud: 'cloudOne', service: 'bedrock' }, open, 20_000)).toMatchObject(keys)
})

test('AWS: keys of a container, with an expiry', async () => {
  const expiry = new Date(Date.now() + 3_600_000).toISOString()
  const endpoint = await endpointWith({
    json: { AccessKeyId: 'AKID', SecretAccessKey: 'secret', Token: 'session', Expiration: expiry },
  })
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${endpoint.url}/keys`)
  vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'pod-token')
  expect(await fetchCredential({ cloud: 'cloudOne' }, open, 20_000)).toMatchObject({
    value: { secret: { keys: { accessKey: 'AKID', sessionToken: 'session' } }, expiresMs: Date.parse(expiry) },
  })
  expect(endpoint.seen).toEqual(['GET /keys'])
})

test('AWS: keys of a profile in a file, read again for each attempt', async () => {
  const write = (key: string) =>
    writeFileSync(
      process.env.AWS_SHARED_CREDENTIALS_FILE!,
      `[p]\naws_access_key_id = ${key}\naws_secret_access_key = s\n`,
    )
  vi.stubEnv('AWS_PROFILE', 'p')
  for (const key of ['ONE', 'TWO']) {
    write(key)
    expect(await fetchCredential({ cloud: 'cloudOne' }, open, 20_000)).toMatchObject({
      value: { secret: { keys: { accessKey: key } } },
    })
  }
})

test('AWS: the command and the output of a program that gives keys are not repeated', async () => {
  writeFileSync(process.env.AWS_CONFIG_FILE!, `[profile p]\ncredential_process = sh -c 'echo out-s3cret >&2; exit 3'\n`)
  vi.stubEnv('AWS_PROFILE', 'p')
  const fetched = await fetchCredential({ cloud: 'cloudOne' }, open, 20_000)
  expect(fetched).toEqual({ failure: expect.stringMatching(/./) })
  expect(JSON.stringify(fetched)).not.toContain('s3cret')
})

test('AWS: keys of an endpoint that answers with something else', async () => {
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  // The library waits a second before it asks again.
  const start = setTimeout
  const startWithoutPause = ((run: () => void, ms) => start(run, ms === 1000 ? 0 : ms)) as typeof setTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(startWithoutPause)
  for (const text of [
    '{"AccessKeyId":"AKID","SecretAccessKey":"half-s3cret',
    '{"AccessKeyId":{},"SecretAccessKey":"s3cret"}',
  ]) {
    const endpoint = await endpointWith({ status: 200, text })
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${endpoint.url}/keys`)
    const fetched = await fetchCredential({ cloud: 'cloudOne' }, open, 20_000)
    expect(fetched).toEqual({ failure: expect.stringMatching(/./) })
    expect(JSON.stringify(fetched)).not.toContain('s3cret')
  }
})

test('AWS: nothing in the environment', async () => {
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  expect(await fetchCredential({ cloud: 'cloudOne' }, open, 20_000)).toEqual({
    failure: expect.stringMatching(/Could not load credentials from any providers/),
  })
})
