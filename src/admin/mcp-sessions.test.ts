import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { McpSessionReport } from '#observe/mcp-session-report.ts'
import { selectSessions } from './mcp-sessions.ts'

const NOW = Date.parse('2026-01-31T12:00:00Z')

beforeEach(() => void vi.useFakeTimers({ now: NOW }))
afterEach(() => void vi.useRealTimers())

const idle: McpSessionReport = {
  session: 'a',
  backend: 'ProxyBackend/default/tools',
  client: 'agent',
  clientVersion: '1',
  revision: '2025-11-25',
  createdMs: NOW - 90_999,
  usedMs: NOW - 30_000,
  targets: [],
  calls: [],
  errors: [{ timeMs: NOW - 1000, method: 'tools/list', target: undefined, item: undefined, code: '-1', message: 'no' }],
}
const busy: McpSessionReport = {
  ...idle,
  session: 'b',
  backend: 'ProxyBackend/default/other',
  // The clock was set back meanwhile.
  createdMs: NOW + 5000,
  calls: [{ method: 'tools/call', target: 'weather', item: 'forecast', sinceMs: NOW - 2500 }],
}
const select = (query: string) => selectSessions({ sessions: [idle, busy], unanswered: [] }, new URLSearchParams(query))

test('ages are in full seconds; a session with a call in flight is not idle', () => {
  expect(select('')).toMatchObject({
    kind: 'sessions',
    sessions: [
      {
        session: 'a',
        created: '2026-01-31T11:58:29.001Z',
        ageSeconds: 90,
        idleSeconds: 30,
        errors: [{ time: '2026-01-31T11:59:59.000Z', message: 'no' }],
      },
      { session: 'b', ageSeconds: 0, idleSeconds: 0, calls: [{ since: '2026-01-31T11:59:57.500Z', seconds: 2 }] },
    ],
  })
})

test.each([
  ['session=b', ['b']],
  ['backend=ProxyBackend/default/tools', ['a']],
  ['backend=ProxyBackend/default/tools&session=b', []],
  ['limit=1', ['a']],
])('mcp_sessions?%s', (query, sessions) => {
  const selection = select(query)
  expect(selection.kind === 'sessions' && selection.sessions.map(({ session }) => session)).toEqual(sessions)
})

test.each([
  ['limit=0', 'limit must be a number from 1 to 999999'],
  ['id=a', 'unknown parameter; use backend, limit, session'],
])('mcp_sessions?%s is refused', (query, message) => {
  expect(select(query)).toEqual({ kind: 'refused', message })
})
