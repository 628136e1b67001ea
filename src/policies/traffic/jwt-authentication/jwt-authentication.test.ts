import { createHmac, sign } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { REJECTIONS } from '#base/rejections.ts'
import { importKey } from '#test/support/import-key.ts'
import {
  createSigningKey,
  encode,
  type KeyKind,
  keySetOf,
  privateJwkOf,
  signToken,
} from '#test/support/token-issuer.ts'
import { verifies } from '#test/support/verifies.ts'
import type { KeySetState } from '../../shared/authentication/remote-key-set.ts'
import { TOKEN_FAILURES, type TokenFailure } from '../../shared/jwt/token-failure.ts'
import {
  codeOf,
  contextWith,
  type ExchangeInputs,
  exchangeWith,
  linesOf,
  runContext,
  sendTo,
  sourceOf,
  specFrom,
} from '../../shared/testing.ts'
import { jwtAuthentication } from './index.ts'
import { trafficJwtAuthentication } from './schema.ts'

const ISSUER = 'https://id.example.com'
const KEY = createSigningKey('P-256')
const OTHER_KEY = createSigningKey('P-256')
const NOW = 1_800_000_000
const CLAIMS = { iss: ISSUER, exp: NOW + 300, sub: 'ann' }
const GOOD = signToken(KEY, 'ES256', CLAIMS)

const { now } = clock
let seconds = NOW

beforeEach(() => {
  seconds = NOW
  clock.now = () => seconds * 1000
})
afterEach(() => {
  clock.now = now
})

const inline = (...keys: Parameters<typeof keySetOf>) => ({ inline: keySetOf(...keys) })
const PROVIDERS = [{ issuer: ISSUER, jwks: inline(KEY) }]

/** A policy that counts its signature checks. */
function policyWith(spec: object = {}) {
  let checks = 0
  const context = contextWith({
    importKey: (jwk) => {
      const key = importKey(jwk)
      return key && { verify: (...inputs) => ++checks > 0 && key.verify(...inputs) }
    },
  })
  const source = sourceOf(specFrom(trafficJwtAuthentication, { providers: PROVIDERS, ...spec }))
  const run = jwtAuthentication.compile([source], context)!
  return {
    context,
    checks: () => checks,
    send: sendTo(run),
    /** `proceed`, or the reason for refusing the token. */
    judge(token: string): string {
      const { outcome } = this.send(bearer(token))
      return outcome?.kind === 'refusal' ? (outcome.detail ?? outcome.code) : 'proceed'
    },
  }
}

const bearer = (token: string): ExchangeInputs => ({ headers: { authorization: `Bearer ${token}` } })
const BAD = signToken(OTHER_KEY, 'ES256', CLAIMS)

verifies(
  ['traffic.jwtAuthentication/strict-missing', 'traffic.jwtAuthentication/mode-default'],
  'Strict, no token',
  () => {
    expect(codeOf(policyWith().send({}).outcome)).toBe('jwt-missing')
    expect(codeOf(policyWith().send({ headers: { authorization: 'Basic YTpi' } }).outcome)).toBe('jwt-missing')
  },
)
verifies('traffic.jwtAuthentication/strict-invalid', 'Strict, bad token', () => {
  expect(codeOf(policyWith().send(bearer(BAD)).outcome)).toBe('jwt-invalid')
})
test.each(['Strict', 'Optional'])('%s, several tokens', (mode) => {
  const { exchange, outcome } = policyWith({ mode }).send({
    headers: { authorization: [`Bearer ${GOOD}`, `Bearer ${BAD}`] },
  })
  expect(outcome).toMatchObject({ code: 'jwt-invalid', detail: TOKEN_FAILURES.several })
  expect(exchange.identity.jwt).toBeUndefined()
})
verifies('traffic.jwtAuthentication/strict-valid', 'Strict, good token', () => {
  expect(codeOf(policyWith().send(bearer(GOOD)).outcome)).toBe('proceed')
})
verifies('traffic.jwtAuthentication/optional-absent', 'Optional, no token', () => {
  const { exchange, outcome } = policyWith({ mode: 'Optional' }).send({})
  expect([outcome, exchange.identity.jwt]).toEqual([undefined, undefined])
})
verifies('traffic.jwtAuthentication/optional-present', 'Optional, bad and good token', () => {
  const policy = policyWith({ mode: 'Optional' })
  expect(codeOf(policy.send(bearer(BAD)).outcome)).toBe('jwt-invalid')
  expect(policy.send(bearer(GOOD)).exchange.identity.jwt?.claims).toEqual(CLAIMS)
})
verifies(
  'traffic.jwtAuthentication/permissive-never-refuses',
  'Permissive: an invalid token is forwarded unchanged',
  () => {
    const policy = policyWith({ mode: 'Permissive' })
    expect(policy.send({}).outcome).toBeUndefined()
    for (const authorization of [[`Bearer ${BAD}`], ['Bearer rubbish'], [`Bearer ${GOOD}`, `Bearer ${BAD}`]]) {
      const { exchange, outcome } = policy.send({ headers: { authorization } })
      expect([outcome, exchange.identity.jwt]).toEqual([undefined, undefined])
      expect(exchange.request.getAll('authorization')).toEqual(authorization)
    }
  },
)
verifies('traffic.jwtAuthentication/permissive-claims', 'Permissive, good token: claims, and it is removed', () => {
  const { exchange } = policyWith({ mode: 'Permissive' }).send(bearer(GOOD))
  expect(exchange.identity.jwt?.claims).toEqual(CLAIMS)
  expect(exchange.request.has('authorization')).toBe(false)
})

verifies(
  ['traffic.jwtAuthentication/credential-stripped', 'traffic.jwtAuthentication/location-default'],
  'a valid token is removed from the request and available to later steps, in every mode',
  () => {
    for (const mode of ['Strict', 'Optional', 'Permissive']) {
      const { exchange } = policyWith({ mode }).send({ headers: { accept: '*/*', authorization: `Bearer ${GOOD}` } })
      expect(linesOf(exchange.request), mode).toEqual(['accept: */*'])
      expect(exchange.identity.jwt, mode).toEqual({ claims: CLAIMS, token: GOOD })
    }
  },
)

verifies('traffic.jwtAuthentication/location', 'the token is read and removed at each location', () => {
  const cases: [object, ExchangeInputs, left: string[]][] = [
    [{ header: { name: 'X-Token' } }, { headers: { accept: '*/*', 'x-token': GOOD } }, ['/', 'accept: */*']],
    [{ header: { name: 'X-Token', prefix: 'Token ' } }, { headers: { 'x-token': `token ${GOOD}` } }, ['/']],
    [{ queryParameter: { name: 'token' } }, { target: `/p?a=1&token=${GOOD}` }, ['/p?a=1']],
    [{ cookie: { name: 'token' } }, { headers: { cookie: `a=1; token=${GOOD}; b=2` } }, ['/', 'cookie: a=1; b=2']],
    [{ expression: 'request.headers["x-token"]' }, { headers: { 'x-token': GOOD } }, ['/', `x-token: ${GOOD}`]],
  ]
  for (const [location, request, left] of cases) {
    const policy = policyWith({ location })
    const { exchange, outcome } = policy.send(request)
    expect(codeOf(outcome)).toBe('proceed')
    expect([exchange.request.target, ...linesOf(exchange.request)]).toEqual(left)
    expect(codeOf(policy.send(bearer(GOOD)).outcome)).toBe('jwt-missing')
  }
})

const challenges: [location: object | undefined, token: string, status: number, challenge: string][] = [
  [undefined, '', 401, 'www-authenticate: Bearer'],
  [undefined, BAD, 401, 'www-authenticate: Bearer error="invalid_token"'],
  [
    { header: { name: 'Proxy-Authorization', prefix: 'Bearer' } },
    BAD,
    407,
    'proxy-authenticate: Bearer error="invalid_token"',
  ],
]
for (const [location, token, status, challenge] of challenges) {
  test(`${status} ${challenge}`, () => {
    const headers = { authorization: `Bearer ${token}`, 'proxy-authorization': `Bearer ${token}` }
    const { outcome } = policyWith({ location }).send({ headers })
    if (outcome?.kind !== 'refusal') throw new Error('not refused')
    expect(outcome.status ?? REJECTIONS[outcome.code].status).toBe(status)
    expect(outcome.headers.map((pair) => pair.join(': '))).toEqual([challenge])
  })
}

const ALGORITHMS: readonly [KeyKind, ...string[]][] = [
  ['RSA', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
  ['Ed25519', 'EdDSA'],
]
for (const [kind, ...algorithms] of ALGORITHMS) {
  verifies('traffic.jwtAuthentication.jwks/inline', `a key ${kind} signs with ${algorithms}`, () => {
    const key = createSigningKey(kind)
    const policy = policyWith({ providers: [{ issuer: ISSUER, jwks: inline(KEY, key) }] })
    for (const alg of algorithms) {
      const token = signToken(key, alg, CLAIMS)
      expect(policy.judge(token)).toBe('proceed')
      const payload = encode(JSON.stringify({ ...CLAIMS, sub: 'bob' }))
      expect(policy.judge(token.replace(/\.[^.]*\./, `.${payload}.`))).toBe(TOKEN_FAILURES.signature)
    }
    for (const alg of ALGORITHMS.flatMap(([, ...all]) => all).filter((one) => !algorithms.includes(one))) {
      const token = signToken(key, algorithms[0]!, CLAIMS, { alg })
      expect(policy.judge(token), alg).toBe(TOKEN_FAILURES['other-algorithm'])
    }
  })
}

test('a key with an alg verifies only that algorithm', () => {
  const key = createSigningKey('RSA')
  const policy = policyWith({ providers: [{ issuer: ISSUER, jwks: inline({ ...key.jwk, alg: 'PS256' }) }] })
  expect(policy.judge(signToken(key, 'PS256', CLAIMS))).toBe('proceed')
  expect(policy.judge(signToken(key, 'RS256', CLAIMS))).toBe(TOKEN_FAILURES['other-algorithm'])
})

const HEADER_NOT_UTF8 = `{"alg":"ES256","kid":"${KEY.jwk.kid}","\u00ff":1}`
const header = (more: object) => encode(JSON.stringify({ alg: 'ES256', kid: KEY.jwk.kid, ...more }))
const BODY = encode(JSON.stringify(CLAIMS))
const DER = sign('sha256', Buffer.from(`${header({})}.${BODY}`), KEY.privateKey).toString('base64url')
const publicText = Buffer.from(JSON.stringify(KEY.jwk))
const hmac = (signed: string) => `${signed}.${createHmac('sha256', publicText).update(signed).digest('base64url')}`

/** The order of the group of P-256 (FIPS 186-4, D.1.2.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The other valid ECDSA signature of the same bytes: (r, n - s). */
function otherSignature(token: string): string {
  const at = token.lastIndexOf('.') + 1
  const bytes = Buffer.from(token.slice(at), 'base64url')
  const s = ORDER - BigInt(`0x${bytes.toString('hex', 32)}`)
  const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
  return token.slice(0, at) + other.toString('base64url')
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** The last of 86 characters has four unused bits. */
const withUnusedBit = (text: string) => text.slice(0, -1) + ALPHABET[ALPHABET.indexOf(text.at(-1)!) + 1]

/** Without a defect of its own. */
const SIGNATURE = GOOD.slice(GOOD.lastIndexOf('.') + 1)
const tokens: [what: string, token: string, failure: TokenFailure | undefined][] = [
  ['good', GOOD, undefined],
  ['of another key with that kid', BAD, 'signature'],
  ['text', 'rubbish', 'malformed'],
  ['two parts', GOOD.slice(0, GOOD.lastIndexOf('.')), 'malformed'],
  ['four parts', `${GOOD}.x`, 'malformed'],
  ['five parts, encrypted', 'a.b.c.d.e', 'malformed'],
  ['invalid characters', GOOD.replace('.', '+.'), 'malformed'],
  ['padding', `${GOOD}==`, 'malformed'],
  ['a signature with an unused bit', withUnusedBit(GOOD), 'malformed'],
  ['the other signature of ECDSA', otherSignature(GOOD), undefined],
  ['a space within', GOOD.replace('.', '. '), 'malformed'],
  ['header not JSON', `${encode('{')}.${BODY}.${SIGNATURE}`, 'malformed'],
  ['header a list', `${encode('[]')}.${BODY}.${SIGNATURE}`, 'malformed'],
  ['header not UTF-8', `${Buffer.of(0x7b, 0xff).toString('base64url')}.${BODY}.${SIGNATURE}`, 'malformed'],
  [
    'a name in the header not UTF-8',
    `${Buffer.from(HEADER_NOT_UTF8, 'latin1').toString('base64url')}.${BODY}.${SIGNATURE}`,
    'malformed',
  ],
  ['claims not an object', signToken(KEY, 'ES256', '"ann"'), 'malformed'],
  ['claims a list', signToken(KEY, 'ES256', '["ann"]'), 'malformed'],
  ['claims very deep', signToken(KEY, 'ES256', `{"a":${'['.repeat(4000)}`), 'malformed'],
  [
    'a claim twice',
    signToken(KEY, 'ES256', `{"iss":"${ISSUER}","exp":${NOW + 9},"sub":"a","sub":"b"}`),
    'duplicate-member',
  ],
  [
    'a claim twice, escaped',
    signToken(KEY, 'ES256', `{"iss":"${ISSUER}","exp":${NOW + 9},"sub":"a","s\\u0075b":"b"}`),
    'duplicate-member',
  ],
  [
    'twice within a claim',
    signToken(KEY, 'ES256', `{"iss":"${ISSUER}","exp":${NOW + 9},"x":[{"role":"a","role":"b"}]}`),
    'duplicate-member',
  ],
  ['claims that differ in case', signToken(KEY, 'ES256', { ...CLAIMS, Sub: 'bob' }), undefined],
  [
    'alg twice',
    `${encode(`{"alg":"none","alg":"ES256","kid":"${KEY.jwk.kid}"}`)}.${BODY}.${SIGNATURE}`,
    'duplicate-member',
  ],
  ['no alg', `${header({ alg: undefined })}.${BODY}.${SIGNATURE}`, 'malformed'],
  ['no token, of the greatest length', 'x'.repeat(16_384), 'malformed'],
  ['no token, and too long', 'x'.repeat(16_385), 'too-long'],
  ['too long', signToken(KEY, 'ES256', { ...CLAIMS, fill: 'x'.repeat(13_000) }), 'too-long'],
  ['long', signToken(KEY, 'ES256', { ...CLAIMS, fill: 'x'.repeat(11_000) }), undefined],
  ['crit', signToken(KEY, 'ES256', CLAIMS, { crit: ['b64'], b64: true }), 'critical-extension'],
  ['crit empty', signToken(KEY, 'ES256', CLAIMS, { crit: [] }), 'critical-extension'],
  ['no kid', signToken(KEY, 'ES256', CLAIMS, { kid: undefined }), 'no-kid'],
  ['kid not a string', signToken(KEY, 'ES256', CLAIMS, { kid: 7 }), 'no-kid'],
  ['unknown kid', signToken(KEY, 'ES256', CLAIMS, { kid: 'other' }), 'unknown-kid'],
  ['kid that is a property of every object', signToken(KEY, 'ES256', CLAIMS, { kid: '__proto__' }), 'unknown-kid'],
  ['a key in the token itself', signToken(OTHER_KEY, 'ES256', CLAIMS, { jwk: OTHER_KEY.jwk }), 'signature'],
  ['alg none', `${header({ alg: 'none' })}.${BODY}.`, 'other-algorithm'],
  ['alg NONE', `${header({ alg: 'NONE' })}.${BODY}.`, 'other-algorithm'],
  ['no signature', `${header({})}.${BODY}.`, 'signature'],
  ['HMAC with the public key', hmac(`${header({ alg: 'HS256' })}.${BODY}`), 'other-algorithm'],
  ['alg in small letters', signToken(KEY, 'ES256', CLAIMS, { alg: 'es256' }), 'other-algorithm'],
  ['a signature in DER', `${header({})}.${BODY}.${DER}`, 'signature'],
  ['no iss', signToken(KEY, 'ES256', { ...CLAIMS, iss: undefined }), 'no-issuer'],
  ['iss not a string', signToken(KEY, 'ES256', { ...CLAIMS, iss: [ISSUER] }), 'no-issuer'],
  ['another iss', signToken(KEY, 'ES256', { ...CLAIMS, iss: 'https://other' }), 'other-issuer'],
  ['iss in capitals', signToken(KEY, 'ES256', { ...CLAIMS, iss: ISSUER.toUpperCase() }), 'other-issuer'],
  ['iss with a slash', signToken(KEY, 'ES256', { ...CLAIMS, iss: `${ISSUER}/` }), 'nearly-issuer'],
  ['no exp', signToken(KEY, 'ES256', { ...CLAIMS, exp: undefined }), 'no-expiry'],
  ['exp as text', signToken(KEY, 'ES256', { ...CLAIMS, exp: `${NOW + 300}` }), 'no-expiry'],
  ['expired', signToken(KEY, 'ES256', { ...CLAIMS, exp: NOW - 60 }), 'expired'],
  ['expired within the leeway', signToken(KEY, 'ES256', { ...CLAIMS, exp: NOW - 59 }), undefined],
  ['exp with many digits', signToken(KEY, 'ES256', `{"iss":"${ISSUER}","exp":1800000000.12345678901234}`), undefined],
  [
    'long expired, many digits',
    signToken(KEY, 'ES256', `{"iss":"${ISSUER}","exp":1700000000.12345678901234}`),
    'expired',
  ],
  ['not yet', signToken(KEY, 'ES256', { ...CLAIMS, nbf: NOW + 61 }), 'not-yet'],
  ['not yet within the leeway', signToken(KEY, 'ES256', { ...CLAIMS, nbf: NOW + 60 }), undefined],
  ['nbf as text', signToken(KEY, 'ES256', { ...CLAIMS, nbf: 'now' }), 'bad-not-before'],
  ['iat in the future', signToken(KEY, 'ES256', { ...CLAIMS, iat: NOW + 9999 }), undefined],
  ['an audience, without configured audiences', signToken(KEY, 'ES256', { ...CLAIMS, aud: 'x' }), undefined],
]
for (const [what, token, failure] of tokens) {
  verifies(
    [
      'traffic.jwtAuthentication.jwks/inline',
      'traffic.jwtAuthentication.providers/issuer-claim',
      'traffic.jwtAuthentication/strict-issuer',
    ],
    `token: ${what}`,
    () => {
      expect(policyWith().judge(token)).toBe(failure === undefined ? 'proceed' : TOKEN_FAILURES[failure])
    },
  )
}

test('a valid token with any one character changed is invalid', () => {
  const policy = policyWith()
  // The last letter has padding bits, which do not count.
  for (let at = 0; at < GOOD.length - 1; at++) {
    const other = GOOD[at] === 'A' ? 'B' : 'A'
    const changed = GOOD.slice(0, at) + other + GOOD.slice(at + 1)
    expect(policy.judge(changed), `letter ${at}`).not.toBe('proceed')
  }
})

test('no text causes an exception', () => {
  const policy = policyWith()
  const text = fc.stringMatching(/^[ -~]{0,40}$/)
  const part = fc.oneof(
    text,
    text.map(encode),
    fc.json().map(encode),
    fc.object().map((o) => encode(JSON.stringify(o))),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        fc.array(part, { minLength: 3, maxLength: 3 }).map((parts) => parts.join('.')),
      ),
      (token) => {
        fc.pre(token.trim() !== '')
        expect(Object.values(TOKEN_FAILURES)).toContain(policy.judge(token))
      },
    ),
  )
})

const audiences: [aud: unknown, failure: TokenFailure | undefined][] = [
  ['shop', undefined],
  [['x', 'till'], undefined],
  [undefined, 'no-audience'],
  ['Shop', 'other-audience'],
  ['shop.evil.test', 'other-audience'],
  ['sho', 'other-audience'],
  ['', 'other-audience'],
  [' shop', 'other-audience'],
  [['shopper', 'til'], 'other-audience'],
  [['x'], 'other-audience'],
  [[], 'other-audience'],
  [[['shop']], 'other-audience'],
  [{ shop: true }, 'other-audience'],
  [null, 'other-audience'],
]
for (const [aud, failure] of audiences) {
  verifies(
    'traffic.jwtAuthentication.providers/audiences-claim',
    `audiences shop and till, aud ${JSON.stringify(aud)}`,
    () => {
      const policy = policyWith({ providers: [{ ...PROVIDERS[0], audiences: ['shop', 'till'] }] })
      const token = signToken(KEY, 'ES256', { ...CLAIMS, aud })
      expect(policy.judge(token)).toBe(failure === undefined ? 'proceed' : TOKEN_FAILURES[failure])
    },
  )
}
verifies(
  'traffic.jwtAuthentication.providers/audiences-unset',
  'without audiences, any audience or none is accepted',
  () => {
    for (const aud of [undefined, 'x', ['x', 'y']]) {
      expect(policyWith().judge(signToken(KEY, 'ES256', { ...CLAIMS, aud }))).toBe('proceed')
    }
  },
)

test('the issuer selects the provider, even if providers share a kid', () => {
  const elsewhere = 'https://elsewhere'
  const policy = policyWith({
    providers: [...PROVIDERS, { issuer: elsewhere, audiences: ['b'], jwks: inline(OTHER_KEY) }],
  })
  const theirs = { ...CLAIMS, iss: elsewhere, aud: 'b' }
  expect(policy.judge(GOOD)).toBe('proceed')
  expect(policy.judge(signToken(OTHER_KEY, 'ES256', theirs))).toBe('proceed')
  expect(policy.judge(signToken(OTHER_KEY, 'ES256', { ...theirs, aud: 'a' }))).toBe(TOKEN_FAILURES['other-audience'])
  expect(policy.judge(signToken(KEY, 'ES256', theirs))).toBe(TOKEN_FAILURES.signature)
})

test('providers with the same issuer are tried in turn', () => {
  const policy = policyWith({
    providers: [
      { issuer: ISSUER, audiences: ['a'], jwks: inline(KEY) },
      { issuer: ISSUER, audiences: ['b'], jwks: inline({ ...OTHER_KEY.jwk, kid: 'b' }, KEY) },
    ],
  })
  for (const aud of ['a', 'b']) expect(policy.judge(signToken(KEY, 'ES256', { ...CLAIMS, aud }))).toBe('proceed')
  expect(policy.judge(signToken(OTHER_KEY, 'ES256', { ...CLAIMS, aud: 'b' }, { kid: 'b' }))).toBe('proceed')
  expect(policy.judge(signToken(OTHER_KEY, 'ES256', { ...CLAIMS, aud: 'a' }, { kid: 'b' }))).toBe(
    TOKEN_FAILURES['other-audience'],
  )
})

test('the body is buffered if the token is in it', () => {
  const readsBody = (location: object) => {
    const spec = specFrom(trafficJwtAuthentication, { providers: PROVIDERS, location })
    return jwtAuthentication.compile([sourceOf(spec)], contextWith())!.readsRequestBody
  }
  expect(readsBody({ expression: 'string(request.body)' })).toBe(true)
  expect(readsBody({ expression: 'request.headers["x"]' })).toBe(false)
})

test('claims keep numbers that a double cannot represent', () => {
  const token = signToken(KEY, 'ES256', `{"iss":"${ISSUER}","exp":${NOW + 9},"id":9007199254740993}`)
  const { exchange } = policyWith().send(bearer(token))
  expect(JSON.stringify(exchange.identity.jwt?.claims)).toContain('"id":9007199254740993')
})

test('a valid token is verified once, until it expires', () => {
  const policy = policyWith()
  for (let i = 0; i < 3; i++) expect(policy.judge(GOOD)).toBe('proceed')
  expect(policy.checks()).toBe(1)
  seconds = CLAIMS.exp + 59
  expect(policy.judge(GOOD)).toBe('proceed')
  seconds = CLAIMS.exp + 60
  expect(policy.judge(GOOD)).toBe(TOKEN_FAILURES.expired)
  expect(policy.checks()).toBe(1)
})

test('an invalid token is not cached', () => {
  const policy = policyWith()
  const early = signToken(KEY, 'ES256', { ...CLAIMS, nbf: NOW + 100 })
  expect(policy.judge(BAD)).toBe(TOKEN_FAILURES.signature)
  expect(policy.judge(BAD)).toBe(TOKEN_FAILURES.signature)
  expect(policy.judge(early)).toBe(TOKEN_FAILURES['not-yet'])
  seconds = NOW + 100
  expect(policy.judge(early)).toBe('proceed')
  expect(policy.checks()).toBe(4)
})

test('the targets of one policy share verified tokens; a changed policy verifies them again', () => {
  let checks = 0
  const context = contextWith({ importKey: () => ({ verify: () => ++checks > 0 }) })
  const spec = specFrom(trafficJwtAuthentication, { providers: PROVIDERS })
  const pass = (changed: typeof spec) =>
    expect(
      jwtAuthentication.compile([sourceOf(changed)], context)!.request!(exchangeWith(bearer(GOOD))),
    ).toBeUndefined()
  pass(spec)
  pass(spec)
  expect(checks).toBe(1)
  pass(structuredClone(spec))
  expect(checks).toBe(2)
})

const UNUSED = 'warning key-set-fault'
const DEAD = 'error key-set-unusable'
const keySets: [what: string, inline: string, works: boolean, problems: [code: string, message: string][]][] = [
  [
    'not JSON',
    '{"keys"',
    false,
    [
      [UNUSED, 'is not JSON'],
      [DEAD, 'no usable key'],
    ],
  ],
  [
    'not a key set',
    '{}',
    false,
    [
      [UNUSED, 'no array "keys"'],
      [DEAD, 'no usable key'],
    ],
  ],
  ['empty', '{"keys":[]}', false, [[DEAD, 'no usable key']]],
  ['only for encryption', keySetOf({ ...KEY.jwk, use: 'enc' }), false, [[DEAD, 'no usable key']]],
  ['only for signing', keySetOf({ ...KEY.jwk, key_ops: ['sign'] }), false, [[DEAD, 'no usable key']]],
  ['for signatures', keySetOf({ ...KEY.jwk, use: 'sig', key_ops: ['verify'], alg: 'ES256', ext: true }), true, []],
  ['with its private members', keySetOf(privateJwkOf(KEY)), true, []],
  ['beside a key for encryption', keySetOf({ ...KEY.jwk, kid: 'e', use: 'enc' }, KEY), true, []],
  ['beside a symmetric key', keySetOf({ kty: 'oct', k: 'AAAA', kid: 's' }, KEY), true, []],
  ['beside a key of another algorithm', keySetOf({ ...createSigningKey('RSA').jwk, alg: 'RSA-OAEP' }, KEY), true, []],
  [
    'beside a member that is not an object',
    `{"keys":[7,${JSON.stringify(KEY.jwk)}]}`,
    true,
    [[UNUSED, 'keys[0] is not used: it is not an object']],
  ],
  [
    'beside a key without kid',
    keySetOf({ ...OTHER_KEY.jwk, kid: undefined }, KEY),
    true,
    [[UNUSED, 'it has no "kid"']],
  ],
  [
    'beside a weak key',
    keySetOf(KEY, createSigningKey('RSA-1024')),
    true,
    [[UNUSED, 'keys[1] is not used: an RSA key must have at least 2048 bits']],
  ],
  ['beside another curve', keySetOf({ ...KEY.jwk, crv: 'secp256k1' }, KEY), true, [[UNUSED, 'curve is not supported']]],
  [
    'beside X25519',
    keySetOf({ kty: 'OKP', crv: 'X25519', x: 'AA', kid: 'x' }, KEY),
    true,
    [[UNUSED, 'curve is not supported']],
  ],
  [
    'beside a point that is not on the curve',
    keySetOf({ ...KEY.jwk, y: KEY.jwk.x }, KEY),
    true,
    [[UNUSED, 'its members do not form a valid key']],
  ],
  [
    'beside an incomplete key',
    keySetOf({ kty: 'RSA', n: 'AQAB', kid: 'h' }, KEY),
    true,
    [[UNUSED, 'it has no "n" or no "e"']],
  ],
  ['beside an unknown type', keySetOf({ kty: 'PQ', kid: 'q' }, KEY), true, [[UNUSED, 'key type is not supported']]],
  ['two keys with one kid', keySetOf(OTHER_KEY, KEY), true, []],
]
/** Without the advice to set audiences. */
function faultsOf({ problems }: ReturnType<typeof contextWith>) {
  return problems.filter(({ severity }) => severity !== 'advice')
}

for (const [what, text, works, problems] of keySets) {
  verifies('traffic.jwtAuthentication.jwks/inline', `key set: ${what}`, () => {
    const policy = policyWith({ providers: [{ issuer: ISSUER, jwks: { inline: text } }] })
    expect(policy.judge(GOOD)).toBe(works ? 'proceed' : TOKEN_FAILURES['no-keys'])
    expect(
      faultsOf(policy.context).map(({ severity, code, message, path }) => [`${severity} ${code}`, message, path]),
    ).toEqual(
      problems.map(([code, message]) => [
        code,
        expect.stringContaining(message),
        'spec.traffic.field.providers[0].jwks.inline',
      ]),
    )
  })
}

const REMOTE = { jwksPath: '/keys', backendRef: { name: 'id', port: 80 } }
const REMOTE_ID = 'Service/default/id /keys'
const REMOTE_PROVIDERS = [{ issuer: ISSUER, jwks: { remote: REMOTE } }]

const stateOf = (value: string | undefined, more: Partial<KeySetState> = {}): KeySetState => ({
  id: REMOTE_ID,
  value,
  fetchedMs: NOW * 1000,
  failure: undefined,
  final: true,
  restMs: 10_000,
  ...more,
})

/** A policy with fetched keys. `update` sets the state of the key set. */
function remotePolicy(spec: object = {}) {
  const policy = policyWith({ providers: REMOTE_PROVIDERS, ...spec })
  const { keySets, requestedKeySets } = policy.context
  return {
    ...policy,
    requestedKeySets,
    update: (...words: Parameters<typeof stateOf>) => keySets.update(stateOf(...words)),
    /** The outcome of a request, which may have to wait. */
    async outcomeOf(request: ExchangeInputs): Promise<string> {
      return codeOf(await policy.send(request).outcome)
    },
  }
}

test('with fetched keys a token is verified synchronously and once, as with inline keys', () => {
  const policy = remotePolicy()
  policy.update(keySetOf(KEY))
  for (let i = 0; i < 3; i++) expect(policy.judge(GOOD)).toBe('proceed')
  expect([policy.checks(), policy.requestedKeySets]).toEqual([1, []])
  // A fetch with the same result.
  policy.update(keySetOf(KEY))
  expect([policy.judge(GOOD), policy.checks()]).toEqual(['proceed', 1])
})

test('a key that was removed from the set is not accepted any more, also for cached tokens', () => {
  const policy = remotePolicy()
  policy.update(keySetOf(KEY))
  expect(policy.judge(GOOD)).toBe('proceed')
  policy.update(keySetOf(createSigningKey('P-256', 'next')))
  expect(policy.judge(GOOD)).toBe(TOKEN_FAILURES['unknown-kid'])
})

test('requests wait for the first fetch of the keys', async () => {
  const policy = remotePolicy()
  const waiting = [policy.outcomeOf(bearer(GOOD)), policy.outcomeOf(bearer(BAD))]
  expect(policy.requestedKeySets).toEqual([REMOTE_ID])
  policy.update(keySetOf(KEY))
  expect(await Promise.all(waiting)).toEqual(['proceed', 'jwt-invalid'])
})

test('an unknown key causes one fetch for all requests, and no other within the minimum interval', async () => {
  const policy = remotePolicy()
  policy.update(keySetOf(OTHER_KEY), { restMs: 0 })
  const next = createSigningKey('Ed25519', 'next')
  const token = signToken(next, 'EdDSA', CLAIMS)
  const waiting = [policy.outcomeOf(bearer(token)), policy.outcomeOf(bearer(token))]
  expect(policy.requestedKeySets).toEqual([REMOTE_ID])
  policy.update(keySetOf(OTHER_KEY, next))
  expect(await Promise.all(waiting)).toEqual(['proceed', 'proceed'])
  expect(policy.judge(signToken(createSigningKey('Ed25519', 'none'), 'EdDSA', CLAIMS))).toBe(
    TOKEN_FAILURES['unknown-kid'],
  )
  expect(policy.requestedKeySets).toHaveLength(1)
})

test.each<[string, object, string[]]>([
  ['a token that a new key may make valid', {}, [REMOTE_ID]],
  ['one that is expired', { exp: NOW - 60 }, []],
  ['one of another issuer', { iss: 'https://elsewhere' }, []],
  ['one for another audience', { aud: 'theirs' }, []],
])('%s causes these fetches: %j', (_, claims, fetched) => {
  const policy = remotePolicy({ providers: [{ ...REMOTE_PROVIDERS[0], audiences: ['ours'] }] })
  const token = signToken(createSigningKey('P-256', 'none'), 'ES256', { ...CLAIMS, aud: 'ours', ...claims })
  const { outcome } = policy.send(bearer(token))
  expect(policy.requestedKeySets).toEqual(fetched)
  expect(outcome).toEqual(fetched.length > 0 ? expect.any(Promise) : expect.objectContaining({ kind: 'refusal' }))
})

test.each([
  ['Strict', 'jwt-keys-unavailable'],
  ['Optional', 'jwt-keys-unavailable'],
  ['Permissive', 'proceed'],
])('unavailable keys, mode %s: %s', async (mode, code) => {
  const policy = remotePolicy({ mode })
  const waiting = policy.send(bearer(GOOD))
  policy.update(undefined, { failure: 'connection-refused' })
  const outcome = await waiting.outcome
  expect(codeOf(outcome)).toBe(code)
  expect(waiting.exchange.identity.jwt).toBeUndefined()
  if (outcome?.kind !== 'refusal') return
  expect(outcome.detail).toContain('(GET /keys of Service/default/id): connection-refused')
  expect(outcome.headers).toEqual([['www-authenticate', 'Bearer error="invalid_token"']])
})

test('after the client has disconnected, its exchange is not changed', async () => {
  const policy = remotePolicy()
  const exchange = exchangeWith(bearer(GOOD))
  const leave = new AbortController()
  exchange.context = runContext({ signal: leave.signal })
  const source = sourceOf(specFrom(trafficJwtAuthentication, { providers: REMOTE_PROVIDERS }))
  const outcome = jwtAuthentication.compile([source], policy.context)!.request!(exchange)
  let settled = false
  void Promise.resolve(outcome).then(() => {
    settled = true
  })
  leave.abort()
  policy.update(keySetOf(KEY))
  await new Promise((resolve) => setImmediate(resolve))
  expect([settled, exchange.identity.jwt, exchange.request.has('authorization')]).toEqual([false, undefined, true])
})

test('a request that waited for keys has its claims, and its token is removed', async () => {
  const policy = remotePolicy()
  const { exchange, outcome } = policy.send(bearer(GOOD))
  policy.update(keySetOf(KEY))
  expect(codeOf(await outcome)).toBe('proceed')
  expect(exchange.identity.jwt).toEqual({ claims: CLAIMS, token: GOOD })
  expect(exchange.request.has('authorization')).toBe(false)
})

test('an invalid signature is the reason, also while another key set of the issuer is unavailable', async () => {
  const other = { issuer: ISSUER, jwks: { remote: { ...REMOTE, jwksPath: '/others' } } }
  const policy = remotePolicy({ providers: [...REMOTE_PROVIDERS, other] })
  const waiting = policy.send(bearer(BAD)).outcome
  policy.update(keySetOf(KEY))
  policy.update(undefined, { id: 'Service/default/id /others', failure: 'connection-refused' })
  expect(await waiting).toMatchObject({ code: 'jwt-invalid', detail: TOKEN_FAILURES.signature })
})

test('providers of one issuer with inline and fetched keys', async () => {
  const policy = remotePolicy({ providers: [...PROVIDERS, ...REMOTE_PROVIDERS] })
  expect(policy.judge(GOOD)).toBe('proceed')
  expect(policy.judge(BAD)).toBe(TOKEN_FAILURES.signature)
  const next = createSigningKey('P-256', 'next')
  const waiting = policy.outcomeOf(bearer(signToken(next, 'ES256', CLAIMS)))
  policy.update(keySetOf(next))
  expect(await waiting).toBe('proceed')
})

const fetches: [what: string, state: Parameters<typeof stateOf> | undefined, report: string | undefined][] = [
  ['no attempt has ended yet', undefined, undefined],
  ['fetched', [keySetOf(KEY)], undefined],
  [
    'fetched, with a key that cannot be used',
    [keySetOf(KEY, { kty: 'PQ', kid: 'q' })],
    'warning key-set-fault: keys[1] is not used: its key type is not supported',
  ],
  [
    'not fetched',
    [undefined, { failure: 'timeout' }],
    `error key-set-not-fetched: the key set cannot be fetched, and tokens of ${ISSUER} are refused until it can: GET /keys of Service/default/id: timeout`,
  ],
  [
    'not fetched again',
    [keySetOf(KEY), { failure: 'timeout' }],
    'warning key-set-stale: the key set cannot be fetched again; the keys fetched at 2027-01-15T08:00:00.000Z stay in use: GET /keys of Service/default/id: timeout',
  ],
]
test.each(fetches)('findings for a key set: %s', (_, state, report) => {
  const context = contextWith({ importKey })
  if (state !== undefined) context.keySets.update(stateOf(...state))
  jwtAuthentication.compile([sourceOf(specFrom(trafficJwtAuthentication, { providers: REMOTE_PROVIDERS }))], context)
  expect(faultsOf(context).map(({ severity, code, message }) => `${severity} ${code}: ${message}`)).toEqual(
    report === undefined ? [] : [report],
  )
  for (const { path } of faultsOf(context)) expect(path).toBe('spec.traffic.field.providers[0].jwks.remote')
})

const MCP = { mcp: { resourceMetadata: { scopesSupported: ['read', 'write'] } } }
const METADATA = 'resource_metadata="http://example.com/.well-known/oauth-protected-resource/mcp"'
const UNAUTHORIZED = '{"error":"unauthorized","error_description":"JWT token required"}'

verifies('traffic.jwtAuthentication/mcp', 'with mcp, refusals are those that MCP clients expect', () => {
  const policy = policyWith(MCP)
  const ask = (headers: ExchangeInputs['headers'] = {}) => policy.send({ target: '/mcp', headers }).outcome
  const refusal = { status: 401, body: UNAUTHORIZED, contentType: 'application/json' }
  const challenge = (text: string) => [['www-authenticate', text]]
  expect(ask()).toMatchObject({
    ...refusal,
    code: 'jwt-missing',
    headers: challenge(`Bearer ${METADATA}, scope="read write"`),
  })
  const invalid = challenge(`Bearer ${METADATA}, error="invalid_token", scope="read write"`)
  expect(ask(bearer(BAD).headers)).toMatchObject({ ...refusal, code: 'jwt-invalid', headers: invalid })
  const several = { authorization: [`Bearer ${GOOD}`, `Bearer ${BAD}`] }
  expect(ask(several)).toMatchObject({ ...refusal, code: 'jwt-invalid', headers: invalid })
  expect(ask(bearer(GOOD).headers)).toBeUndefined()
})

test('with mcp, keys that cannot be fetched are refused in the same form', () => {
  const { send } = policyWith({ providers: REMOTE_PROVIDERS, ...MCP })
  expect(send({ target: '/mcp', ...bearer(signToken(KEY, 'ES256', { iss: ISSUER })) }).outcome).toMatchObject({
    body: UNAUTHORIZED,
  })
})

test.each([
  ['Optional', undefined, 'proceed'],
  ['Optional', BAD, 'jwt-invalid'],
  ['Permissive', undefined, 'proceed'],
  ['Permissive', BAD, 'proceed'],
] as const)('with mcp, mode %s and token %s: %s', (mode, token, code) => {
  const { outcome } = policyWith({ mode, ...MCP }).send(token === undefined ? {} : bearer(token))
  expect(codeOf(outcome)).toBe(code)
})

test('with mcp, a provider without audiences is a warning', () => {
  const { context } = policyWith(MCP)
  expect(context.problems.map(({ severity, code, path }) => `${severity} ${code} ${path}`)).toEqual([
    'warning audience-any spec.traffic.field.providers[0]',
  ])
})

test('the sign-in has all issuers, and the audience and the keys of the first provider', async () => {
  const issuers = [ISSUER, 'https://other.example.com']
  const spec = {
    providers: issuers.map((issuer) => ({ issuer, audiences: ['a', 'b'], jwks: inline(KEY) })),
    mcp: { provider: 'IdpOne' },
  }
  const { context } = policyWith(spec)
  expect(context.problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
    'sign-in-incomplete spec.traffic.field.mcp.provider',
  ])
  const run = jwtAuthentication.compile([sourceOf(specFrom(trafficJwtAuthentication, { ...spec, mcp: {} }))], context)!
  const answer = await run.signIn!.answer({ kind: 'resource', path: '/mcp' }, exchangeWith())
  expect(answer).toMatchObject({ kind: 'answer', body: expect.stringContaining(JSON.stringify(issuers)) })
})

test('a valid token leaves how its client can sign in again', () => {
  const { exchange } = policyWith(MCP).send({ target: '/mcp', ...bearer(GOOD) })
  const { jwt } = exchange.identity
  const allows = () => {
    exchange.exceeded = 'steps'
    return exchange.identity.jwt?.claims.scope === 'write'
  }
  expect(exchange.stepUp?.challengeScopes(exchange, allows)).toBeUndefined()
  expect(
    exchange.stepUp?.challengeScopes(exchange, () => `${exchange.identity.jwt?.claims.scope}`.includes('write')),
  ).toEqual([['www-authenticate', `Bearer ${METADATA}, error="insufficient_scope", scope="write"`]])
  // Nothing of the trial remains.
  expect([exchange.identity.jwt, exchange.exceeded]).toEqual([jwt, undefined])
  expect(policyWith().send(bearer(GOOD)).exchange.stepUp).toBeUndefined()
})
