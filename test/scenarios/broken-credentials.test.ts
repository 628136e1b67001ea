import { expect, test } from 'vitest'
import { refusalStatus, refusalText } from '#exchange/outcome.ts'
import type { ExchangeInputs } from '#policies/shared/testing.ts'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'
import { createSigningKey, keySetOf, signToken } from '#test/support/token-issuer.ts'

// What clients learn about a wrong credential, and what a broken setting of a policy does.

const OBJECTS = joinYaml(gatewayYaml(8080), backendYaml('web', 9000), routeYaml('all', '/', 'web'))

const secretYaml = (stringData: object) =>
  `\napiVersion: v1\nkind: Secret\nmetadata: { name: keys }\nstringData: ${JSON.stringify(stringData)}\n`

/** What the client gets, 200 if the request is forwarded; and what the status of the objects says. */
async function answer(traffic: object, request: ExchangeInputs, more = '') {
  const yaml = joinYaml(OBJECTS, policyYaml('tested', 'HTTPRoute', 'all', { traffic }), ...(more === '' ? [] : [more]))
  const { outcome, findings } = await seeRequest(yaml, request)
  const said = findings.filter(({ severity }) => severity === 'error').map(({ code, path }) => `${code} ${path}`)
  if (outcome === undefined) return { got: { status: 200 }, said }
  if (outcome.kind !== 'refusal') throw new Error('not a refusal')
  return { got: { status: refusalStatus(outcome), text: refusalText(outcome), headers: outcome.headers }, said }
}

const APR1 = 'ann:$apr1$mUWgnr0L$RTDzvCcWQpuz4zAkkQ.oX1'
const BASIC = { basicAuthentication: { users: [APR1, 'bob:plain', 'no colon'] } }
const basic = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } })

const KEY = createSigningKey('P-256')
const OTHER = createSigningKey('P-256', 'other')
const ISSUER = 'https://id.test'
const CLAIMS = { iss: ISSUER, aud: 'shop', exp: Math.floor(Date.now() / 1000) + 600 }
const jwt = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const provider = (inline: string, issuer = ISSUER) => ({ issuer, audiences: ['shop'], jwks: { inline } })
const JWT = { jwtAuthentication: { providers: [provider(keySetOf(KEY))] } }
const GOOD = signToken(KEY, 'ES256', CLAIMS)

const API_KEYS = { apiKeyAuthentication: { secretRef: { name: 'keys' } } }
const SECRET = secretYaml({ ann: 'k-ann', bob: '{"key":', cy: '{"key":"","metadata":{}}', dan: '{"key":"k-dan"}' })

test.each<[what: string, traffic: object, requests: ExchangeInputs[], secret?: string]>([
  [
    'Basic: unknown user, wrong password, unusable line, not base64',
    BASIC,
    [basic('eve:x'), basic('ann:x'), basic('bob:plain'), { headers: { authorization: 'Basic ?' } }],
  ],
  [
    'JWT: another signature, expired, other audience, other issuer, unknown key, no token at all',
    JWT,
    [
      jwt(signToken(OTHER, 'ES256', CLAIMS, { kid: KEY.jwk.kid })),
      jwt(signToken(KEY, 'ES256', { ...CLAIMS, exp: 1 })),
      jwt(signToken(KEY, 'ES256', { ...CLAIMS, aud: 'bank' })),
      jwt(signToken(KEY, 'ES256', { ...CLAIMS, iss: 'https://other.test' })),
      jwt(signToken(OTHER, 'ES256', CLAIMS)),
      jwt('abc'),
    ],
  ],
  [
    'API key: unknown, of a broken entry, of an empty entry',
    API_KEYS,
    [jwt('k-eve'), jwt('{"key":'), jwt('bob')],
    SECRET,
  ],
])('the answer does not say what is wrong: %s', async (_, traffic, requests, secret) => {
  const answers = await Promise.all(requests.map((request) => answer(traffic, request, secret)))
  for (const { got } of answers) expect(got).toEqual(answers[0]!.got)
  expect(answers[0]!.got).toMatchObject({ status: 401 })
})

const extAuth = (more: object) => ({
  extAuth: {
    backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'web' },
    failureMode: 'FailOpen',
    ...more,
  },
})
const globalLimit = (more: object) => ({
  rateLimit: {
    global: {
      backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'web' },
      domain: 'shop',
      descriptors: [{ entries: [{ name: 'a', expression: '1 +' }] }],
      ...more,
    },
  },
})
const rule = (action: string, expression: string) => ({
  authorization: { action, policy: { matchExpressions: [expression] } },
})

test.each<[what: string, traffic: object, request: ExchangeInputs, status: number, said: string]>([
  [
    'a key set that is not JSON',
    { jwtAuthentication: { providers: [provider('{"keys":')] } },
    jwt(GOOD),
    401,
    'key-set',
  ],
  [
    'a key set without a usable key',
    { jwtAuthentication: { providers: [provider('{"keys":[]}')] } },
    jwt(GOOD),
    401,
    'key-set',
  ],
  ['no usable line of users', { basicAuthentication: { users: ['bob:plain'] } }, basic('bob:plain'), 401, 'htpasswd'],
  [
    'a location that does not compile',
    { apiKeyAuthentication: { ...API_KEYS.apiKeyAuthentication, mode: 'Optional', location: { expression: '1 +' } } },
    {},
    401,
    'cel-syntax',
  ],
  ['Deny with a pattern outside RE2', rule('Deny', 'request.path.matches("(?=a)")'), {}, 403, 'invalid-pattern'],
  ['Require with a pattern outside RE2', rule('Require', 'request.path.matches("(?=a)")'), {}, 403, 'invalid-pattern'],
  ['Allow that does not compile', rule('Allow', 'request.'), {}, 403, 'cel-syntax'],
  ['extAuth: metadata', extAuth({ grpc: { requestMetadata: { a: '1 +' } } }), {}, 403, 'cel-syntax'],
  ['extAuth: path', extAuth({ http: { path: 'request.paht' } }), {}, 403, 'cel-'],
  ['extAuth: a header', extAuth({ http: { addRequestHeaders: { a: '1 +' } } }), {}, 403, 'cel-syntax'],
  ['extAuth: redirect', extAuth({ http: { redirect: '1 +' } }), {}, 403, 'cel-syntax'],
  ['extAuth: metadata of the answer', extAuth({ http: { responseMetadata: { a: '1 +' } } }), {}, 403, 'cel-syntax'],
  [
    'extAuth: a condition',
    { extAuth: { conditional: [{ condition: '1 +', policy: extAuth({ grpc: {} }).extAuth }] } },
    {},
    403,
    'cel-syntax',
  ],
  [
    'extAuth: the name of a header',
    extAuth({ http: { allowedResponseHeaders: ['x user'] } }),
    {},
    403,
    'header-invalid',
  ],
  ['a global limit: an entry', globalLimit({}), {}, 500, 'cel-syntax'],
])('%s: the policy denies, and the status says so', async (_, traffic, request, status, said) => {
  const { got, said: findings } = await answer(traffic, request, SECRET)
  expect(got).toMatchObject({ status })
  expect(findings.join('\n')).toContain(said)
})

test('the good entries work', async () => {
  expect(await answer(API_KEYS, jwt('k-ann'), SECRET)).toMatchObject({ got: { status: 200 } })
  expect(await answer(API_KEYS, jwt('k-dan'), SECRET)).toMatchObject({ got: { status: 200 } })
  expect((await answer(API_KEYS, jwt('k-dan'), SECRET)).said).toHaveLength(2)
  const broken = provider('{"keys":', 'https://broken.test')
  const providers = { jwtAuthentication: { providers: [broken, ...JWT.jwtAuthentication.providers] } }
  expect(await answer(providers, jwt(GOOD))).toMatchObject({
    got: { status: 200 },
    said: [expect.stringContaining('providers[0]')],
  })
})

test('with FailOpen, a global limit whose expression does not compile limits nothing', async () => {
  const { got, said } = await answer(globalLimit({ failureMode: 'FailOpen' }), {})
  expect([got.status, said.length]).toEqual([200, 1])
})
