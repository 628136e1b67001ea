import { expect, test } from 'vitest'
import { NO_STEPS } from '#exchange/run-context.ts'
import { HASHING } from '#test/support/hashing.ts'
import { verifies } from '#test/support/verifies.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { PolicyDestination } from '../../../policy.ts'
import {
  CloudCredential,
  type Credential,
  type CredentialRequest,
  type CredentialSource,
} from '../../../shared/clouds/cloud-credential.ts'
import type { KeptState } from '../../../shared/kept/kept-value.ts'
import { codeOf, contextWith, exchangeWith, linesOf, runContext, sourceOf, specFrom } from '../../../shared/testing.ts'
import { auth } from '../index.ts'
import { backendAuth } from '../schema.ts'

const ACCOUNT = { type: 'service_account', client_email: 'robot@example.com', private_key: 'pem' }
const CLIENT = { clientID: 'app', tenantID: 'tenant', clientSecret: ' s3cret\n' }
const json = (value: unknown) => ({ 'credentials.json': JSON.stringify(value) })
const SECRETS = {
  azure: CLIENT,
  incomplete: { clientID: 'app', tenantID: 'tenant' },
  path: { ...CLIENT, tenantID: '../x' },
  empty: { ...CLIENT, clientSecret: '' },
  google: json(ACCOUNT),
  external: json({ type: 'external_account', token_url: 'http://127.0.0.1/' }),
  nested: json({
    type: 'impersonated_service_account',
    service_account_impersonation_url: 'u',
    source_credentials: { type: 'external_account' },
  }),
  keyless: json({ type: 'service_account', client_email: 'robot@example.com' }),
  text: { 'credentials.json': 'text' },
}
const NOW = 1_767_323_045_678

/** A policy for an endpoint, with the credentials that it asks for. */
function compile(written: object, to: Partial<PolicyDestination> = {}, known: Partial<KeptState<Credential>> = {}) {
  const sources: CredentialSource[] = []
  const asked: string[] = []
  let credential: CloudCredential | undefined
  const at = (source: CredentialSource): CloudCredential => {
    sources.push(source)
    credential = new CloudCredential(source, (id) => asked.push(id))
    if (Object.keys(known).length > 0) credential.update(stateOf(source.id, known))
    return credential
  }
  const destination = { hostname: undefined, signing: undefined, ...to }
  const context = contextWith({
    secrets: SECRETS,
    destination,
    clouds: { hashing: HASHING, credentials: { at }, region: 'eu-north-1' },
  })
  const run = auth.compile([sourceOf(specFrom(backendAuth, written))], context)!
  const update = (state: Partial<KeptState<Credential>>) => credential!.update(stateOf(sources[0]!.id, state))
  return { run, sources, asked, update, problems: context.problems }
}

const stateOf = (id: string, more: Partial<KeptState<Credential>>): KeptState<Credential> => ({
  id,
  value: undefined,
  fetchedMs: NOW,
  failure: undefined,
  final: true,
  restMs: 0,
  ...more,
})
const token = (text: string, expiresMs = NOW + 1): Partial<KeptState<Credential>> => ({
  value: { secret: { token: text }, expiresMs },
})

function send({ run }: ReturnType<typeof compile>) {
  const exchange = exchangeWith({ headers: { authorization: 'Bearer client' } })
  exchange.context = runContext({ ...NO_STEPS, now: () => NOW })
  return { exchange, outcome: run.request!(exchange), lines: () => linesOf(exchange.request) }
}

const requestOf = (written: object, to: Partial<PolicyDestination> = {}): CredentialRequest =>
  compile(written, to).sources[0]!.request
const COGNITIVE = 'https://cognitiveservices.azure.com/.default'

test.each([
  ['cloudTwo', { cloudTwo: {} }, 'Azure'],
  ['cloudThree', { cloudThree: {} }, 'Google Cloud'],
])('%s is not obtained for a backend that accepts only signatures for its service', (cloud, written, product) => {
  const signing = { service: 'bedrock-agentcore', region: 'us-east-1', only: true } as const
  const policy = compile(written, { signing })
  expect([codeOf(policy.run.request!(exchangeWith())), policy.sources]).toEqual(['backend-auth-failed', []])
  expect(policy.problems).toMatchObject([
    {
      code: 'credential-invalid',
      severity: 'error',
      path: `spec.traffic.field.${cloud}`,
      message: `${cloud} (${product}) cannot be used with an agent runtime; use cloudOne (AWS) or a bearer token; requests are refused`,
    },
  ])
})

verifies('backend.auth.cloudTwo/secretRef', 'a token for the application that the Secret names', () => {
  const client = { clientId: 'app', tenantId: 'tenant', secret: 's3cret' }
  expect(requestOf({ cloudTwo: { secretRef: { name: 'azure' } } })).toEqual({
    cloud: 'cloudTwo',
    scope: COGNITIVE,
    client,
  })
})

verifies(
  'backend.auth.cloudTwo/managedIdentity',
  'a token of the managed identity: the first name that is not empty',
  () => {
    const identities: [ids: [string, string, string], parameter: string, value: string][] = [
      [['a', 'b', 'c'], 'client_id', 'a'],
      [['', 'b', 'c'], 'object_id', 'b'],
      [['', '', 'c'], 'msi_res_id', 'c'],
    ]
    for (const [[clientId, objectId, resourceId], parameter, value] of identities) {
      const managedIdentity = { clientId, objectId, resourceId }
      expect(requestOf({ cloudTwo: { managedIdentity } })).toEqual({
        cloud: 'cloudTwo',
        scope: COGNITIVE,
        identity: { parameter, value },
      })
    }
  },
)

test('Azure: the API of the token, by the host; without a Secret, from the environment', () => {
  expect(requestOf({ cloudTwo: {} })).toEqual({ cloud: 'cloudTwo', scope: COGNITIVE })
  expect(requestOf({ cloudTwo: {} }, { hostname: 'r.Services.ai.azure.com' })).toMatchObject({
    scope: 'https://ai.azure.com/.default',
  })
  expect(requestOf({ cloudTwo: {} }, { hostname: 'r.openai.azure.com' })).toMatchObject({ scope: COGNITIVE })
})

verifies(
  ['backend.auth.cloudThree/secretRef', 'backend.auth.cloudThree/ambient'],
  'Google Cloud: the entry credentials.json, else the environment',
  () => {
    const credentials = JSON.stringify(ACCOUNT)
    expect(requestOf({ cloudThree: { secretRef: { name: 'google' } } })).toEqual({
      cloud: 'cloudThree',
      audience: undefined,
      credentials,
    })
    expect(requestOf({ cloudThree: {} })).toEqual({ cloud: 'cloudThree', audience: undefined })
  },
)

verifies(
  'backend.auth.cloudThree/audience-default',
  'the audience of an ID token is that of the policy, else the host of the backend',
  () => {
    const hostname = 'service.run.app'
    expect(requestOf({ cloudThree: { type: 'IdToken' } }, { hostname })).toMatchObject({
      audience: 'https://service.run.app',
    })
    expect(requestOf({ cloudThree: { type: 'IdToken', audience: 'own' } }, { hostname })).toMatchObject({
      audience: 'own',
    })
    expect(requestOf({ cloudThree: { type: 'AccessToken' } }, { hostname })).toMatchObject({ audience: undefined })
  },
)

test('sources are the same if everything of them is; their names contain no secret', () => {
  const ofSecret = (name: string, to = {}) => compile({ cloudTwo: { secretRef: { name } } }, to).sources[0]!
  expect(ofSecret('azure')).toEqual(ofSecret('azure'))
  expect(ofSecret('azure').id).not.toBe(ofSecret('azure', { hostname: 'r.services.ai.azure.com' }).id)
  expect(ofSecret('azure').label).toBe(`token of Azure for ${COGNITIVE} from Secret default/azure`)
  expect(compile({ cloudThree: { type: 'IdToken', audience: 'a' } }).sources[0]!.label).toBe(
    'ID token for a of Google Cloud from the environment of the gateway',
  )
  for (const { id } of [ofSecret('azure'), compile({ cloudThree: { secretRef: { name: 'google' } } }).sources[0]!]) {
    expect(id).not.toMatch(/s3cret|pem/)
  }
})

test('a token is sent as bearer token, in place of the credential of the client, and without waiting', () => {
  const policy = compile({ cloudThree: {} }, {}, token('one'))
  const first = send(policy)
  expect([first.outcome, first.lines()]).toEqual([undefined, ['authorization: Bearer one']])
  policy.update(token('two'))
  expect(send(policy).lines()).toEqual(['authorization: Bearer two'])
  expect(policy.asked).toEqual([])
})

test('requests wait for the first token, and for a new one when the last has expired', async () => {
  for (const known of [{}, token('old', NOW)]) {
    const policy = compile({ cloudThree: {} }, {}, known)
    const sent = [send(policy), send(policy)]
    expect(policy.asked).toHaveLength(1)
    policy.update({ failure: 'timeout', final: false })
    policy.update(token('new'))
    expect(await Promise.all(sent.map(({ outcome }) => outcome))).toEqual([undefined, undefined])
    expect(sent.map(({ lines }) => lines())).toEqual([['authorization: Bearer new'], ['authorization: Bearer new']])
  }
})

test('a source that fails: requests are refused after the attempts, and while no other is due', async () => {
  const policy = compile({ cloudThree: {} })
  const waiting = send(policy)
  policy.update({ failure: 'answered 500', restMs: 1000 })
  const detail = 'the access token of Google Cloud from the environment of the gateway is not available: answered 500'
  expect(await waiting.outcome).toMatchObject({ code: 'backend-credential-unavailable', detail })
  expect([codeOf(send(policy).outcome), policy.asked.length]).toEqual(['backend-credential-unavailable', 1])
  expect(waiting.lines()).toEqual(['authorization: Bearer client'])
})

test('a source that does not answer: requests wait five seconds', async () => {
  using time = new VirtualTime()
  const { outcome } = send(compile({ cloudThree: {} }))
  await time.pass(5000)
  expect(await outcome).toMatchObject({
    code: 'backend-credential-unavailable',
    detail: expect.stringMatching(/: no answer yet$/),
  })
})

test('the last token stays in use while it is valid', () => {
  const policy = compile({ cloudThree: {} }, {}, { ...token('one'), failure: 'timeout' })
  expect(send(policy).lines()).toEqual(['authorization: Bearer one'])
  expect(policy.problems).toMatchObject([
    { code: 'credential-stale', severity: 'warning', path: 'spec.traffic.field.cloudThree' },
  ])
  expect(policy.problems[0]!.message).toBe(
    'the access token of Google Cloud from the environment of the gateway cannot be renewed; the one obtained at 2026-01-02T03:04:05.678Z stays in use until it expires: timeout',
  )
})

test('a source that has never worked is an error of the policy', () => {
  const { problems } = compile({ cloudTwo: {} }, {}, { failure: 'timeout' })
  expect(problems).toEqual([
    {
      code: 'credential-unavailable',
      severity: 'error',
      path: 'spec.traffic.field.cloudTwo',
      message: `the token of Azure for ${COGNITIVE} from the environment of the gateway cannot be obtained, and requests are refused until it can: timeout`,
    },
  ])
})

const refused: [written: object, report: string][] = [
  [
    { cloudTwo: { secretRef: { name: 'absent' } } },
    'secret-missing cloudTwo.secretRef: the Secret `default/absent` does not exist, or has errors and is not in use',
  ],
  [
    { cloudTwo: { secretRef: { name: 'incomplete' } } },
    'secret-missing cloudTwo.secretRef: the Secret `default/incomplete` has no key `clientSecret`',
  ],
  [
    { cloudTwo: { secretRef: { name: 'path' } } },
    'credential-invalid cloudTwo.secretRef: entry tenantID of Secret path is empty or not valid',
  ],
  [
    { cloudTwo: { secretRef: { name: 'empty' } } },
    'credential-invalid cloudTwo.secretRef: entry clientSecret of Secret empty is empty or not valid',
  ],
  [
    { cloudTwo: { managedIdentity: { clientId: '', objectId: '', resourceId: '' } } },
    'credential-incomplete cloudTwo.managedIdentity: clientId, objectId and resourceId are empty; one of them must name the identity',
  ],
  [
    { cloudTwo: { managedIdentity: { clientId: 'a', objectId: 'b\n', resourceId: '' } } },
    'credential-invalid cloudTwo.managedIdentity.objectId: contains a character that no such id has',
  ],
  [
    { cloudThree: { type: 'IdToken', audience: 'a b' } },
    'credential-invalid cloudThree.audience: contains a character that no audience has',
  ],
  [
    { cloudThree: { secretRef: { name: 'azure' } } },
    'secret-missing cloudThree.secretRef: the Secret `default/azure` has no key `credentials.json`',
  ],
  [
    { cloudThree: { secretRef: { name: 'text' } } },
    'credential-invalid cloudThree.secretRef: entry credentials.json of Secret text is not a JSON object',
  ],
  [
    { cloudThree: { secretRef: { name: 'external' } } },
    'credential-invalid cloudThree.secretRef: entry credentials.json of Secret external must have one of the types service_account, authorized_user, impersonated_service_account',
  ],
  [
    { cloudThree: { secretRef: { name: 'nested' } } },
    'credential-invalid cloudThree.secretRef: entry credentials.json of Secret nested has source_credentials that cannot be used: the object must have one of the types service_account, authorized_user, impersonated_service_account',
  ],
  [
    { cloudThree: { secretRef: { name: 'keyless' } } },
    'credential-invalid cloudThree.secretRef: entry credentials.json of Secret keyless has no member private_key',
  ],
  [
    { cloudThree: { type: 'IdToken' } },
    'credential-incomplete cloudThree: the backend has no hostname that could be the audience of the ID token; set audience',
  ],
]
for (const [written, report] of refused) {
  test(`refused before anything is sent: ${report}`, () => {
    const policy = compile(written)
    expect([codeOf(send(policy).outcome), policy.sources]).toEqual(['backend-auth-failed', []])
    expect(policy.problems.map(({ code, path, message }) => `${code} ${path}: ${message}`)).toEqual([
      `${report.replace(' ', ' spec.traffic.field.')}; requests are refused`,
    ])
  })
}
