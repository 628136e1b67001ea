import { expect, test } from 'vitest'
import type { Identity } from '#exchange/exchange.ts'
import { nodeOf } from '#schema/index.ts'
import { verifies } from '#test/support/verifies.ts'
import { codeOf, contextWith, exchangeWith, linesOf, sourceOf, specFrom } from '../../shared/testing.ts'
import { auth } from './index.ts'
import { backendAuth } from './schema.ts'

const SECRETS = {
  secrets: { token: { Authorization: '  s3cret\n' }, wrong: { authorization: 'x' }, broken: { Authorization: 'a\nb' } },
}

function send(written: object, identity: Partial<Identity> = {}, headers = {}) {
  const context = contextWith(SECRETS)
  const run = auth.compile([sourceOf(specFrom(backendAuth, written))], context)!
  const exchange = exchangeWith({ target: '/p', headers })
  Object.assign(exchange.identity, identity)
  const code = codeOf(run.request!(exchange))
  return { code, lines: linesOf(exchange.request), target: exchange.request.target, reports: context.reports }
}

const SENT = { code: 'proceed', target: '/p', reports: [] }

verifies('backend.auth/location-default', 'without location, Authorization with the prefix Bearer', () => {
  expect(send({ key: 'k' })).toEqual({ ...SENT, lines: ['authorization: Bearer k'] })
})
verifies('backend.auth/location-applies', 'key, secretRef and passthrough are written where location says', () => {
  const location = { header: { name: 'x-key', prefix: 'Key ' } }
  expect(send({ key: 'k', location }).lines).toEqual(['x-key: Key k'])
  expect(send({ secretRef: { name: 'token' }, location }).lines).toEqual(['x-key: Key s3cret'])
  expect(send({ passthrough: {}, location }, { apiKey }).lines).toEqual(['x-key: Key the-key'])
})
verifies(['backend.auth/key', 'backend.auth/location-header'], 'the key is written to its header', () => {
  expect(send({ key: 'Bearer k' })).toEqual({ ...SENT, lines: ['authorization: Bearer k'] })
  expect(send({ key: 'k' }, {}, { authorization: ['Bearer client', 'Basic client'] }).lines).toEqual([
    'authorization: Bearer k',
  ])
  expect(send({ key: 'k', location: { header: { name: 'X-Key' } } }).lines).toEqual(['x-key: k'])
  expect(send({ key: 'k', location: { header: { name: 'Authorization', prefix: 'Token' } } }).lines).toEqual([
    'authorization: Token k',
  ])
})
verifies('backend.auth/secretRef', 'the value of the Secret is written, without surrounding white space', () => {
  expect(send({ secretRef: { name: 'token' } })).toEqual({ ...SENT, lines: ['authorization: Bearer s3cret'] })
})
verifies('backend.auth/location-query-parameter', 'a query parameter', () => {
  expect(send({ key: 'k&', location: { queryParameter: { name: 'key' } } })).toEqual({
    ...SENT,
    lines: [],
    target: '/p?key=k%26',
  })
})
verifies('backend.auth/location-cookie', 'a cookie', () => {
  expect(send({ key: 'k', location: { cookie: { name: 'key' } } }, {}, { cookie: 'key=client; b=2' }).lines).toEqual([
    'cookie: b=2; key=k',
  ])
})

const jwt = { claims: {}, token: 'the.jwt.token' }
const apiKey = { key: 'the-key', entry: 'e', metadata: {} }
const basicAuth = { username: 'u', credential: 'dTpw' }

verifies('backend.auth/passthrough', 'the validated credential is restored: JWT, API key, Basic', () => {
  const cases: [Partial<Identity>, string][] = [
    [{ jwt, apiKey, basicAuth }, 'authorization: Bearer the.jwt.token'],
    [{ apiKey, basicAuth }, 'authorization: Bearer the-key'],
    [{ basicAuth }, 'authorization: Basic dTpw'],
  ]
  for (const [identity, line] of cases) {
    expect(send({ passthrough: {} }, identity)).toEqual({ ...SENT, lines: [line] })
    const custom = { passthrough: {}, location: { header: { name: 'x-token' } } }
    expect(send(custom, identity).lines).toEqual([line.replace(/.* /, 'x-token: ')])
  }
})
verifies('backend.auth/passthrough-without-authentication', 'without a validated credential, nothing changes', () => {
  expect(send({ passthrough: {} }, {}, { authorization: 'Bearer client' })).toEqual({
    ...SENT,
    lines: ['authorization: Bearer client'],
  })
})

test.each([
  ['absent', 'the Secret `default/absent` does not exist, or has errors and is not in use'],
  ['wrong', 'the Secret `default/wrong` has no key `Authorization`; rename its key `authorization`'],
])('a credential that is missing says why: %s', (name, detail) => {
  const run = auth.compile([sourceOf(specFrom(backendAuth, { secretRef: { name } }))], contextWith(SECRETS))!
  expect(run.request!(exchangeWith({ target: '/p' }))).toMatchObject({ detail })
})

const refused: [written: object, report: string][] = [
  [{ secretRef: { name: 'absent' } }, 'secret-missing spec.traffic.field.secretRef'],
  [{ secretRef: { name: 'wrong' } }, 'secret-missing spec.traffic.field.secretRef'],
  [{ secretRef: { name: 'broken' } }, 'credential-invalid spec.traffic.field.secretRef'],
  [{ key: '' }, 'credential-invalid spec.traffic.field.key'],
  [{ key: 'a; b', location: { cookie: { name: 'c' } } }, 'credential-invalid spec.traffic.field.key'],
]
for (const [written, report] of refused) {
  test(`refused before anything is sent: ${JSON.stringify(written)}`, () => {
    expect(send(written)).toEqual({ code: 'backend-auth-failed', lines: [], target: '/p', reports: [report] })
  })
}

test('a client credential that the location cannot hold is refused', () => {
  const odd = { apiKey: { ...apiKey, key: 'a; admin=1' } }
  expect(send({ passthrough: {}, location: { cookie: { name: 'c' } } }, odd).code).toBe('backend-auth-failed')
})

test('the entries that the Secret of cloudOne must have', () => {
  const { secretRef } = nodeOf(backendAuth).properties!.cloudOne!.properties!
  expect(secretRef?.refersTo?.entries).toEqual([['accessKey'], ['secretKey']])
})
