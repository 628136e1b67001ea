import { expect, test } from 'vitest'
import type { ConfigProblem } from '#base/config-problem.ts'
import { checkCertificates } from './check-certificates.ts'

const NOW = Date.parse('2026-06-01')

function certificate(names: readonly string[], from = '2026-01-01', until = '2027-01-01') {
  const validity = { fromMs: Date.parse(from), untilMs: Date.parse(until), names }
  return { title: 'Secret default/door', path: 'refs[0]', validity }
}

function found(certificates: Parameters<typeof checkCertificates>[0], hostname: string): readonly string[] {
  const problems: ConfigProblem[] = []
  const messages = checkCertificates(
    certificates,
    hostname,
    (ms) => NOW > ms,
    (problem) => problems.push(problem),
  )
  expect(problems.map(({ message }) => message)).toEqual(messages)
  expect(problems.every(({ severity }) => severity === 'warning')).toBe(true)
  return problems.map(({ path, code, message }) => `${path} ${code}: ${message}`)
}

test.each<[names: string[], hostname: string]>([
  [['a.example.com'], 'a.example.com'],
  [['*.example.com'], 'a.example.com'],
  [['*.example.com'], '*.example.com'],
  [['a.example.com'], '*.example.com'],
  [['other.test', 'a.example.com'], 'a.example.com'],
  [['other.test'], ''],
])('%j fits %s', (names, hostname) => {
  expect(found([certificate(names)], hostname)).toEqual([])
})

test.each<[names: string[], hostname: string, listed: string]>([
  [['b.example.com'], 'a.example.com', 'b.example.com'],
  [['*.example.com'], 'a.b.example.com', '*.example.com'],
  [['*.example.com'], 'example.com', '*.example.com'],
  [['example.com'], '*.example.com', 'example.com'],
  [[], 'a.example.com', 'no DNS name'],
])('%j does not fit %s', (names, hostname, listed) => {
  expect(found([certificate(names)], hostname)).toEqual([
    `refs[0] certificate-hostname: no certificate of this listener is valid for ${hostname}, only for ${listed}`,
  ])
})

test('one of several certificates is enough; one of unknown validity may be it', () => {
  const other = certificate(['other.test'])
  expect(found([other, certificate(['a.test'])], 'a.test')).toEqual([])
  expect(found([other, { ...other, validity: undefined }], 'a.test')).toEqual([])
})

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
  expect(found([certificate(['a.test'], from, until)], 'a.test')).toEqual(
    left === undefined
      ? []
      : [
          `refs[0] certificate-expires: Secret default/door: the certificate expires on ${until.slice(0, 10)}, in less than ${left}`,
        ],
  )
})

test('a certificate that is no longer valid, or not yet', () => {
  expect(found([certificate(['a.test'], '2025-01-01', '2026-05-31')], 'a.test')).toEqual([
    'refs[0] certificate-expired: Secret default/door: the certificate expired on 2026-05-31',
  ])
  expect(found([certificate(['a.test'], '2026-06-02')], 'a.test')).toEqual([
    'refs[0] certificate-expired: Secret default/door: the certificate is valid only from 2026-06-02',
  ])
})
