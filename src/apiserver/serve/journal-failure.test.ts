import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { JournalFailure } from '#store/resources/journal-failure.ts'
import { startTestServer } from '../testing.ts'

let server: Awaited<ReturnType<typeof startTestServer>>

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

test.each([
  ['full', 507, 'InsufficientStorage'],
  ['closed', 503, 'ServiceUnavailable'],
  ['read-only', 500, 'InternalError'],
] as const)(
  'a change that cannot be stored (%s) is refused with the reason, and reads go on',
  async (fault, status, reason) => {
    vi.spyOn(server.table, 'commit').mockImplementation(() => {
      throw new JournalFailure(fault, 'the change was not stored: make room', undefined)
    })
    const path = '/api/v1/namespaces/default/configmaps'
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    const refused = await server.call(path, { method: 'POST', body })
    expect(refused).toMatchObject({
      status,
      body: { reason, message: 'the change was not stored: make room', code: status },
    })
    expect((await server.call(path)).body.items).toEqual([])
    expect(server.bugs).toEqual([])
  },
)
