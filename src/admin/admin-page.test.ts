import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import { type DecisionRecord, DecisionRing } from '#observe/decision-ring.ts'
import { type DecisionValues, keptDecision } from '#observe/testing.ts'
import type { RouteItem } from '#plan/item.ts'
import { type AdminPageInputs, adminPage } from './admin-page.ts'
import type { StatusReport } from './status-report.ts'

const EMPTY: StatusReport = {
  version: '1.2.3',
  planVersion: 7,
  notReady: [],
  objects: [],
  listeners: [],
  problems: [],
  staleFiles: [],
  endpoints: [],
  workers: [{ name: 'w1', planVersion: 7 }],
  failingOutputs: [],
  keySets: [],
  openCircuits: [],
  credentials: [],
}

interface Inputs extends Partial<Omit<AdminPageInputs, 'status' | 'decisions'>> {
  readonly status?: Partial<StatusReport>
  readonly decisions?: Partial<AdminPageInputs['decisions']>
}

function page({ status, decisions, ...inputs }: Inputs = {}): string {
  return adminPage({
    status: { ...EMPTY, ...status },
    routes: [],
    decisions: { records: [], unanswered: [], ...decisions },
    sessions: { sessions: [], unanswered: [] },
    paths: [{ path: '/status', method: 'GET', about: 'Objects.' }],
    ...inputs,
  }).body
}

function records(...decisions: readonly DecisionValues[]): DecisionRecord[] {
  const ring = new DecisionRing('w1', new DecisionIds(), 100)
  for (const decision of decisions) ring.keep(keptDecision(decision))
  return ring.list()
}

/** The text of the page, one line for each row of a table. */
function textOf(body: string): string {
  return body
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<br>|<\/t[dh]>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/ +/g, ' ')
}

const origin = { kind: 'ProxyPolicy', namespace: 'default', name: 'keys', file: 'a.yaml', line: 3 }

const route: RouteItem = {
  kind: 'route',
  key: 'HTTPRoute/default/shop/0',
  rule: 0,
  ruleName: undefined,
  created: '',
  attachments: [{ listener: 'Listener/default/main/http', hostnames: ['shop.test'] }],
  backends: [
    { backend: 'Service/default/shop/80', weight: 2, path: 'spec.rules[0].backendRefs[0]' },
    { backend: undefined, weight: 1, path: 'spec.rules[0].backendRefs[1]' },
  ],
  origin,
  route: { kind: 'HTTPRoute', namespace: 'default', name: 'shop' },
  matches: [
    {
      path: { type: 'PathPrefix', value: '/cart' },
      method: 'GET',
      headers: [{ name: 'x-a', type: 'Exact', value: '1' }],
      queryParams: [{ name: 'b', type: 'Exact', value: '2' }],
    },
  ],
}

test('a gateway without objects says so', () => {
  const text = textOf(page())
  expect(text).toContain('Ready. Version 1.2.3. Plan 7 is in force in 1 worker. 0 objects.')
  for (const line of [
    'No problems.',
    'No listeners.',
    'No routes.',
    'No backends.',
    'No requests yet.',
    'No objects.',
  ]) {
    expect(text).toContain(line)
  }
})

test('a gateway that is not ready says why', () => {
  expect(textOf(page({ status: { notReady: ['draining'] } }))).toContain('Not ready: draining. Version 1.2.3.')
})

test('outputs that cannot be written are a problem', () => {
  const since = '2026-01-01T00:00:00Z'
  const text = textOf(page({ status: { failingOutputs: [{ output: 'access log', cause: 'ENOSPC', since, lost: 7 }] } }))
  expect(text).toContain(`not written access log: ENOSPC, since ${since}, 7 lost`)
  expect(text).not.toContain('No problems.')
})

test('findings, problems of files and outdated files', () => {
  const text = textOf(
    page({
      status: {
        objects: [
          {
            origin,
            status: undefined,
            findings: [{ severity: 'error', code: 'cel-syntax', path: 'spec.traffic', message: 'no\nx.y\n  ^' }],
          },
        ],
        problems: ['a.yaml:1:1: error: x [required]'],
        staleFiles: [{ file: 'b.yaml', since: '2026-01-01T00:00:00Z', objects: ['Secret/default/k'], problems: [] }],
      },
    }),
  )
  expect(text).not.toContain('No problems.')
  expect(text).toContain('error ProxyPolicy default/keys spec.traffic no [cel-syntax]x.y\n ^\n')
  expect(text).toContain('a.yaml:1:1: error: x [required]')
  expect(text).toContain(
    'b.yaml: the last valid version of Secret/default/k has been in use since 2026-01-01T00:00:00Z',
  )
})

test('objects with their conditions; those that are not as they should be have reason and message', () => {
  const condition = (type: string, status: string) => ({ type, status, reason: 'Why', message: 'because' })
  const status = {
    conditions: [condition('Accepted', 'True')],
    listeners: [{ name: 'http', conditions: [condition('Conflicted', 'False'), condition('Programmed', 'Unknown')] }],
    parents: [{ parentRef: { name: 'main', sectionName: 'x' }, conditions: [condition('ResolvedRefs', 'False')] }],
    ancestors: [{ ancestorRef: { kind: 'HTTPRoute', name: 'r' }, conditions: [condition('Conflicted', 'True')] }],
  }
  expect(textOf(page({ status: { objects: [{ origin, status, findings: [] }] } }))).toContain(
    [
      'ProxyPolicy default/keys a.yaml:3 ✓ Accepted True ✓ http: Conflicted False',
      '✗ http: Programmed Unknown (Why) because ✗ Gateway main x: ResolvedRefs False (Why) because',
      '✗ HTTPRoute r: Conflicted True (Why) because',
    ].join(' '),
  )
})

test('a condition of an ancestor that the object repeats is shown once', () => {
  const condition = (type: string, message: string, status = 'True') => ({ type, status, reason: 'Why', message })
  const status = {
    conditions: [condition('Accepted', 'yes'), condition('Attached', 'Gateway default/main: no', 'False')],
    ancestors: [
      {
        ancestorRef: { kind: 'Gateway', name: 'main' },
        conditions: [condition('Accepted', 'yes'), condition('Attached', 'no', 'False')],
      },
      { ancestorRef: { kind: 'Gateway', name: 'other' }, conditions: [condition('Attached', 'not here', 'False')] },
    ],
  }
  expect(textOf(page({ status: { objects: [{ origin, status, findings: [] }] } }))).toContain(
    '✓ Accepted True ✗ Attached False (Why) Gateway default/main: no ✗ Gateway other: Attached False (Why) not here',
  )
})

test('listeners, routes, and backends with their health', () => {
  const text = textOf(
    page({
      status: {
        listeners: [
          { listener: 'default/main/http', address: '127.0.0.1', port: 80, bound: true },
          { listener: 'default/main/six', address: '::1', port: 81, bound: false, message: 'in use' },
          { listener: 'default/main/tls', address: '::1', port: 82, bound: true, message: 'no certificate' },
        ],
        endpoints: [
          { backend: 'Service/default/shop/80', endpoint: '10.0.0.1:80', health: 0.875, consecutiveFailures: 0 },
          {
            backend: 'Service/default/shop/80',
            endpoint: '10.0.0.2:80',
            health: 0,
            consecutiveFailures: 3,
            evictedUntil: '2026-01-01T00:00:00.000Z',
          },
        ],
        openCircuits: [
          { guard: 'ProxyPolicy/default/g spec.x[0]', kind: 'webhook', backend: 'Service/default/judge/80' },
        ],
      },
      routes: [route, { ...route, backends: route.backends.slice(0, 1) }, { ...route, broken: 'unknown filter' }],
    }),
  )
  for (const row of [
    'Backend Endpoint Health State',
    'default/main/http 127.0.0.1:80 accepts connections',
    'default/main/six [::1]:81 not open in use',
    'default/main/tls [::1]:82 serves nothing no certificate',
    'HTTPRoute default/shop rule 0 default/main/http shop.test GET PathPrefix /cart, with header x-a and parameter b Service/default/shop/80, weight 2 missing (spec.rules[0].backendRefs[1]), weight 1',
    'parameter b Service/default/shop/80 \n',
    'cannot be served unknown filter',
    'Service/default/shop/80 10.0.0.1:80 88 % in use',
    'Service/default/shop/80 10.0.0.2:80 0 %, the last 3 responses unhealthy evicted until 2026-01-01T00:00:00.000Z',
    'Service/default/judge/80 webhook of ProxyPolicy/default/g spec.x[0] asked once a second until it answers',
  ]) {
    expect(text).toContain(row)
  }
})

test('a session shows its client, targets, calls and errors; hostile texts are escaped', () => {
  const target = {
    transport: 'StreamableHTTP',
    era: 'legacy',
    revision: '2025-11-25',
    changedTools: ['x=<1>'],
  } as const
  const body = page({
    sessions: {
      sessions: [
        {
          session: 'abc',
          backend: 'ProxyBackend/default/tools',
          client: '<b>agent</b>',
          clientVersion: '1.2',
          revision: '2025-11-25',
          createdMs: 0,
          usedMs: 0,
          targets: Array.from({ length: 12 }, (_, index) => ({ ...target, target: `t${index}`, state: 'present' })),
          calls: [{ method: 'tools/call', target: 't1', item: 'search', sinceMs: Date.now() }],
          errors: [{ timeMs: 0, method: 'tools/list', target: undefined, item: undefined, code: '-1', message: '<i>' }],
        },
        {
          session: '',
          backend: 'ProxyBackend/default/free',
          client: '',
          clientVersion: '',
          revision: '',
          createdMs: 0,
          usedMs: 0,
          targets: [],
          calls: [],
          errors: [],
        },
      ],
      unanswered: ['w2'],
    },
  })
  expect(body).not.toContain('<b>agent')
  expect(body).not.toContain('<i>')
  const text = textOf(body)
  expect(text).toContain('Without the sessions of w2, which did not answer in time.')
  expect(text).toContain('abc ProxyBackend/default/tools <b>agent</b> 1.2')
  expect(text).toContain(
    't9 present StreamableHTTP, 2025-11-25 changed: x=<1> and 2 more tools/call search at t1 for 0 s',
  )
  expect(text).toContain('00:00:00 tools/list: -1 <i>')
  expect(text).toContain('without a session ProxyBackend/default/free')
})

test('a decision names provider, models and translation of an LLM request', () => {
  const translation = { from: 'completions', to: 'messages', dropped: [] }
  const call = { section: 'second', endpoint: 'e:1', provider: 'anthropic', requestModel: 'm', responseModel: 'm-1' }
  const shown = page({ decisions: { records: records({ ...call, translation }) } })
  expect(shown).toContain('second at e:1<br>providerFour (Anthropic) m → m-1 (completions → messages)<br>')
})

test('a decision names what an MCP client asked', () => {
  const mcp = {
    method: 'tools/call',
    target: 'weather',
    resourceType: 'tool',
    item: 'search',
    sessionId: undefined,
    sessionDigest: 'abc',
    errorCode: undefined,
    errorMessage: undefined,
  } as const
  const shown = page({ decisions: { records: records({ mcp }) } })
  expect(shown).toContain('tools/call search at weather<br>')
})

test('a decision counts attempts, and calls to the targets of an MCP message', () => {
  const attempt = { endpoint: 'e:1', section: '', status: 200, sentMs: 1, failure: undefined }
  const attempts = [attempt, attempt]
  const mcp = { method: 'tools/list', target: '', resourceType: undefined, item: '' } as const
  const session = { sessionId: undefined, sessionDigest: 'abc', errorCode: undefined, errorMessage: undefined }
  const shown = (values: DecisionValues) => page({ decisions: { records: records(values) } })
  expect(shown({ attempts })).toContain('2 attempts<br>')
  expect(shown({ attempts: [attempt] })).not.toContain('attempt')
  expect(shown({ attempts, mcp: { ...mcp, ...session } })).toContain('2 calls to targets<br>')
})

test('a decision has its time line, as text and as a bar', () => {
  const body = page({
    decisions: {
      records: records({
        timeMs: Date.UTC(2026, 0, 1, 12, 30, 15, 42),
        method: 'GET',
        target: '/cart',
        authority: 'shop.test',
        status: 503,
        code: 'upstream-failed',
        clientAddress: '192.0.2.7',
        clientPort: 40_000,
        detail: 'refused\nby <it>',
        durationMs: 200,
        sentMs: 1.234,
        answeredMs: 101.2,
        names: {
          ...NO_PLAN_NAMES,
          gateway: 'default/main',
          listener: 'http',
          route: 'default/r',
          backend: 'default/b',
        },
        endpoint: '10.0.0.1:80',
      }),
    },
  })
  const text = textOf(body)
  expect(text).toContain('12:30:15.042')
  expect(text).toContain(
    'GET /cart shop.test from 192.0.2.7:40000 503 upstream-failed refusedby <it>\n default/main/http default/r default/b at 10.0.0.1:80 worker w1',
  )
  expect(text).toContain('received → sent 1.23 ms → answered 101 ms → ended 200 ms')
  expect(body).toContain('<rect class="work" x="0.6" width="50" height="1"/>')
})

test('a decision without a backend ends without having been sent', () => {
  const body = page({ decisions: { records: records({ status: 404, durationMs: 0.1234 }), unanswered: ['w2'] } })
  expect(textOf(body)).toContain('not a request from :0 404 worker w1 received → ended 0.12 ms')
  expect(body).not.toContain('<rect')
  expect(textOf(body)).toContain('Without the decisions of w2, which did not answer in time.')
})

test('a request without a response has no status', () => {
  const body = page({ decisions: { records: records({ status: 0, code: 'client-closed' }) } })
  expect(body).toContain('<span class="error">none client-closed</span>')
})

test('many rows are cut, with a link to all of them', () => {
  const many = records(...Array.from({ length: 52 }, (_, number) => ({ number, method: 'GET', target: `/t${number}` })))
  const body = page({ decisions: { records: many } })
  expect(body.match(/\/t\d+/g)).toHaveLength(50)
  expect(textOf(body)).toContain('and 2 more: /decisions')
  const objects = Array.from({ length: 205 }, (_, at) => ({
    origin: { ...origin, name: `o${at}` },
    status: {},
    findings: [],
  }))
  expect(textOf(page({ status: { objects } }))).toContain('and 5 more: /status')
})

const HOSTILE = `<script>alert(1)</script>"'&<img src=x onerror=alert(1)> javascript:x\u202e\u0007`

test('texts of clients and objects are never HTML, and cannot control the reader', () => {
  const body = page({
    status: {
      version: HOSTILE,
      problems: [HOSTILE],
      objects: [
        {
          origin: { kind: HOSTILE, namespace: HOSTILE, name: HOSTILE, file: HOSTILE },
          status: { conditions: [{ type: HOSTILE, status: HOSTILE, reason: HOSTILE, message: HOSTILE }] },
          findings: [{ severity: 'error', code: 'required', path: HOSTILE, message: HOSTILE }],
        },
      ],
      listeners: [{ listener: HOSTILE, address: HOSTILE, port: 1, bound: false, message: HOSTILE }],
      staleFiles: [{ file: HOSTILE, since: HOSTILE, objects: [HOSTILE], problems: [] }],
      endpoints: [{ backend: HOSTILE, endpoint: HOSTILE, health: 1, consecutiveFailures: 0, evictedUntil: HOSTILE }],
    },
    routes: [{ ...route, ruleName: HOSTILE, broken: HOSTILE }],
    decisions: {
      records: records({ method: HOSTILE, target: HOSTILE, authority: HOSTILE, detail: HOSTILE, endpoint: HOSTILE }),
      unanswered: [HOSTILE],
    },
  })
  const elements = new Set([...body.matchAll(/<([a-z0-9!]+)/g)].map(([, name]) => name))
  for (const name of ['script', 'img']) expect(elements.has(name)).toBe(false)
  // Every quote belongs to an attribute that the page itself has written.
  expect(body.replace(/<style>.*?<\/style>/s, '').replace(/ [a-z-]+="[^"<>]*"/g, '')).not.toMatch(/["']/)
  for (const character of ['\u202e', '\u0007']) expect(body).not.toContain(character)
  expect(body).toContain('&#60;script&#62;')
})

test('nothing is loaded, nothing runs, and only the style of the page applies', () => {
  const none = { unanswered: [] }
  const answer = adminPage({
    status: EMPTY,
    routes: [],
    decisions: { records: [], ...none },
    sessions: { sessions: [], ...none },
    paths: [],
  })
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(answer.body) ?? []
  const digest = createHash('sha256').update(style).digest('base64')
  expect(answer.headers?.['content-security-policy']).toBe(
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  expect(answer.headers?.['referrer-policy']).toBe('no-referrer')
  expect(answer.body).not.toMatch(/<script|<link|<img|<iframe| style=| on[a-z]+=|https?:/)
  expect(answer.body).toContain('<html lang="en">')
})

test('each heading that the page links to is there once', () => {
  const body = page()
  const links = [...body.matchAll(/href="#([a-z]+)"/g)].map(([, id]) => id)
  expect(links).toHaveLength(8)
  for (const id of links) expect(body.match(new RegExp(`<h2 id="${id}">`, 'g'))).toHaveLength(1)
  const titles = [...body.matchAll(/<h2 id="[a-z]+">([^<]*)</g)].map(([, title]) => title)
  expect(titles.join(', ')).toBe(
    'Findings, Last decisions, MCP sessions, Backends, Listeners, Routes, Objects, This server',
  )
})

test('the page of a controller has its proxies, and no part for requests', () => {
  const proxy = { gateway: 'default/main', proxy: 'main-1', address: '10.0.0.7', isCurrent: true, refusals: [] }
  const refusals = [{ item: 'Listener/default/main/http', message: 'in use' }]
  const proxies = [proxy, { ...proxy, proxy: 'main-2', isCurrent: false, refusals }]
  const status = { ...EMPTY, workers: [], proxies }
  const text = textOf(adminPage({ status, routes: [], paths: [] }).body)
  expect(text).toContain('Plan 7 is in force in 2 proxies, 1 of them with another plan.')
  expect(text).toContain('main-1 default/main 10.0.0.7 current')
  expect(text).toContain('main-2 default/main 10.0.0.7 behind Listener/default/main/http: in use')
  expect(text).not.toContain('Last decisions')
})
