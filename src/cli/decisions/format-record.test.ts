import { expect, test } from 'vitest'
import { type DescribedRecord, describeRecord } from '#admin/describe-record.ts'
import type { RareFacts } from '#observe/decision.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import { DecisionRing } from '#observe/decision-ring.ts'
import { type DecisionValues, keptDecision } from '#observe/testing.ts'
import type { StyledText } from '../output.ts'
import { formatRecord } from './format-record.ts'
import { recordLine } from './record-line.ts'

const admins = { kind: 'ProxyPolicy', namespace: 'default', name: 'admins', file: 'a.yaml', line: 3 }
const source = { kind: 'ProxyPolicy', namespace: 'default', name: 'house', file: 'a.yaml', line: 9 }

function record(kept: DecisionValues, rest: Partial<DescribedRecord> = {}): DescribedRecord {
  const ring = new DecisionRing('w1', new DecisionIds(), 1)
  ring.keep(keptDecision({ method: 'GET', authority: 'shop.test', target: '/x', ...kept }))
  return { ...describeRecord(ring.list()[0]!), id: 'f00d', ...rest }
}

const textOf = (line: readonly StyledText[]) =>
  line
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join(' ')

const refused = record(
  {
    timeMs: Date.parse('2026-01-31T12:30:15.123Z'),
    durationMs: 2.2491,
    clientAddress: '192.0.2.7',
    clientPort: 40_000,
    traceId: '0af7651916cd43dd8448eb211c80319c',
    status: 403,
    code: 'authorization-denied',
    detail: 'Require rule failed: no such key\nrequest.headers["x-role"]\n^',
  },
  {
    gateway: 'default/main',
    listener: 'http',
    route: 'default/admins',
    rule: 'rule 0',
    decidedBy: { stage: 'post-routing', field: 'authorization', sources: [{ ...admins, path: 'spec.traffic' }] },
    policies: [
      { stage: 'pre-routing', field: 'cors', sources: [], startMs: 0.1, durationMs: 0.05 },
      {
        stage: 'post-routing',
        field: 'authorization',
        sources: [
          { ...admins, path: 'spec.traffic.a' },
          { ...admins, path: 'spec.traffic.b' },
          { ...source, path: '' },
        ],
        startMs: 1.41,
        durationMs: 0.49,
      },
    ],
  },
)

test('why shows who asked, who decided, and when each policy of which object ran', () => {
  expect(formatRecord(refused).map(textOf)).toEqual([
    'GET shop.test/x',
    'decision f00d of worker w1, ended 2026-01-31T12:30:15.123Z',
    '',
    'result    403 authorization-denied (authorization failed)',
    '          Require rule failed: no such key',
    '          request.headers["x-role"]',
    '          ^',
    'decided   authorization (post-routing)',
    '          ProxyPolicy default/admins (a.yaml:3): spec.traffic',
    '',
    'listener  default/main/http',
    'route     default/admins, rule 0',
    'client    192.0.2.7:40000',
    'trace     0af7651916cd43dd8448eb211c80319c',
    '',
    'time line',
    '      0 ms received',
    '    0.1 ms cors (pre-routing): passed (0.05 ms)',
    '   1.41 ms authorization (post-routing): refused (0.49 ms) ProxyPolicy default/admins, ProxyPolicy default/house',
    '   2.25 ms ended with 403',
  ])
})

test('tail shows a detail of several lines by its first one', () => {
  expect(textOf(recordLine(refused))).toBe(
    '12:30:15.123 403  2.25 ms GET shop.test/x default/admins authorization-denied: Require rule failed: no such key f00d',
  )
})

test('what never became a request is known by its client, a relayed connection by its server', () => {
  const connection = { method: '', target: '', clientAddress: '192.0.2.7', clientPort: 40_000 }
  const nameOf = (authority: string) => textOf([recordLine(record({ ...connection, authority }))[3]!])
  expect([nameOf(''), nameOf('db.test')]).toEqual(['connection from 192.0.2.7:40000', 'connection db.test'])
})

const asked = { policy: 'extAuth', backend: 'default/authz', verdict: 'allow', startMs: 2, durationMs: 1.5 }
const check = { phase: 'request', index: 0, kind: 'regex', verdict: 'pass', rule: 'mail', startMs: 3, durationMs: 1 }
const sent = { endpoint: '192.0.2.1:80', status: 503 }
const timed = { endpoint: '192.0.2.1:80', sentMs: 1, endedMs: 3 }
const cases: readonly (readonly [name: string, record: DescribedRecord, lines: readonly string[]])[] = [
  ['no response', record({ durationMs: 5 }), ['      0 ms received', '      5 ms ended without a response']],
  [
    'each attempt',
    record({
      status: 200,
      durationMs: 9,
      attempts: [
        { ...timed, status: 503, section: 'alpha' },
        { ...timed, sentMs: 4, endedMs: undefined, status: 0, failure: 'connect-timeout' },
      ] as unknown as RareFacts['attempts'],
    }),
    [
      '      0 ms received',
      '      1 ms sent to alpha at 192.0.2.1:80: 503 (2 ms)',
      '      4 ms sent to 192.0.2.1:80: connect-timeout',
      '      9 ms ended with 200',
    ],
  ],
  [
    'servers that policies asked, and checks of guards',
    record({
      status: 200,
      durationMs: 9,
      callouts: [
        { ...asked, cached: false, status: 'OK' },
        { ...asked, cached: true },
      ] as unknown as RareFacts['callouts'],
      guardChecks: [check, { ...check, isReused: true }] as unknown as RareFacts['guardChecks'],
    }),
    [
      '      0 ms received',
      '      2 ms extAuth asked default/authz: allow, OK (1.5 ms)',
      '      2 ms extAuth knew the answer of default/authz: allow',
      '      3 ms promptGuard.request[0] (regex): pass, mail (1 ms)',
      '      3 ms promptGuard.request[0] (regex): pass, mail, as before (1 ms)',
      '      9 ms ended with 200',
    ],
  ],
  [
    'the only attempt, without times of its own',
    record({
      status: 503,
      durationMs: 9,
      sentMs: 1,
      answeredMs: 4,
      attempts: [sent] as unknown as RareFacts['attempts'],
    }),
    ['      0 ms received', '      1 ms sent to 192.0.2.1:80: 503 (3 ms)', '      9 ms ended with 503'],
  ],
  [
    'the endpoint without an attempt',
    record({ status: 200, durationMs: 9, sentMs: 1, endpoint: '192.0.2.1:80' }),
    ['      0 ms received', '      1 ms sent to 192.0.2.1:80', '      9 ms ended with 200'],
  ],
  [
    'several attempts without times of their own',
    record({
      status: 503,
      durationMs: 9,
      sentMs: 1,
      answeredMs: 4,
      attempts: [sent, sent] as unknown as RareFacts['attempts'],
    }),
    [
      '      0 ms received',
      '      1 ms sent to 2 endpoints, one after the other (3 ms)',
      '      1 ms   192.0.2.1:80: 503',
      '      1 ms   192.0.2.1:80: 503',
      '      9 ms ended with 503',
    ],
  ],
]
for (const [name, shown, lines] of cases) {
  test(`the time line has ${name}`, () => {
    const all = formatRecord(shown).map(textOf)
    expect(all.slice(all.indexOf('time line') + 1)).toEqual(lines)
  })
}

test('why lists fields that transformations removed', () => {
  const lines = formatRecord(record({}, { removedFields: ['max_tokens', 'n'] })).map(textOf)
  expect(lines).toContain('removed   max_tokens, n')
})

test('why says that a path was misread', () => {
  const lines = formatRecord(record({}, { misread: { end: '/messages', type: 'Messages' } })).map(textOf)
  expect(lines).toContain(
    'misread   /messages is handled as a chat completion, because backend.ai.routes is unset: set { /chat/completions: Completions, /messages: Messages } (llm-path-not-completions)',
  )
})

test('why lists what a translation left out', () => {
  const linesFor = (dropped: readonly string[]) =>
    formatRecord(record({}, { translation: { from: 'completions', to: 'converse', dropped } })).map(textOf)
  expect(linesFor(['n', 'messages[0].name'])).toContain('left out  n, messages[0].name')
  expect(linesFor([]).join('\n')).not.toContain('left out')
})
