import { expect, test } from 'vitest'
import { LocalTable, MAX_ENTRIES } from '#state/shared-table.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import type { McpDeps } from '../request/mcp-request.ts'
import { openReference, sealReference, takeReference } from './client-reference.ts'

const SESSION = { key: 'one' }
const ASKED = { target: 'a', original: 7 }

function start() {
  const table = new LocalTable()
  return { table, deps: { sealer: testSealer(), table } as unknown as McpDeps }
}

test('a response is accepted once within the last 16,384 responses (decision B85)', () => {
  const { table, deps } = start()
  const id = sealReference(deps, SESSION, 'id', ASKED)
  expect(id).toMatch(/^[\w-]{64,}$/)
  expect(takeReference(deps, SESSION, id)).toEqual(ASKED)
  expect(takeReference(deps, SESSION, id)).toBeUndefined()
  // The same request under another encrypted form is the same request.
  expect(takeReference(deps, SESSION, sealReference(deps, SESSION, 'id', ASKED))).toBeUndefined()
  expect(MAX_ENTRIES).toBe(16_384)
  for (let others = 1; others < MAX_ENTRIES; others++) table.set('mcp-answered', `${others}`, '')
  expect(takeReference(deps, SESSION, id), 'the oldest is still known').toBeUndefined()
  table.set('mcp-answered', 'one more', '')
  expect(table.count('mcp-answered')).toBe(16_384)
})

test.each([
  ['another session', { key: 'two' }, 'id'],
  ['another kind', SESSION, 'progress'],
] as const)('a reference is of one session and one kind: %s', (_, session, kind) => {
  const { deps } = start()
  const id = sealReference(deps, SESSION, 'id', ASKED)
  expect(openReference(deps, session, kind, id)).toBeUndefined()
  expect(openReference(deps, SESSION, 'id', id)).toEqual(ASKED)
})

test.each([7, 'made up', undefined])('%s is no reference', (id) => {
  const { deps } = start()
  expect(openReference(deps, SESSION, 'id', id)).toBeUndefined()
})
