import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { answerJson, type JsonServer, startJsonServer } from '#test/support/json-server.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  routeYaml,
} from '#test/support/objects-folder.ts'

/** Requests to a guarded backend that no guard can read, and those that try to reach the provider beside the guards. */

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
let judge: JsonServer
let provider: JsonServer

beforeAll(async () => {
  judge = stops.use(await startJsonServer())
  provider = stops.use(await startJsonServer())
  port = await freePort()
  const spec = {
    ai: { provider: { providerOne: {}, host: '127.0.0.1', port: provider.port } },
    policies: {
      ai: {
        routes: { '/chat/completions': 'Completions', '/messages': 'Messages', '*': 'Passthrough' },
        promptGuard: { request: [{ webhook: { backendRef: backendRef('judge') } }] },
      },
    },
  }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('judge', judge.port),
      routeYaml('guarded', '/', 'guarded'),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: guarded }
spec: ${JSON.stringify(spec)}
`,
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})
afterAll(() => stops.disposeAsync())

beforeEach(() => {
  judge.seen.length = 0
  provider.seen.length = 0
  judge.answer = (_, response) => answerJson(response, { action: { body: 'no', status_code: 403 } })
})

/** Sends a path as it is: `fetch` would change some. */
function send(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const made = httpRequest(`${gateway.url(port)}`, { method: 'POST', path, headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (piece) => {
        text += piece
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    made.on('error', reject)
    made.end(body)
  })
}

const CHAT = '/v1/chat/completions'
const json = (content: string) => `{"model":"m","messages":[{"role":"user","content":${content}}]}`
const JSON_TYPE = { 'content-type': 'application/json' }

test.each<[what: string, status: number, body: string | Buffer, headers?: Record<string, string>]>([
  ['a body over the limit', 413, json(`"${'a'.repeat(3_000_000)}"`)],
  ['a body with a coding that nobody knows', 415, json('"hi"'), { 'content-encoding': 'x-coding' }],
  ['a byte order mark', 400, `\ufeff${json('"hi"')}`],
  ['UTF-16', 400, Buffer.from(`\ufeff${json('"hi"')}`, 'utf16le')],
  ['broken UTF-8', 400, Buffer.concat([Buffer.from('{"model":"m","messages":[],"x":"'), Buffer.of(0xc3, 0x22, 0x7d)])],
  ['a broken escape', 400, json(String.raw`"\u12"`)],
  ['half of a character', 400, json(String.raw`"\ud83d"`)],
  ['a nested key that is there twice', 400, json('[{"type":"text","text":"good","text":"bad"}]')],
  [
    'a key that is there twice in two spellings',
    400,
    json(String.raw`[{"type":"text","text":"good","t\u0065xt":"bad"}]`),
  ],
  ['two texts', 400, `${json('"hi"')}${json('"bad"')}`],
  ['no JSON', 400, 'content=bad'],
])('%s: %i, and neither the service nor the provider gets anything', async (_, status, body, headers) => {
  expect((await send(CHAT, body, { ...JSON_TYPE, ...headers })).status).toBe(status)
  expect([judge.seen, provider.seen]).toEqual([[], []])
})

test.each([
  CHAT,
  `${CHAT}/`,
  '/v1/chat/completion%73',
  '/v1//chat///completions',
  '/v1/%63hat/completions?a=b',
  '/messages/',
])('a text for %s is judged', async (path) => {
  const { status, text } = await send(path, json('"bad"'), JSON_TYPE)
  expect(status).toBe(403)
  expect(text).toContain('no')
  expect(judge.seen.length).toBe(1)
  expect(provider.seen).toEqual([])
})

test('a compressed text is judged', async () => {
  const { status } = await send(CHAT, gzipSync(json('"bad"')), { ...JSON_TYPE, 'content-encoding': 'gzip' })
  expect(status).toBe(403)
  expect(JSON.stringify(judge.seen.map(({ body }) => body))).toContain('bad')
  expect(provider.seen).toEqual([])
})

test.each([
  '/v1/CHAT/completions',
  '/v1/chat/./completions',
  '/v1/x/../chat/completions',
  '/v1/chat/completion%2573',
  '/v1/chat/completions%20',
  '/v1/chat%2fcompletions',
])('%s, which a provider may read as a guarded path, does not get to the provider', async (path) => {
  expect((await send(path, json('"bad"'), JSON_TYPE)).status).toBeGreaterThanOrEqual(400)
  expect(provider.seen).toEqual([])
})
