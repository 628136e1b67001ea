import { expect, test } from 'vitest'
import { REJECTIONS } from '#base/rejections.ts'
import { type Refusal, refusalText } from '#exchange/outcome.ts'
import { withoutSecrets } from '#schema/index.ts'
import { nodeOf } from '#schema/node.ts'
import { DIRECT_CHECKER } from '#test/support/password-checker.ts'
import { verifies } from '#test/support/verifies.ts'
import type { PasswordChecker, PasswordVerdict } from '../../shared/authentication/password-checker.ts'
import {
  type ContextInputs,
  codeOf,
  contextWith,
  type ExchangeInputs,
  linesOf,
  sendTo,
  sourceOf,
  specFrom,
} from '../../shared/testing.ts'
import { basicAuthentication } from './index.ts'
import { trafficBasicAuthentication } from './schema.ts'

/** All of them are hashes of "myPassword". */
const APR1 = '$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/'
const BCRYPT = '$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'
const SHA1 = '{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE='
const DES = 'rqXexS6ZhobKA'
const SHA256 = '$5$saltstring$MkP5qKcKBbjj8bsVcXLwsVnoyIfhVxvKRnDs04znYE3'
const SHA512 = '$6$saltstring$yrgUIlOJWK3OC/JndpXBztq8EQRRmKpDrP7qooKJH3.xzzwFiERNtfwXrr7p9zwxoynqwD6kq/zg0QrS8jKUP1'

const USERS = { users: [`ann:${SHA1}`, `bob:${APR1}`] }

function policyWith(spec: object = USERS, inputs: ContextInputs = {}) {
  const context = contextWith({ passwords: DIRECT_CHECKER, ...inputs })
  const run = basicAuthentication.compile([sourceOf(specFrom(trafficBasicAuthentication, spec))], context)!
  return {
    context,
    send: sendTo(run),
  }
}

/** A credential, in UTF-8. */
const encoded = (text: string) => Buffer.from(text).toString('base64')
const basic = (text: string): ExchangeInputs => ({ headers: { authorization: `Basic ${encoded(text)}` } })

const ANN = basic('ann:myPassword')
const WRONG = basic('ann:other')
const NOBODY = basic('nobody:myPassword')

verifies(
  ['traffic.basicAuthentication/strict-missing', 'traffic.basicAuthentication/mode-default'],
  'Strict, no credential',
  () => expect(codeOf(policyWith().send({}).outcome)).toBe('basic-missing'),
)
verifies('traffic.basicAuthentication/strict-invalid', 'Strict, unknown user and wrong password', () => {
  const refused = [WRONG, NOBODY, basic('ann:'), basic(':myPassword')].map(
    (request) => policyWith().send(request).outcome,
  )
  expect(refused.map(codeOf)).toEqual(Array(4).fill('basic-invalid'))
  // Nothing in the response tells which half was wrong.
  for (const outcome of refused) expect({ ...outcome, detail: '' }).toEqual({ ...refused[0], detail: '' })
})
verifies('traffic.basicAuthentication/strict-valid', 'Strict, right password', () => {
  expect(codeOf(policyWith().send(ANN).outcome)).toBe('proceed')
  expect(codeOf(policyWith().send(basic('bob:myPassword')).outcome)).toBe('proceed')
})
verifies('traffic.basicAuthentication/optional-absent', 'Optional, no credential', () => {
  expect(codeOf(policyWith({ ...USERS, mode: 'Optional' }).send({}).outcome)).toBe('proceed')
})
verifies('traffic.basicAuthentication/optional-present', 'Optional, wrong, malformed and right credential', () => {
  const policy = policyWith({ ...USERS, mode: 'Optional' })
  expect(codeOf(policy.send(WRONG).outcome)).toBe('basic-invalid')
  expect(codeOf(policy.send({ headers: { authorization: 'Basic ann' } }).outcome)).toBe('basic-invalid')
  expect(codeOf(policy.send(ANN).outcome)).toBe('proceed')
})

verifies(
  ['traffic.basicAuthentication/credential-stripped', 'traffic.basicAuthentication/location-default'],
  'a right credential is removed, and later steps see the user',
  () => {
    const { exchange } = policyWith().send({ headers: { accept: '*/*', ...ANN.headers } })
    expect(linesOf(exchange.request)).toEqual(['accept: */*'])
    expect(exchange.identity.basicAuth).toEqual({ username: 'ann', credential: encoded('ann:myPassword') })
  },
)
test('a wrong credential stays in the request, and there is no user', () => {
  const { exchange } = policyWith().send(WRONG)
  expect(exchange.request.has('authorization')).toBe(true)
  expect(exchange.identity.basicAuth).toBeUndefined()
})

verifies('traffic.basicAuthentication/location', 'the credential is read and removed at each location', () => {
  const sent = encoded('ann:myPassword')
  const cases: [object, ExchangeInputs][] = [
    [{ header: { name: 'X-User' } }, { headers: { 'x-user': sent } }],
    [
      { header: { name: 'Proxy-Authorization', prefix: 'Basic' } },
      { headers: { 'proxy-authorization': `Basic ${sent}` } },
    ],
    [{ queryParameter: { name: 'user' } }, { target: `/p?user=${encodeURIComponent(sent)}` }],
    [{ cookie: { name: 'user' } }, { headers: { cookie: `user=${sent}` } }],
  ]
  for (const [location, request] of cases) {
    const policy = policyWith({ ...USERS, location })
    const { exchange, outcome } = policy.send(request)
    expect(codeOf(outcome), JSON.stringify(location)).toBe('proceed')
    expect(linesOf(exchange.request)).toEqual([])
    expect(exchange.request.target).not.toContain('user')
    expect(codeOf(policy.send(ANN).outcome)).toBe('basic-missing')
  }
})
verifies('location/expression', 'a credential that an expression finds is not removed, and a finding says so', () => {
  const policy = policyWith({ ...USERS, location: { expression: 'request.headers["x-user"]' } })
  const { exchange, outcome } = policy.send({ headers: { 'x-user': encoded('ann:myPassword') } })
  expect(codeOf(outcome)).toBe('proceed')
  expect(exchange.request.has('x-user')).toBe(true)
  expect(policy.context.reports).toEqual(['credential-not-removed spec.traffic.field.location.expression'])
})

const challenges: [spec: object, status: number, challenge: string][] = [
  [{}, 401, 'www-authenticate: Basic realm="Restricted"'],
  [{ realm: 'Staff' }, 401, 'www-authenticate: Basic realm="Staff"'],
  [{ realm: 'a "b" \\ c' }, 401, 'www-authenticate: Basic realm="a \\"b\\" \\\\ c"'],
  [{ realm: 'Café' }, 401, 'www-authenticate: Basic realm="Caf\u00c3\u00a9"'],
  [{ location: { cookie: { name: 'user' } } }, 401, 'www-authenticate: Basic realm="Restricted"'],
  [
    { location: { header: { name: 'Proxy-Authorization', prefix: 'Basic' } } },
    407,
    'proxy-authenticate: Basic realm="Restricted"',
  ],
]
for (const [spec, status, challenge] of challenges) {
  verifies(
    ['traffic.basicAuthentication/realm-challenge', 'traffic.basicAuthentication/realm-default'],
    `challenge for ${JSON.stringify(spec)}`,
    () => {
      const policy = policyWith({ ...USERS, ...spec })
      const sent = encoded('ann:other')
      const wrong = {
        headers: { 'proxy-authorization': `Basic ${sent}`, authorization: `Basic ${sent}`, cookie: `user=${sent}` },
      }
      for (const [request, code] of [
        [{}, 'basic-missing'],
        [wrong, 'basic-invalid'],
      ] as const) {
        const { outcome } = policy.send(request)
        if (outcome?.kind !== 'refusal') throw new Error('not refused')
        expect(outcome.code).toBe(code)
        expect(outcome.status ?? REJECTIONS[outcome.code].status).toBe(status)
        expect(outcome.headers.map((pair) => pair.join(': '))).toEqual([challenge])
      }
    },
  )
}

const MALFORMED = 'the credential is not base64 of <username>:<password> in UTF-8, or the password is too long'

test.each([
  [encoded('ann:hunter2'), 'wrong password of user "ann"'],
  [encoded('hunter2:myPassword'), 'unknown user'],
  [encoded('eve:hunter2'), 'the line of user "eve" cannot be used'],
  [encoded('hunter2'), MALFORMED],
  ['hunter2', MALFORMED],
])('the record has the reason of a refusal, and no text of the client but names of the list: %s', (sent, detail) => {
  const policy = policyWith({ users: [`ann:${SHA1}`, 'eve:locked'] })
  const { outcome } = policy.send({ headers: { authorization: `Basic ${sent}` } })
  expect(outcome).toMatchObject({ code: 'basic-invalid', detail })
  expect(refusalText(outcome as Refusal)).toBe('authentication failed')
})

test('different credentials: the record says so', () => {
  const authorization = [encoded('ann:myPassword'), encoded('bob:myPassword')].map((text) => `Basic ${text}`)
  const { outcome } = policyWith().send({ headers: { authorization } })
  expect(outcome).toMatchObject({ detail: 'the request has different credentials, or one that cannot be read' })
})

function accepts(hash: string): void {
  const policy = policyWith({ users: [`ann:${hash}`] })
  expect(policy.context.reports).toEqual([])
  expect(codeOf(policy.send(ANN).outcome)).toBe('proceed')
  expect(codeOf(policy.send(WRONG).outcome)).toBe('basic-invalid')
}

verifies('traffic.basicAuthentication/hash-md5', 'MD5', () => accepts(APR1))
verifies('traffic.basicAuthentication/hash-bcrypt', 'bcrypt', () => {
  for (const version of ['2a', '2b', '2y']) accepts(BCRYPT.replace('2y', version))
})
verifies('traffic.basicAuthentication/hash-crypt', 'crypt', () => {
  for (const hash of [DES, SHA256, SHA512]) accepts(hash)
})
verifies('traffic.basicAuthentication/hash-sha1', 'SHA-1', () => accepts(SHA1))

const SUPPORTED =
  'its hash is not MD5 (apr1), bcrypt (2a, 2b, 2y), crypt or SHA-1, as htpasswd writes them; passwords in plain text are not supported'
const badLines: [line: string, message: string][] = [
  ['myPassword', 'is not <username>:<password_hash>'],
  [`:${SHA1}`, 'is not <username>:<password_hash>'],
  ['', 'is not <username>:<password_hash>'],
  ['ann:', `user "ann": ${SUPPORTED}`],
  ['ann:myPassword', `user "ann": ${SUPPORTED}`],
  ['ann:{PLAIN}myPassword', `user "ann": ${SUPPORTED}`],
  [`ann:${BCRYPT.replace('2y', '2x')}`, `user "ann": ${SUPPORTED}`],
  [`ann:${BCRYPT.slice(1)}`, `user "ann": ${SUPPORTED}`],
  [`ann:${APR1}x`, `user "ann": ${SUPPORTED}`],
  [`ann: ${APR1}`, `user "ann": ${SUPPORTED}`],
  [`ann:${BCRYPT.replace('05', '03')}`, 'user "ann": its cost 3 is not between 4 and 14'],
  [`ann:${BCRYPT.replace('05', '15')}`, 'user "ann": its cost 15 is not between 4 and 14'],
  [`ann:${SHA256.replace('$5$', '$5$rounds=500001$')}`, 'user "ann": its number of rounds 500001 is above 500000'],
]
for (const [line, message] of badLines) {
  verifies(
    ['traffic.basicAuthentication/hashed-only', 'traffic.basicAuthentication/users-line'],
    `a line ${JSON.stringify(line)} refuses its user, and others work`,
    () => {
      const policy = policyWith({ users: [`bob:${SHA1}`, line] })
      expect(policy.context.reports).toEqual(['htpasswd-line-invalid spec.traffic.field.users[1]'])
      expect(policy.context.problems.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
        `error: the line: ${message}`,
      ])
      expect(codeOf(policy.send(ANN).outcome)).toBe('basic-invalid')
      expect(codeOf(policy.send(basic('bob:myPassword')).outcome)).toBe('proceed')
    },
  )
}

test('bounds of the cost', () => {
  for (const hash of [
    BCRYPT.replace('05', '04'),
    BCRYPT.replace('05', '14'),
    SHA512.replace('$6$', '$6$rounds=500000$'),
  ])
    expect(policyWith({ users: [`ann:${hash}`] }).context.reports, hash).toEqual([])
})

test('what follows a second colon is a comment', () => {
  expect(codeOf(policyWith({ users: [`ann:${SHA1}:Ann of Accounts`] }).send(ANN).outcome)).toBe('proceed')
})

test('the last line of a user applies, also when it is invalid', () => {
  const other = '{SHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc='
  const policy = policyWith({ users: [`ann:${other}`, `bob:${SHA1}`, `ann:${SHA1}`, 'bob:locked'] })
  expect(policy.context.problems.map(({ code, severity, path }) => `${severity} ${code} ${path}`)).toEqual([
    'warning htpasswd-user-duplicate spec.traffic.field.users[2]',
    'warning htpasswd-user-duplicate spec.traffic.field.users[3]',
    'error htpasswd-line-invalid spec.traffic.field.users[3]',
  ])
  expect(codeOf(policy.send(ANN).outcome)).toBe('proceed')
  expect(codeOf(policy.send(basic('bob:myPassword')).outcome)).toBe('basic-invalid')
})

const SECRET = { secretRef: { name: 'staff' } }

verifies('traffic.basicAuthentication/secretRef', 'the htpasswd file of a Secret', () => {
  const file = `# staff\r\n\r\nann:${SHA1}\r\n  bob:${DES}\nBjörn:${SHA1}\nplain:myPassword\n`
  const policy = policyWith(SECRET, { secrets: { staff: { '.htaccess': Buffer.from(file).toString('latin1') } } })
  for (const name of ['ann', 'bob', 'Björn'])
    expect(codeOf(policy.send(basic(`${name}:myPassword`)).outcome), name).toBe('proceed')
  expect(codeOf(policy.send(basic('# staff:myPassword')).outcome)).toBe('basic-invalid')
  expect(policy.context.reports).toEqual(['htpasswd-line-invalid spec.traffic.field.secretRef'])
  expect(policy.context.problems[0]!.message).toBe(`Secret staff, entry .htaccess, line 6: user "plain": ${SUPPORTED}`)
})

test('a line of a Secret is located in the file that its entry is from', () => {
  const secrets = { staff: { '.htaccess': `ann:${SHA1}\nplain:myPassword` } }
  const policy = policyWith(SECRET, { secrets, entryFiles: { '.htaccess': 'objects/staff.htpasswd' } })
  expect(policy.context.problems[0]!.message).toBe(
    `Secret staff, entry .htaccess (objects/staff.htpasswd), line 2: user "plain": ${SUPPORTED}`,
  )
})

test.each([
  [{}, 'the Secret `default/staff` does not exist, or has errors and is not in use'],
  [{ staff: { users: `ann:${SHA1}` } }, 'the Secret `default/staff` has no key `.htaccess`'],
])('Secrets %j: every credential is invalid', (secrets, detail) => {
  const policy = policyWith({ ...SECRET, mode: 'Optional' }, { secrets })
  const message = `${detail}; no user is known`
  expect(policy.context.problems).toMatchObject([{ code: 'secret-missing', message, severity: 'error' }])
  expect(policy.send(ANN).outcome).toMatchObject({ code: 'basic-invalid', detail })
  expect(codeOf(policy.send({}).outcome)).toBe('proceed')
  expect(policyWith(SECRET, { secrets }).send({}).outcome).toMatchObject({ code: 'basic-missing', detail })
})

const credentials: [credential: string, username: string | undefined][] = [
  [encoded('ann:myPassword'), 'ann'],
  [encoded('Björn:myPassword'), 'Björn'],
  [encoded('\ufeffann:myPassword'), undefined],
  [Buffer.from('Björn:myPassword', 'latin1').toString('base64'), undefined],
  [encoded('ann'), undefined],
  [encoded('ann\0:myPassword'), undefined],
  [encoded('ann:myPassword\n'), undefined],
  [encoded('ann:myPassword').replace(/=+$/, ''), undefined],
  [`${encoded('ann:myPassword')}=`, undefined],
  [encoded('ann:myPassword').replace('5', '-'), undefined],
]
for (const [credential, username] of credentials) {
  verifies('traffic.basicAuthentication/rfc-7617', `the credential ${credential}`, () => {
    const policy = policyWith({ users: [`ann:${SHA1}`, `Björn:${SHA1}`] })
    const { exchange, outcome } = policy.send({ headers: { authorization: `bAsIc  ${credential}` } })
    expect(codeOf(outcome)).toBe(username === undefined ? 'basic-invalid' : 'proceed')
    expect(exchange.identity.basicAuth?.username).toBe(username)
  })
}

verifies('traffic.basicAuthentication/rfc-7617', 'a password contains colons; a user name does not', () => {
  // SHA-1 of "my:pass:word"
  const policy = policyWith({ users: ['ann:{SHA}5qOH8fBy/kV7rNE5G4PL5ZvXcC8='] })
  expect(codeOf(policy.send(basic('ann:my:pass:word')).outcome)).toBe('proceed')
})

test('a password of more than 255 bytes is not hashed', () => {
  const asked: string[] = []
  const passwords: PasswordChecker = {
    check(password) {
      asked.push(password)
      return 'right'
    },
  }
  const policy = policyWith(USERS, { passwords })
  expect(codeOf(policy.send(basic(`ann:${'ä'.repeat(127)}x`)).outcome)).toBe('proceed')
  expect(codeOf(policy.send(basic(`ann:${'ä'.repeat(128)}`)).outcome)).toBe('basic-invalid')
  expect(asked).toHaveLength(1)
})

test('different credentials in one request are invalid', () => {
  const authorization = ['ann:myPassword', 'bob:myPassword'].map((text) => `Basic ${encoded(text)}`)
  expect(codeOf(policyWith().send({ headers: { authorization } }).outcome)).toBe('basic-invalid')
})

test('an unknown user is compared with a decoy: always the same for a name, and one of the known hashes', () => {
  const asked: [hash: string, decoyFor: string | undefined][] = []
  const passwords: PasswordChecker = {
    check(_, hash, decoyFor) {
      asked.push([hash, decoyFor])
      return 'wrong'
    },
  }
  const policy = policyWith(USERS, { passwords })
  policy.send(WRONG)
  for (let i = 0; i < 64; i++) for (let times = 0; times < 2; times++) policy.send(basic(`user${i}:x`))
  expect(asked.shift()).toEqual([SHA1, undefined])
  const decoys = new Map(asked.map(([hash, name]) => [name, hash]))
  expect(asked.every(([hash, name]) => decoys.get(name) === hash)).toBe(true)
  expect(decoys.size).toBe(64)
  expect(new Set(decoys.values())).toEqual(new Set([SHA1, APR1]))
})

test('a slow check is awaited; without time for it the request is refused with 503', async () => {
  for (const [verdict, code] of [
    ['right', 'proceed'],
    ['wrong', 'basic-invalid'],
    ['busy', 'basic-busy'],
  ] as const) {
    const pending = Promise.resolve<PasswordVerdict>(verdict)
    const { exchange, outcome } = policyWith(USERS, { passwords: { check: () => pending } }).send(ANN)
    expect(codeOf(await outcome)).toBe(code)
    expect(exchange.request.has('authorization')).toBe(verdict !== 'right')
  }
  expect(REJECTIONS['basic-busy'].status).toBe(503)
})

test('of a line of `users`, outputs show only the name; a Secret without the file is reported', () => {
  const spec = { users: [`ann:${SHA1}`], realm: 'Staff' }
  expect(withoutSecrets(trafficBasicAuthentication, '', spec, '-')).toEqual({ users: ['ann:-'], realm: 'Staff' })
  const { refersTo } = nodeOf(trafficBasicAuthentication).properties!.secretRef!
  expect(refersTo).toEqual({ to: 'secret', entries: [['.htaccess']] })
})
