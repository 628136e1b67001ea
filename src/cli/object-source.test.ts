import { expect, test, vi } from 'vitest'
import { answerJson, startJsonServer } from '#test/support/json-server.ts'
import { type ApiFlags, readObjects } from './object-source.ts'

test.each<[flags: ApiFlags, message: string]>([
  [{ context: 'a', state: 'b' }, '--state needs --server, and cannot be combined with --kubeconfig'],
  [{ state: 'a' }, '--state needs --server, and cannot be combined with --kubeconfig'],
  [
    { state: 'a', server: 'https://a', kubeconfig: 'b' },
    '--state needs --server, and cannot be combined with --kubeconfig',
  ],
  [{ state: '/nonexistent', server: 'https://a' }, '/nonexistent/kubeconfig does not exist'],
  [{ namespace: ['a'] }, '--namespace needs --server or --kubeconfig'],
])('flags %j are refused', async (flags, message) => {
  await expect(readObjects('lint', [], flags)).rejects.toThrow(message)
})

test('kinds that an API does not serve are named, and only those', async () => {
  await using server = await startJsonServer()
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const address = { server: `http://127.0.0.1:${server.port}` }
  server.answer = (_, response) => answerJson(response, { items: [] })
  await readObjects('lint', [], address)
  expect(errors).not.toHaveBeenCalled()
  server.answer = ({ path }, response) => {
    const isPods = path.startsWith('/api/v1/pods')
    answerJson(response, isPods ? { message: 'not found' } : { items: [] }, isPods ? 404 : 200)
  }
  await readObjects('lint', [], address)
  expect(errors.mock.calls).toEqual([
    [expect.stringContaining('does not serve Pod; the objects are checked without them')],
  ])
})
