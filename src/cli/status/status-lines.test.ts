import { expect, test } from 'vitest'
import type { StatusReport } from '#admin/status-report.ts'
import { statusLines } from './status-lines.ts'

const GOOD: StatusReport = {
  version: '1.2.3',
  planVersion: 7,
  notReady: [],
  objects: [{ origin: { kind: 'Gateway', namespace: 'default', name: 'main' }, status: {}, findings: [] }],
  listeners: [{ listener: 'default/main/http', address: '127.0.0.1', port: 8080, bound: true }],
  problems: [],
  staleFiles: [],
  workers: [
    { name: 'w1', planVersion: 7 },
    { name: 'w2', planVersion: 6 },
  ],
  failingOutputs: [],
  endpoints: [{ backend: 'Service/default/web/80', endpoint: '10.0.0.1:80', health: 1, consecutiveFailures: 0 }],
  keySets: [],
  openCircuits: [],
  credentials: [],
}
const text = (report: StatusReport) => statusLines(report).map((line) => line.map((part) => part.text).join(' '))

test('a gateway in order', () => {
  expect(text(GOOD)).toEqual([
    'ready',
    'version 1.2.3, plan 7 in force in 1 of 2 workers (w1, w2)',
    '1 object, 1 endpoint',
    '',
    'listeners',
    '  default/main/http at 127.0.0.1:8080',
  ])
})

test('errors of objects have a line each, behind the problems of files', () => {
  const origin = { kind: 'ProxyPolicy', namespace: 'default', name: 'guards', file: 'a.yaml', line: 3 }
  const finding = { severity: 'error', code: 'backend-not-found', path: 'spec.backend', message: 'no judge' } as const
  const findings = [
    finding,
    { ...finding, severity: 'warning' as const },
    { ...finding, path: '' },
    { ...finding, message: 'no reference x\nx\n^', at: 'a.yaml:5:7' },
  ]
  const objects = [{ origin, status: {}, findings }]
  expect(text({ ...GOOD, objects, problems: ['a.yaml:1: wrong'] }).slice(-6)).toEqual([
    '',
    'problems',
    '  a.yaml:1: wrong',
    '  ProxyPolicy default/guards (a.yaml:3) spec.backend: no judge [backend-not-found]',
    '  ProxyPolicy default/guards (a.yaml:3): no judge [backend-not-found]',
    '  a.yaml:5:7: ProxyPolicy default/guards spec.backend: no reference x [backend-not-found]',
  ])
})

test('a gateway with problems', () => {
  const problems = Array.from({ length: 22 }, (_, i) => `a.yaml:${i}: wrong`)
  const lines = text({
    ...GOOD,
    notReady: ['listener default/main/http: in use'],
    listeners: [
      { listener: 'default/main/http', address: '::1', port: 80, bound: false, message: 'the port is in use' },
    ],
    problems,
    endpoints: [
      {
        backend: 'Service/default/web/80',
        endpoint: '10.0.0.1:80',
        health: 0,
        consecutiveFailures: 3,
        evictedUntil: '2026-01-31T12:00:00.000Z',
      },
    ],
    failingOutputs: [{ output: 'access log', cause: 'ENOSPC', since: '2026-01-31T12:00:00.000Z', lost: 7 }],
    openCircuits: [{ guard: 'ProxyPolicy/default/g spec.x[0]', kind: 'webhook', backend: 'Service/default/judge/80' }],
    keySets: [{ backend: 'Service/default/idp/80', path: '/keys', failure: 'no answer' }],
  })
  expect(lines[0]).toBe('not ready: listener default/main/http: in use')
  expect(lines[2]).toBe('1 object, 1 endpoint, 1 of them evicted')
  expect(lines).toContain('  default/main/http at [::1]:80 the port is in use')
  expect(lines.filter((line) => line.includes('wrong'))).toHaveLength(20)
  expect(lines).toContain('  and 2 more (-o json shows all)')
  expect(lines).toContain(
    '  Service/default/web/80 10.0.0.1:80: 3 failures in a row, evicted until 2026-01-31T12:00:00.000Z',
  )
  expect(lines).toContain('  access log: ENOSPC since 2026-01-31T12:00:00.000Z, 7 lost')
  expect(lines.join('\n')).toContain(
    'services of prompt guards that fail\n  webhook Service/default/judge/80 asked once a second for ProxyPolicy/default/g spec.x[0]\n',
  )
  expect(lines).toContain('  keys of Service/default/idp/80/keys: no answer')
})

test('a controller has proxies instead of workers and endpoints', () => {
  const proxy = { gateway: 'default/main', proxy: 'main-1', address: '10.0.0.7', isCurrent: true, refusals: [] }
  const behind = {
    ...proxy,
    proxy: 'main-2',
    version: '1.1.0',
    isCurrent: false,
    refusals: [{ item: 'Listener/a', message: 'in use' }],
  }
  expect(text({ ...GOOD, workers: [], listeners: [], endpoints: [], proxies: [proxy, behind] })).toEqual([
    'ready',
    'version 1.2.3, plan 7 in force in 1 of 2 proxies',
    '1 object',
    '',
    'proxies',
    '  main-1 of default/main at 10.0.0.7',
    '  main-2 of default/main at 10.0.0.7, version 1.1.0 has another plan',
    '    refuses Listener/a: in use',
  ])
})
