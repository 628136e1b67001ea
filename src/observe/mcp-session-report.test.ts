import { expect, test } from 'vitest'
import { type McpErrorReport, type McpSessionReport, mergeSessions } from './mcp-session-report.ts'

function report(more: Partial<McpSessionReport>): McpSessionReport {
  return {
    session: 'a',
    backend: 'b',
    client: 'c',
    clientVersion: '1',
    revision: '2025-11-25',
    createdMs: 1,
    usedMs: 1,
    targets: [],
    calls: [],
    errors: [],
    ...more,
  }
}

function errorAt(timeMs: number): McpErrorReport {
  return { timeMs, method: 'tools/call', target: 't', item: 'i', code: '-32603', message: '' }
}

function callAt(sinceMs: number) {
  return { sinceMs, method: 'tools/call', target: 't', item: 'i' }
}

test('a session that several workers serve is one, last used first', () => {
  const about = { transport: 'StreamableHTTP', era: 'legacy', revision: '2025-11-25', changedTools: [] } as const
  const target = { target: 't', ...about }
  const merged = mergeSessions([
    report({
      usedMs: 5,
      targets: [{ ...target, state: 'renewed' }],
      calls: [callAt(3)],
      errors: [9, 7, 5].map(errorAt),
    }),
    report({ session: 'other', usedMs: 8 }),
    report({
      usedMs: 4,
      targets: [{ ...target, state: 'present' }],
      calls: [callAt(2)],
      errors: [8, 6, 4].map(errorAt),
    }),
  ])
  expect(merged.map(({ session }) => session)).toEqual(['other', 'a'])
  expect(merged[1]).toMatchObject({ usedMs: 5, targets: [{ state: 'renewed' }], calls: [callAt(2), callAt(3)] })
  expect(merged[1]?.errors.map(({ timeMs }) => timeMs)).toEqual([9, 8, 7, 6, 5])
})

test('requests without a session are one entry for each backend', () => {
  const without = (backend: string, usedMs: number) => report({ session: '', backend, usedMs, calls: [callAt(usedMs)] })
  const merged = mergeSessions([without('b', 3), without('c', 4), without('b', 5)])
  expect(merged.map(({ backend, calls }) => [backend, calls.length])).toEqual([
    ['b', 2],
    ['c', 1],
  ])
})
