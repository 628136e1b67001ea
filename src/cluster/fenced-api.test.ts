import { expect, onTestFinished, test } from 'vitest'
import { startJsonServer } from '#test/support/json-server.ts'
import { ApiClient } from './api-client.ts'
import { FencedApi } from './fenced-api.ts'

/** A term, and a server that does not answer while `holds` is set. */
async function fenced() {
  const server = await startJsonServer()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const client = new ApiClient({ server: new URL(`http://127.0.0.1:${server.port}`), tls: {}, headers: {} })
  onTestFinished(() => client[Symbol.dispose]())
  const end = new AbortController()
  const term = { leads: true, signal: end.signal }
  return { server, term, end, api: new FencedApi(client, term) }
}

const WRITES: readonly [string, (api: FencedApi) => Promise<unknown>][] = [
  ['create', (api) => api.create('/objects', {})],
  ['apply', (api) => api.apply('/objects/a', {})],
  ['a trial of apply', (api) => api.apply('/objects/a', {}, { dryRun: true })],
  ['merge', (api) => api.merge('/objects/a', {})],
  ['replace', (api) => api.replace('/objects/a', {})],
  ['delete', (api) => api.delete('/objects/a')],
]

test.each(WRITES)('%s is sent during the term only, and given up at its end', async (_, write) => {
  const { server, term, end, api } = await fenced()
  await write(api)
  expect(server.seen).toHaveLength(1)
  server.answer = () => end.abort()
  await expect(write(api)).rejects.toThrow('cannot be read: The operation was aborted')
  expect(server.seen).toHaveLength(2)
  // The time is over, and no timer has noticed it.
  const paused = await fenced()
  paused.term.leads = false
  await expect(write(paused.api)).rejects.toThrow('this replica does not lead any more, so it writes nothing')
  term.leads = false
  await expect(write(api)).rejects.toThrow('this replica does not lead any more')
  expect([server.seen.length, paused.server.seen.length]).toEqual([2, 0])
})

test('objects are read at any time', async () => {
  const { term, end, api } = await fenced()
  term.leads = false
  end.abort()
  expect(await api.get('/objects/a')).toEqual({ status: 200, body: {} })
})
