import { expect, test } from 'vitest'
import type { ConfigProblem } from '#base/config-problem.ts'
import { checkEnds } from './check-ends.ts'

const NOW = Date.parse('2026-06-01')

/** A certificate whose validity is its text: two dates. */
const pem = (from: string, until: string) =>
  `-----BEGIN CERTIFICATE-----\n${`${from} ${until}`.replaceAll('-', '.')}\n-----END CERTIFICATE-----\n`

function validity(text: string) {
  const [from, until] = text.split('\n')[1]!.replaceAll('.', '-').split(' ')
  return { fromMs: Date.parse(from!), untilMs: Date.parse(until!), names: [] }
}

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part(claims)}.c2ln`
}

function found(data: Readonly<Record<string, string>>): readonly string[] {
  const problems: ConfigProblem[] = []
  const isPast = (ms: number) => NOW > ms
  checkEnds('Secret default/door', data, { validity, isPast }, (problem) => problems.push(problem))
  expect(problems.every(({ severity, path }) => severity === 'warning' && path === '')).toBe(true)
  return problems.map(({ code, message }) => `${code}: ${message}`)
}

test.each<[name: string, from: string, until: string, left: string | undefined]>([
  ['a year, 31 days left', '2025-07-02', '2026-07-02', undefined],
  ['a year, 30 days left', '2025-07-01', '2026-06-30', '30 days'],
  ['a year, a week left', '2025-06-08', '2026-06-07', '7 days'],
  ['a year, less than a day left', '2025-06-01', '2026-06-01T12:00:00Z', 'a day'],
  ['90 days, renewed with 30 left', '2026-04-01', '2026-06-30', undefined],
  ['90 days, not renewed', '2026-03-09', '2026-06-07', '7 days'],
  ['6 days, renewed with 2 left', '2026-05-28', '2026-06-03', undefined],
  ['a day', '2026-05-31T12:00:00Z', '2026-06-01T12:00:00Z', undefined],
])('a certificate of %s', (_, from, until, left) => {
  const message = `the certificate expires on ${until.slice(0, 10)}, in less than ${left}`
  expect(found({ 'tls.crt': pem(from, until) })).toEqual(
    left === undefined ? [] : [`certificate-expires: Secret default/door: ${message}`],
  )
})

const ENDED = pem('2025-01-01', '2026-05-31')
const SOON = pem('2025-06-08', '2026-06-07')
const LATE = pem('2026-01-01', '2027-01-01')
const seconds = (day: string) => Date.parse(day) / 1000

test.each<[what: string, data: Readonly<Record<string, string>>, expected: readonly string[]]>([
  ['an end', { 'tls.crt': ENDED }, ['certificate-expired: the certificate expired on 2026-05-31']],
  [
    'a beginning',
    { 'tls.crt': pem('2026-06-02', '2027-01-01') },
    ['certificate-expired: the certificate is valid only from 2026-06-02'],
  ],
  [
    'a link of a chain',
    { 'tls.crt': LATE + ENDED },
    ['certificate-expired: certificate 2 in tls.crt expired on 2026-05-31'],
  ],
  ['one authority', { 'ca.crt': ENDED }, ['certificate-expired: the certificate in ca.crt expired on 2026-05-31']],
  ['an authority that another has replaced', { 'ca.crt': ENDED + LATE }, []],
  [
    'an authority beside others',
    { 'ca.crt': ENDED + LATE + SOON },
    ['certificate-expires: certificate 3 in ca.crt expires on 2026-06-07, in less than 7 days'],
  ],
  [
    'the authority beside a client certificate',
    { 'tls.crt': LATE, 'ca.cert': SOON },
    ['certificate-expires: the certificate in ca.cert expires on 2026-06-07, in less than 7 days'],
  ],
  [
    'a token',
    { token: token({ exp: seconds('2026-06-20') }) },
    ['token-expires: the token in token expires on 2026-06-20, in less than 30 days'],
  ],
  [
    'a token with its scheme',
    { Authorization: `Bearer ${token({ exp: seconds('2026-05-20'), iat: 0 })}` },
    ['token-expired: the token in Authorization expired on 2026-05-20'],
  ],
  ['a token that is renewed every hour', { token: token({ iat: NOW / 1000, exp: NOW / 1000 + 3600 }) }, []],
  ['a token without an end', { token: token({ sub: 'a' }) }, []],
  ['other texts', { key: 'sk-1', version: '1.2.3', host: 'a.b.c', 'tls.key': LATE, 'tls.crt': 'none' }, []],
])('%s', (_, data, expected) => {
  const texts = expected.map((text) => text.replace(': ', ': Secret default/door: '))
  expect(found(data)).toEqual(texts)
})
