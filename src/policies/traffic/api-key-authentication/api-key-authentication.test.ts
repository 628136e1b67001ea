import { expect, test } from 'vitest'
import { REJECTIONS } from '#base/rejections.ts'
import { digestKey } from '#base/sha256.ts'
import { type Outcome, reject } from '#exchange/outcome.ts'
import { verifies } from '#test/support/verifies.ts'
import { authorizationHeader } from '../../shared/authentication/credential-location.ts'
import {
  type ContextInputs,
  codeOf,
  contextWith,
  type ExchangeInputs,
  exchangeWith,
  linesOf,
  sendTo,
  sourceOf,
  specFrom,
} from '../../shared/testing.ts'
import { apiKeyAuthentication } from './index.ts'
import { type ApiKeyPlan, type KeyHolder, runApiKey } from './run.ts'
import { trafficApiKeyAuthentication } from './schema.ts'

const KEYS: ContextInputs = {
  secrets: { keys: { alice: 'k-alice', bob: '{"key":"k-bob","metadata":{"group":"ops"}}' } },
}
const REFS = { secretRef: { name: 'keys' } }

function policyWith(spec: object = {}, inputs = KEYS) {
  const context = contextWith(inputs)
  const source = sourceOf(specFrom(trafficApiKeyAuthentication, { ...REFS, ...spec }))
  const run = apiKeyAuthentication.compile([source], context)!
  return {
    context,
    send: sendTo(run),
  }
}

const bearer = (key: string): ExchangeInputs => ({ headers: { authorization: `Bearer ${key}` } })

verifies(
  ['traffic.apiKeyAuthentication/strict-missing', 'traffic.apiKeyAuthentication/mode-default'],
  'Strict, no key',
  () => {
    expect(codeOf(policyWith().send({}).outcome)).toBe('api-key-missing')
  },
)
verifies('traffic.apiKeyAuthentication/strict-invalid', 'Strict, unknown key', () => {
  expect(codeOf(policyWith().send(bearer('nobody')).outcome)).toBe('api-key-unknown')
})
verifies('traffic.apiKeyAuthentication/strict-valid', 'Strict, known key', () => {
  expect(codeOf(policyWith().send(bearer('k-alice')).outcome)).toBe('proceed')
})
verifies('traffic.apiKeyAuthentication/optional-absent', 'Optional, no key', () => {
  expect(codeOf(policyWith({ mode: 'Optional' }).send({}).outcome)).toBe('proceed')
})
verifies('traffic.apiKeyAuthentication/optional-present', 'Optional, unknown and known key', () => {
  const policy = policyWith({ mode: 'Optional' })
  expect(codeOf(policy.send(bearer('nobody')).outcome)).toBe('api-key-unknown')
  expect(codeOf(policy.send(bearer('k-alice')).outcome)).toBe('proceed')
})
test('if the location does not compile, no request counts as one without a key', () => {
  const location = { expression: 'request.headers[' }
  const codes = ['Strict', 'Optional', 'Permissive'].map((mode) => {
    const { exchange, outcome } = policyWith({ mode, location }).send(bearer('k-alice'))
    expect(exchange.identity.apiKey).toBeUndefined()
    return codeOf(outcome)
  })
  expect(codes).toEqual(['api-key-unknown', 'api-key-unknown', 'proceed'])
})
test('without any usable key the detail of the refusal says so', () => {
  expect(policyWith({}, { secrets: {} }).send(bearer('k-alice')).outcome).toMatchObject({
    code: 'api-key-unknown',
    detail: 'spec.traffic.field of ProxyPolicy default/test has no usable key',
  })
  expect(policyWith().send(bearer('nobody')).outcome).toMatchObject({ detail: undefined })
})
test('metadata keep their numbers', () => {
  const entry = '{"key":"k","metadata":{"tenant":9007199254740993}}'
  const { exchange } = policyWith({}, { secrets: { keys: { a: entry } } }).send(bearer('k'))
  expect(JSON.stringify(exchange.identity.apiKey?.metadata)).toBe('{"tenant":9007199254740993}')
})

verifies('traffic.apiKeyAuthentication/permissive-missing', 'Permissive, no key', () => {
  expect(codeOf(policyWith({ mode: 'Permissive' }).send({}).outcome)).toBe('proceed')
})
verifies('traffic.apiKeyAuthentication/permissive-invalid', 'Permissive, unknown key: forwarded unchanged', () => {
  const { exchange, outcome } = policyWith({ mode: 'Permissive' }).send(bearer('nobody'))
  expect(outcome).toBeUndefined()
  expect(exchange.request.get('authorization')).toBe('Bearer nobody')
  expect(exchange.identity.apiKey).toBeUndefined()
})

verifies(
  ['traffic.apiKeyAuthentication/credential-stripped', 'traffic.apiKeyAuthentication/location-default'],
  'a known key is removed from the request, in every mode',
  () => {
    for (const mode of ['Strict', 'Optional', 'Permissive']) {
      const { exchange } = policyWith({ mode }).send({ headers: { accept: '*/*', authorization: 'Bearer k-alice' } })
      expect(linesOf(exchange.request), mode).toEqual(['accept: */*'])
      expect(exchange.identity.apiKey?.entry, mode).toBe('default/keys/alice')
    }
  },
)

verifies(
  [
    'traffic.apiKeyAuthentication/entry-name',
    'traffic.apiKeyAuthentication/entry-string',
    'traffic.apiKeyAuthentication/entry-json',
    'traffic.apiKeyAuthentication/metadata',
    'traffic.apiKeyAuthentication/secretRef',
  ],
  'later steps see the holder of a key',
  () => {
    const policy = policyWith()
    expect(policy.send(bearer('k-alice')).exchange.identity.apiKey).toEqual({
      key: 'k-alice',
      entry: 'default/keys/alice',
      metadata: {},
    })
    expect(policy.send(bearer('k-bob')).exchange.identity.apiKey).toEqual({
      key: 'k-bob',
      entry: 'default/keys/bob',
      metadata: { group: 'ops' },
    })
  },
)

verifies(
  ['traffic.apiKeyAuthentication/location', 'traffic.apiKeyAuthentication/credential-stripped'],
  'the key is read and removed at each location',
  () => {
    const cases: [object | undefined, ExchangeInputs, (e: ReturnType<typeof exchangeWith>) => unknown][] = [
      [{ header: { name: 'X-Api-Key' } }, { headers: { 'x-api-key': 'k-alice' } }, (e) => e.request.has('x-api-key')],
      [{ queryParameter: { name: 'key' } }, { target: '/p?key=k-alice' }, (e) => e.request.target !== '/p'],
      [{ cookie: { name: 'key' } }, { headers: { cookie: 'key=k-alice' } }, (e) => e.request.has('cookie')],
    ]
    for (const [location, request, remains] of cases) {
      const { exchange, outcome } = policyWith({ location }).send(request)
      expect(codeOf(outcome)).toBe('proceed')
      expect(remains(exchange)).toBe(false)
    }
  },
)

verifies('location/expression', 'a key found by an expression is used but not removed, and a finding says so', () => {
  const policy = policyWith({ location: { expression: 'request.headers["x-custom"]' } })
  const { exchange, outcome } = policy.send({ headers: { 'x-custom': 'k-alice' } })
  expect(codeOf(outcome)).toBe('proceed')
  expect(exchange.request.get('x-custom')).toBe('k-alice')
  expect(policy.context.reports).toEqual(['credential-not-removed spec.traffic.field.location.expression'])
  expect(codeOf(policy.send({}).outcome)).toBe('api-key-missing')
})

test('two different keys in one location are refused', () => {
  const headers = { authorization: ['Bearer k-alice', 'Bearer k-bob'] }
  expect(codeOf(policyWith().send({ headers }).outcome)).toBe('api-key-unknown')
  expect(codeOf(policyWith({ mode: 'Permissive' }).send({ headers }).outcome)).toBe('proceed')
})

test.each([
  [{ x_API_key: 'k-alice' }, 'proceed'],
  [{ 'x-api-key': 'k-alice', X_Api_Key: 'k-alice' }, 'proceed'],
  [{ 'x-api-key': 'k-alice', X_Api_Key: 'k-bob' }, 'api-key-unknown'],
])('backends may treat %j as one header name (decision A-134)', (headers, code) => {
  const { exchange, outcome } = policyWith({ location: { header: { name: 'X-Api-Key' } } }).send({ headers })
  expect(codeOf(outcome)).toBe(code)
  if (code === 'proceed') expect(linesOf(exchange.request)).toEqual([])
})

const challenges: [object | undefined, number, string][] = [
  [undefined, 401, 'www-authenticate: Bearer'],
  [{ header: { name: 'Authorization', prefix: 'Bearer ' } }, 401, 'www-authenticate: Bearer'],
  [{ header: { name: 'x-api-key' } }, 401, 'www-authenticate: ApiKey'],
  [{ header: { name: 'x-api-key', prefix: 'Bearer' } }, 401, 'www-authenticate: ApiKey'],
  [{ header: { name: 'x-api-key', prefix: 'Bearer ' } }, 401, 'www-authenticate: ApiKey'],
  [{ queryParameter: { name: 'key' } }, 401, 'www-authenticate: ApiKey'],
  [{ header: { name: 'Proxy-Authorization', prefix: 'Bearer' } }, 407, 'proxy-authenticate: Bearer'],
]
for (const [location, status, challenge] of challenges) {
  test(`challenge for ${JSON.stringify(location)}`, () => {
    const { outcome } = policyWith({ location }).send({})
    if (outcome?.kind !== 'refusal') throw new Error('not refused')
    expect(outcome.status ?? REJECTIONS[outcome.code].status).toBe(status)
    expect(outcome.headers.map((pair) => pair.join(': '))).toEqual([challenge])
  })
}

verifies('traffic.apiKeyAuthentication/secretSelector', 'exactly the Secrets with the labels are used', () => {
  const policy = policyWith(
    { secretRef: undefined, secretSelector: { matchLabels: { use: 'keys' } } },
    {
      secrets: { one: { a: 'k-one' }, two: { b: 'k-two' }, other: { c: 'k-other' } },
      labels: { one: { use: 'keys' }, two: { use: 'keys', team: 'x' }, other: { use: 'tls' } },
    },
  )
  expect(['k-one', 'k-two', 'k-other'].map((key) => codeOf(policy.send(bearer(key)).outcome))).toEqual([
    'proceed',
    'proceed',
    'api-key-unknown',
  ])
})

verifies(
  'traffic.apiKeyAuthentication/duplicate-key',
  'the first Secret, then the first entry takes precedence',
  () => {
    const policy = policyWith(
      { secretRef: undefined, secretSelector: { matchLabels: {} } },
      { secrets: { b: { early: 'same' }, a: { z: 'same', x: 'same', y: 'same' } } },
    )
    expect(policy.send(bearer('same')).exchange.identity.apiKey?.entry).toBe('default/a/x')
    expect(policy.context.problems.map((problem) => problem.message)).toEqual([
      'Secret a, entry y: duplicate of the key in entry default/a/x; this entry is ignored',
      'Secret a, entry z: duplicate of the key in entry default/a/x; this entry is ignored',
      'Secret b, entry early: duplicate of the key in entry default/a/x; this entry is ignored',
    ])
    expect(new Set(policy.context.reports)).toEqual(new Set(['api-key-duplicate spec.traffic.field.secretSelector']))
    expect(new Set(policy.context.problems.map(({ severity }) => severity))).toEqual(new Set(['warning']))
  },
)

const entries: [value: string, sent: string, outcome: string, problem: string | undefined][] = [
  // value                                     sent    outcome            problem
  ['  k1 \n', 'k1', 'proceed', undefined],
  ['{"key":"k2"}', 'k2', 'proceed', undefined],
  [' {"key":" k3 ","metadata":{}}\n', 'k3', 'proceed', undefined],
  ['{"key":"clé"}'.replace('é', 'Ã©'), 'clÃ©', 'proceed', undefined],
  ['k\u00c3\u00a0\n', 'k\u00c3\u00a0', 'proceed', undefined],
  ['', '', 'api-key-missing', 'is empty'],
  ['{"key":', '{"key":', 'api-key-unknown', 'starts with "{" but is not valid JSON'],
  ['{"key":7}', '7', 'api-key-unknown', 'key must be a string'],
  ['{"key":""}', 'x', 'api-key-unknown', 'key is empty'],
  ['{}', 'x', 'api-key-unknown', 'key must be a string'],
  ['{"key":"k","extra":1}', 'k', 'api-key-unknown', 'has unknown members: extra'],
  ['{"key":"k","metadata":"text"}', 'k', 'api-key-unknown', 'metadata must be an object'],
  ['{"key":"k","metadata":null}', 'k', 'api-key-unknown', 'metadata must be an object'],
  ['{"key":"k","metadata":[]}', 'k', 'api-key-unknown', 'metadata must be an object'],
  ['{"key":"k","metadata":{"key":"v"}}', 'k', 'api-key-unknown', 'metadata must not have a member named key'],
]
for (const [value, sent, outcome, problem] of entries) {
  test(`entry ${JSON.stringify(value)}`, () => {
    const policy = policyWith({}, { secrets: { keys: { bad: value, good: 'k-good' } } })
    expect(codeOf(policy.send(bearer(sent)).outcome)).toBe(outcome)
    expect(codeOf(policy.send(bearer('k-good')).outcome)).toBe('proceed')
    const messages = policy.context.problems.map(({ message }) => message)
    expect(messages).toEqual(problem === undefined ? [] : [`Secret keys, entry bad: ${problem}`])
    const reports = problem === undefined ? [] : ['api-key-entry-invalid spec.traffic.field.secretRef']
    expect(policy.context.reports).toEqual(reports)
    for (const { severity } of policy.context.problems) expect(severity).toBe('error')
  })
}

test.each([
  ['named', {}, '.secretRef', 'Secret keys does not exist; no key is known'],
  [
    'with the labels',
    { secretRef: undefined, secretSelector: { matchLabels: { use: 'keys' } } },
    '.secretSelector',
    'no Secret has these labels; no key is known',
  ],
])('a missing Secret is reported, and requests are refused: %s', (_, spec, field, message) => {
  const policy = policyWith(spec, {})
  const path = `spec.traffic.field${field}`
  expect(policy.context.problems).toEqual([{ severity: 'error', code: 'secret-missing', path, message }])
  expect(codeOf(policy.send(bearer('k-alice')).outcome)).toBe('api-key-unknown')
})

test('the key is read as received, even if another policy has removed it', () => {
  const run = apiKeyAuthentication.compile([sourceOf(specFrom(trafficApiKeyAuthentication, REFS))], contextWith(KEYS))!
  const exchange = exchangeWith(bearer('k-alice'))
  exchange.request.remove('authorization')
  expect(codeOf(run.request!(exchange) as Outcome)).toBe('proceed')
})

test('the body is buffered if the key is in it', () => {
  const readsBody = (location: object) => {
    const spec = specFrom(trafficApiKeyAuthentication, { ...REFS, location })
    return apiKeyAuthentication.compile([sourceOf(spec)], contextWith(KEYS))!.readsRequestBody
  }
  expect(readsBody({ expression: 'string(request.body)' })).toBe(true)
  expect(readsBody({ expression: 'request.headers["x"]' })).toBe(false)
})

test('only valid keys are cached, so clients cannot fill memory', () => {
  const holder: KeyHolder = { entry: 'default/keys/alice', metadata: {} }
  const plan: ApiKeyPlan = {
    mode: 'Strict',
    location: authorizationHeader('Bearer'),
    holders: new Map([[digestKey('k-alice'), holder]]),
    presented: new Map(),
    missing: reject('api-key-missing'),
    unknown: reject('api-key-unknown'),
  }
  for (const key of ['k-alice', 'guess-1', 'guess-2', 'k-alice']) runApiKey(plan, exchangeWith(bearer(key)))
  expect([...plan.presented]).toEqual([['k-alice', holder]])
})
