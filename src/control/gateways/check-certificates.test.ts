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

test('a certificate that is not valid now, or not for long, is in the status; the finding is that of its Secret', () => {
  const certificates = [
    certificate(['a.test'], '2025-01-01', '2026-05-31'),
    certificate(['a.test'], '2025-06-08', '2026-06-07'),
  ]
  const reported: ConfigProblem[] = []
  expect(
    checkCertificates(
      certificates,
      'a.test',
      (ms) => NOW > ms,
      (problem) => reported.push(problem),
    ),
  ).toEqual([
    'Secret default/door: the certificate expired on 2026-05-31',
    'Secret default/door: the certificate expires on 2026-06-07, in less than 7 days',
  ])
  expect(reported).toEqual([])
})
