import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LogLevels } from '#base/log-levels.ts'
import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import { DecisionRing } from '#observe/decision-ring.ts'
import type { McpSessionReport } from '#observe/mcp-session-report.ts'
import { keptDecision } from '#observe/testing.ts'
import type { PlanItem } from '#plan/item.ts'
import { type AdminServerOptions, NotLoopback, startAdminServer } from './admin-server.ts'
import type { RunningServer } from './small-server.ts'
import type { StatusReport } from './status-report.ts'
import type { DecisionReader } from './tail-decisions.ts'
import { ask, failOnBug } from './testing.ts'
import type { TrafficReport } from './traffic-report.ts'

const origin = { kind: 'Secret', namespace: 'default', name: 'keys' }
const items: readonly PlanItem[] = [
  { kind: 'secret', key: 'Secret/b', namespace: 'default', name: 'b', labels: {}, data: { ann: 'k-ann' }, origin },
  { kind: 'configmap', key: 'ConfigMap/a', namespace: 'default', name: 'a', data: { text: 'plain' }, origin },
]
const report: StatusReport = {
  version: '1.2.3',
  planVersion: 7,
  notReady: [],
  objects: [{ origin, status: { conditions: [] }, findings: [] }],
  listeners: [{ listener: 'default/main/http', address: '127.0.0.1', port: 8080, bound: true }],
  problems: [],
  staleFiles: [],
  workers: [{ name: 'w1', planVersion: 7 }],
  failingOutputs: [],
  endpoints: [],
  keySets: [],
  openCircuits: [],
  credentials: [],
}
const ring = new DecisionRing('w1', new DecisionIds(), 4)
const detail = 'said hunter22 twice'
ring.keep(keptDecision({ detail, code: 'internal-error', names: { ...NO_PLAN_NAMES, route: 'default/told' } }))
for (const number of [1, 2]) {
  ring.keep(keptDecision({ number, code: 'rate-limited', names: { ...NO_PLAN_NAMES, route: 'default/shop' } }))
}

const sessions: readonly McpSessionReport[] = ['one', 'other'].map((session) => ({
  session,
  backend: `ProxyBackend/default/${session}`,
  client: 'inspector',
  clientVersion: '1.2',
  revision: '2025-11-25',
  createdMs: Date.UTC(2026, 0, 1),
  usedMs: Date.UTC(2026, 0, 1),
  targets: [
    {
      target: 'a',
      state: 'present',
      transport: 'StreamableHTTP',
      era: 'legacy',
      revision: '2025-11-25',
      changedTools: [],
    },
    { target: 'b', state: 'absent', transport: 'SSE', era: undefined, revision: undefined, changedTools: [] },
  ],
  calls: [],
  errors: [
    {
      timeMs: Date.UTC(2026, 0, 1),
      method: 'tools/call',
      target: 'a',
      item: 'search',
      code: '-32603',
      message: 'said hunter22',
    },
  ],
}))

let quits = 0
const readers = new Set<DecisionReader>()
let unanswered: readonly string[] = []
let levels: LogLevels = { others: 'info' }
const traffic: TrafficReport = {
  time: '2026-01-01T00:00:05.000Z',
  startTime: '2026-01-01T00:00:00.000Z',
  uptimeSeconds: 5,
  inFlight: 1,
  bounds: [1],
  routes: [],
  backends: [],
}
const options: AdminServerOptions = {
  host: '127.0.0.1',
  port: 0,
  token: 't-1',
  version: '1.2.3',
  status: () => report,
  dump: () => ({ version: 7, items }),
  requests: {
    traffic: () => traffic,
    decisions: async () => ({ records: ring.list(), unanswered }),
    followDecisions: (reader) => {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    profiles: { workers: () => ['w1'], record: async () => ({ kind: 'busy' }) },
    sessions: async () => ({ sessions, unanswered }),
  },
  logLevels: () => ({
    levels,
    changeLevels: (changed) => {
      levels = changed
    },
  }),
  hide: (text) => text.replaceAll('hunter22', '<redacted>'),
  quit: () => {
    quits++
  },
  reportBug: failOnBug,
}
const TOKEN = { authorization: 'Bearer t-1' }
let server: RunningServer
beforeAll(async () => {
  server = await startAdminServer(options)
})
afterAll(() => server.close())

async function json(path: string): Promise<unknown> {
  const { status, headers, body } = await ask(server.port, path)
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('application/json')
  return JSON.parse(body)
}

test('the first page names every path and shows no secret', async () => {
  const { headers, body } = await ask(server.port, '/')
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  expect(body).toContain('said &#60;redacted&#62; twice')
  expect(body).not.toContain('hunter22')
  for (const path of ['/status', '/config_dump', '/decisions', '/mcp_sessions', '/version'])
    expect(body).toContain(`href="${path}"`)
  expect(body).toContain('POST /quitquitquit')
})

test('/status is the report', async () => {
  expect(await json('/status')).toEqual(report)
})

test('/traffic is the numbers', async () => {
  expect(await json('/traffic')).toMatchObject({ inFlight: 1, routes: [] })
})

test('/plan and /config_dump are the same', async () => {
  expect(await json('/plan')).toEqual(await json('/config_dump'))
})

test('/config_dump is the plan by key, without secrets', async () => {
  expect(await json('/config_dump')).toEqual({
    version: 7,
    items: [items[1], { ...items[0], data: { ann: '<redacted>' } }],
  })
})

test('/decisions takes parameters', async () => {
  expect(await json('/decisions')).toHaveLength(3)
  expect(await json('/decisions?limit=1&code=rate-limited&route=default/shop')).toHaveLength(1)
  expect(await ask(server.port, '/decisions?limit=x')).toMatchObject({
    status: 400,
    body: 'limit must be a number from 1 to 999999\n',
  })
})

test('its address is a URL', () => {
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
})

test('/log_levels shows the levels; POST changes them if it can read them', async () => {
  expect(await ask(server.port, '/log_levels')).toMatchObject({ status: 200, body: 'info\n' })
  const changed = await ask(server.port, '/log_levels?levels=warn,proxy=debug', { method: 'POST', headers: TOKEN })
  expect(changed).toMatchObject({ status: 200, body: 'warn,proxy=debug\n' })
  const refused = await ask(server.port, '/log_levels?levels=loud', { method: 'POST', headers: TOKEN })
  expect([refused.status, levels]).toEqual([400, { others: 'warn', proxy: 'debug' }])
  expect(await ask(server.port, '/log_levels', { method: 'POST', headers: TOKEN })).toMatchObject({
    status: 400,
    body: expect.stringContaining('the parameter levels is missing'),
  })
})

test('/version names gateway and runtime', async () => {
  expect(await json('/version')).toEqual({ gatewright: '1.2.3', node: process.versions.node })
})

test('/decisions names the workers that did not answer', async () => {
  expect((await ask(server.port, '/decisions')).headers).not.toHaveProperty('gatewright-unanswered-workers')
  unanswered = ['w2', 'w5']
  const { status, headers, body } = await ask(server.port, '/decisions')
  expect([status, headers['gatewright-unanswered-workers']]).toEqual([200, 'w2, w5'])
  expect(JSON.parse(body)).toHaveLength(3)
  unanswered = []
})

test('/mcp_sessions takes parameters, shows no secret, and names the workers that did not answer', async () => {
  expect(await json('/mcp_sessions?session=one')).toMatchObject([
    {
      session: 'one',
      created: '2026-01-01T00:00:00.000Z',
      errors: [{ time: '2026-01-01T00:00:00.000Z', item: 'search', message: 'said <redacted>' }],
    },
  ])
  expect(await json('/mcp_sessions?backend=ProxyBackend/default/other')).toHaveLength(1)
  expect(await json('/mcp_sessions?limit=1')).toHaveLength(1)
  expect(await ask(server.port, '/mcp_sessions?client=x')).toMatchObject({
    status: 400,
    body: 'unknown parameter; use backend, limit, session\n',
  })
  unanswered = ['w2']
  expect((await ask(server.port, '/mcp_sessions')).headers['gatewright-unanswered-workers']).toBe('w2')
  unanswered = []
})

test('secrets are removed from every response', async () => {
  expect(await json('/decisions?route=default/told')).toMatchObject([{ detail: 'said <redacted> twice' }])
})

test('/quitquitquit stops the gateway when it is asked by POST', async () => {
  expect(await ask(server.port, '/quitquitquit')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  expect(quits).toBe(0)
  expect(await ask(server.port, '/quitquitquit', { method: 'POST', headers: TOKEN })).toMatchObject({ status: 200 })
  expect(quits).toBe(1)
})

test.each([undefined, '', 't-1', 'Bearer', 'Bearer t-2', 'Bearer t-11', 'Basic t-1'])(
  'calls that change something need the token, not %j',
  async (authorization) => {
    const before = [quits, levels]
    const headers = authorization === undefined ? {} : { authorization }
    for (const path of ['/quitquitquit', '/log_levels?levels=debug']) {
      const refused = await ask(server.port, path, { method: 'POST', headers })
      expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
      expect(refused.body).toContain('admin-token')
    }
    expect([quits, levels]).toEqual(before)
  },
)

const refusals: readonly (readonly [method: string, path: string, headers: Record<string, string>, status: number])[] =
  [
    ['GET', '/no-such-page', {}, 404],
    ['GET', '/constructor', {}, 404],
    ['PUT', '/status', {}, 405],
    ['GET', '/status', { host: 'rebind.example.com' }, 403],
    ['GET', '/no-such-page', { host: 'rebind.example.com' }, 403],
    ['GET', '/status', { 'sec-fetch-site': 'cross-site' }, 403],
    ['POST', '/quitquitquit', { origin: 'https://example.com' }, 403],
  ]

const outsiders: readonly Record<string, string>[] = [
  { host: 'rebind.example.com' },
  { host: 'localhost.example.com' },
  { origin: 'https://example.com' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
]

for (const headers of outsiders) {
  test(`every path, also that which stops the gateway, is refused to ${JSON.stringify(headers)}`, async () => {
    const before = quits
    for (const path of ['/', '/status', '/config_dump', '/decisions', '/version']) {
      expect((await ask(server.port, path, { headers })).status, path).toBe(403)
    }
    expect(
      (await ask(server.port, '/quitquitquit', { method: 'POST', headers: { ...headers, ...TOKEN } })).status,
    ).toBe(403)
    expect(quits).toBe(before)
  })
}

for (const [method, path, headers, status] of refusals) {
  test(`${method} ${path} ${JSON.stringify(headers)} gets ${status}`, async () => {
    const before = quits
    expect((await ask(server.port, path, { method, headers })).status).toBe(status)
    expect(quits).toBe(before)
  })
}

test('answers are not to be kept or framed', async () => {
  const { headers } = await ask(server.port, '/status')
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  })
})

for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
  test(`it does not listen on ${host}, where others reach it`, async () => {
    await expect(startAdminServer({ ...options, host })).rejects.toBeInstanceOf(NotLoopback)
  })
}
