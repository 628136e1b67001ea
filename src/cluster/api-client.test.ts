import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { answerJson, startJsonServer } from '#test/support/json-server.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { ApiClient, type WatchEvent } from './api-client.ts'
import type { ApiUnreadable } from './api-unreadable.ts'
import { readInCluster } from './in-cluster.ts'
import { TokenFile } from './token-file.ts'

const { monotonic } = clock
afterEach(() => {
  clock.monotonic = monotonic
})

/** A server whose watches write what a test says. */
async function watched(answer: (response: ServerResponse, request: IncomingMessage) => void, idleMs = 1000) {
  const server = createServer((request, response) => answer(response, request)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const client = new ApiClient({
    server: new URL(`http://127.0.0.1:${port}`),
    tls: {},
    headers: {},
    credential: 'a user',
  })
  onTestFinished(() => client[Symbol.dispose]())
  const batches: (readonly WatchEvent[])[] = []
  const abort = new AbortController()
  let failure: ApiUnreadable | undefined
  try {
    for await (const events of client.watch('/api/v1/pods?watch=true', { signal: abort.signal, idleMs }))
      if (events.length > 0) batches.push(events)
  } catch (error) {
    failure = error as ApiUnreadable
  }
  return { batches, failure, address: `http://127.0.0.1:${port}` }
}

const SILENT = 'cannot be read: no data from it for 0.2 seconds'
const event = (name: string) => ({ type: 'ADDED', object: { metadata: { name } } })
const line = (name: string) => `${JSON.stringify(event(name))}\n`

test('events that arrive together are one batch, and a watch ends with its response', async () => {
  const { batches, failure } = await watched((response) => response.end(line('a') + line('b')))
  expect([batches, failure]).toEqual([[[event('a'), event('b')]], undefined])
})

test('a line may arrive in pieces, even within a character', async () => {
  const bytes = Buffer.from(line('é'))
  const { batches } = await watched((response) => {
    const at = bytes.indexOf(0xc3) + 1
    response.write(bytes.subarray(0, at))
    setTimeout(() => response.end(bytes.subarray(at)), 30)
  })
  expect(batches).toEqual([[event('é')]])
})

test.each<[string, (response: ServerResponse) => void, string | RegExp]>([
  ['whose connection breaks', (response) => response.write('x', () => response.destroy()), 'cannot be read: aborted'],
  ['without bytes', (response) => void response.flushHeaders(), SILENT],
  ['with another text', (response) => void response.end('<html>\n'), 'a line of a watch is not an event'],
  [
    'with an endless line',
    (response) => void response.end(Buffer.alloc(17 * 1024 * 1024, 'x')),
    'a line has more than 16777216 bytes',
  ],
  [
    'that is forbidden',
    (response) => answerJson(response, { message: 'pods is forbidden' }, 403),
    /\/api\/v1\/pods\?watch=true responded with status 403: pods is forbidden/,
  ],
])('a watch %s is an error with address and credential', async (_, answer, message) => {
  const { failure, address } = await watched(answer, message === SILENT ? 200 : 5000)
  expect(failure?.message).toMatch(message)
  expect(failure?.message.startsWith(address)).toBe(true)
  expect(failure?.message.endsWith(' (credential: a user)')).toBe(true)
})

test('a busy API says when to come back', async () => {
  const { failure } = await watched((response) => void response.writeHead(429, { 'retry-after': '7' }).end('{}'))
  expect([failure?.status, failure?.retryAfterMs]).toEqual([429, 7000])
})

test('a replaced token is used after 30 seconds, and at once after a refusal', async () => {
  const file = join(temporaryFolder(), 'token')
  writeFileSync(file, 'one\n')
  let now = 0
  clock.monotonic = () => now
  await using server = await startJsonServer()
  const credentials = { token: new TokenFile(file), credential: `the token in ${file}` }
  using client = new ApiClient({
    server: new URL(`http://127.0.0.1:${server.port}`),
    tls: {},
    headers: {},
    ...credentials,
  })
  await client.get('/a')
  writeFileSync(file, 'two\n')
  await client.get('/b')
  now = 30_001
  await client.get('/c')
  writeFileSync(file, 'three\n')
  server.answer = (_, response) => answerJson(response, { message: 'Unauthorized' }, 401)
  await expect(client.get('/d')).rejects.toThrow(`401: Unauthorized (credential: the token in ${file})`)
  server.answer = (_, response) => answerJson(response, {})
  await client.get('/e')
  const sent = server.seen.map(({ path, headers }) => `${path} ${headers.authorization}`)
  expect(sent).toEqual(['/a Bearer one', '/b Bearer one', '/c Bearer two', '/d Bearer two', '/e Bearer three'])
})

/** The folder that Kubernetes mounts into a Pod. */
function accountFolder(token = 'abc'): string {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries({ token, 'ca.crt': 'CA', namespace: 'gatewright\n' }))
    writeFileSync(join(folder, name), text)
  return folder
}

test.each([
  ['10.0.0.1', '6443', 'https://10.0.0.1:6443/'],
  ['fd00::1', '443', 'https://[fd00::1]/'],
])('the address of the API in a Pod: %s %s', (KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, url) => {
  const folder = accountFolder()
  const { access, namespace } = readInCluster({ KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT }, folder)
  expect([access.server.href, access.tls, access.headers, access.token?.get(), access.credential, namespace]).toEqual([
    url,
    { ca: 'CA' },
    {},
    'abc',
    `the token in ${folder}/token`,
    'gatewright',
  ])
})

test.each<[string, NodeJS.ProcessEnv, () => string, string]>([
  ['outside a cluster', {}, accountFolder, 'KUBERNETES_SERVICE_HOST is not set, so this is not a Pod'],
  ['with a wrong port', { KUBERNETES_SERVICE_HOST: 'a', KUBERNETES_SERVICE_PORT: 'x' }, accountFolder, 'PORT "x"'],
  ['without a token', { KUBERNETES_SERVICE_HOST: 'a' }, () => accountFolder(' '), 'token has no token'],
  ['without its files', { KUBERNETES_SERVICE_HOST: 'a' }, temporaryFolder, 'token cannot be read: ENOENT'],
])('a Pod %s is an error', (_, environment, folder, message) => {
  expect(() => readInCluster(environment, folder())).toThrow(message)
})
