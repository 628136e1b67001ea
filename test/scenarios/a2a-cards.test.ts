import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// Cards of agents that answer in every form: none reaches a client with the address of the agent.

const stops = new AsyncDisposableStack()
let base: string
let agentUrl: string
type Answer = (request: IncomingMessage, response: ServerResponse) => void
let answer: Answer = () => {}
let received: IncomingMessage | undefined

const CARD = '/.well-known/agent-card.json'

beforeAll(async () => {
  const agent = createServer((request, response) => {
    received = request
    request.resume()
    request.once('end', () => answer(request, response))
  })
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void agent.close())
  const { port: agentPort } = agent.address() as AddressInfo
  agentUrl = `http://127.0.0.1:${agentPort}`
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  const backend = `\napiVersion: gatewright.dev/v1alpha1\nkind: ProxyBackend\nmetadata: { name: agent }\nspec: { a2a: { host: 127.0.0.1, port: ${agentPort} } }\n`
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backend, routeYaml('agent', '/', 'agent')),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

const cardText = () => `{"name":"a","url":"${agentUrl}/rpc","signatures":[{}]}`
const rewritten = () => `{"name":"a","url":"${base}/rpc"}`

function send(body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Answer {
  return (_, response) => response.writeHead(status, headers).end(body)
}

async function fetchCard(headers: Record<string, string> = {}, path = CARD) {
  const response = await fetch(base + path, { headers, redirect: 'manual' })
  return { response, text: await response.text(), get: (name: string) => response.headers.get(name) }
}

test.each<[how: string, agent: () => Answer]>([
  ['plain', () => send(cardText(), { 'content-type': 'application/json' })],
  ['without a content type', () => send(cardText())],
  ['as text', () => send(cardText(), { 'content-type': 'text/plain' })],
  ['compressed, unasked', () => send(gzipSync(cardText()), { 'content-encoding': 'gzip' })],
  ['compressed otherwise', () => send(brotliCompressSync(cardText()), { 'content-encoding': 'BR' })],
  ['behind a mark of the byte order', () => send(`\ufeff${cardText()}`)],
  [
    'in pieces of one byte',
    () => (_, response) => {
      for (const byte of Buffer.from(cardText())) response.write(Uint8Array.of(byte))
      response.end()
    },
  ],
])('a card %s is rewritten', async (_, agent) => {
  answer = agent()
  const { response, text, get } = await fetchCard({ 'accept-encoding': 'gzip' })
  expect([response.status, text, get('content-encoding')]).toEqual([200, rewritten(), null])
  expect(get('vary')).toBe('X-Forwarded-Proto')
  expect(received?.headers['accept-encoding']).toBe('identity')
})

test.each<[what: string, agent: () => Answer]>([
  ['a part of a card', () => send(cardText(), { 'content-range': 'bytes 0-40/50' }, 206)],
  ['a page', () => send('<html></html>', { 'content-type': 'text/html' })],
  ['broken JSON', () => send(cardText().slice(0, -1))],
  ['a list', () => send(`[${cardText()}]`)],
  ['nothing', () => send('')],
  ['an unknown coding', () => send(cardText(), { 'content-encoding': 'x-secret' })],
  ['two codings', () => send(gzipSync(gzipSync(cardText())), { 'content-encoding': 'gzip, gzip' })],
  ['bytes that are not of the coding', () => send(cardText(), { 'content-encoding': 'gzip' })],
  ['too many bytes', () => send(`{"x":"${'x'.repeat(2 * 1024 * 1024)}","url":"${agentUrl}"}`)],
  [
    'too many bytes when decoded',
    () => send(gzipSync(`{"x":"${'x'.repeat(3_000_000)}"}`), { 'content-encoding': 'gzip' }),
  ],
  ['another character set', () => send(Buffer.from(cardText(), 'utf16le'))],
])('the client gets 502 instead of %s', async (_, agent) => {
  answer = agent()
  const { response, text } = await fetchCard()
  expect([response.status, text]).toEqual([502, 'a2a: agent card cannot be rewritten'])
  expect(text).not.toContain(agentUrl)
})

test.each([404, 401, 500])('an error with status %i passes', async (status) => {
  answer = send('sorry', { 'www-authenticate': 'Bearer' }, status)
  const { response, text, get } = await fetchCard()
  expect([response.status, text, get('www-authenticate')]).toEqual([status, 'sorry', 'Bearer'])
})

test('a redirect to another address of the agent leads through the gateway, one to elsewhere does not', async () => {
  answer = send('', { location: `${agentUrl}/other.json` }, 302)
  expect((await fetchCard()).get('location')).toBe(`${base}/other.json`)
  answer = send('', { location: 'https://cards.example/x.json' }, 302)
  expect((await fetchCard()).get('location')).toBe('https://cards.example/x.json')
})

test('a card has a tag of the gateway, and conditions and ranges are not sent to the agent', async () => {
  answer = send(cardText(), {
    etag: '"agents"',
    'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
    'accept-ranges': 'bytes',
    'content-digest': 'sha-256=:x:',
    vary: 'A2A-Version',
  })
  const first = await fetchCard()
  const tag = first.get('etag')!
  expect(tag).toMatch(/^"[0-9a-f]{32}"$/)
  expect(first.get('vary')).toBe('A2A-Version, X-Forwarded-Proto')
  for (const name of ['last-modified', 'accept-ranges', 'content-digest']) expect(first.get(name)).toBe(null)

  const same = await fetchCard({ 'if-none-match': `"x", W/${tag}` })
  expect([same.response.status, same.text, same.get('etag')]).toEqual([304, '', tag])
  const other = await fetchCard({
    'if-none-match': '"agents"',
    'if-modified-since': 'Fri, 02 Jan 2026 00:00:00 GMT',
    range: 'bytes=0-3',
  })
  expect([other.response.status, other.text]).toEqual([200, rewritten()])
  expect(Object.keys(received!.headers).filter((name) => name.startsWith('if-') || name === 'range')).toEqual([])

  // Through another proxy the card is another one.
  const secure = await fetchCard({ 'if-none-match': tag, 'x-forwarded-proto': 'https' })
  expect(secure.text).toContain(base.replace('http:', 'https:'))
})

test('HEAD does not tell the length of the card of the agent', async () => {
  answer = send(cardText(), { 'content-length': String(cardText().length), etag: '"agents"' })
  const response = await fetch(base + CARD, { method: 'HEAD' })
  expect([response.status, response.headers.get('content-length'), response.headers.get('etag')]).toEqual([
    200,
    null,
    null,
  ])
})

test.each([
  '/.well-known/agent-card.json/',
  '/.WELL-KNOWN/agent.json',
  '/v1/card',
  '/extendedAgentCard',
  '/t1/extendedAgentCard',
])('the card at %s is rewritten', async (path) => {
  answer = send(cardText())
  expect((await fetchCard({}, path)).text).toBe(rewritten())
})

const EXTENDED = { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' }
const envelope = (card: string) => `{"jsonrpc":"2.0","id":1,"result":${card}}`

function call(message: object, chunked = false): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const body = JSON.stringify(message)
  const headers = { 'content-type': 'application/json', ...(!chunked && { 'content-length': body.length }) }
  const sent = request(`${base}/rpc`, { method: 'POST', headers }, async (response) => {
    resolve(`${response.statusCode} ${(await response.toArray()).join('')}`)
  })
  sent.on('error', reject)
  for (let at = 0; at < body.length; at += 65_536) sent.write(body.slice(at, at + 65_536))
  sent.end()
  return promise
}

test.each<[what: string, message: object, chunked: boolean]>([
  ['of 0.3', EXTENDED, false],
  ['of 1.0', { ...EXTENDED, method: 'GetExtendedAgentCard' }, false],
  ['in chunks', EXTENDED, true],
  ['in a large message', { ...EXTENDED, params: { x: 'x'.repeat(3_000_000) } }, true],
])('an extended card that a call %s asks for is rewritten', async (_, message, chunked) => {
  answer = send(envelope(cardText()), { 'content-type': 'application/json', etag: '"agents"' })
  expect(await call(message, chunked)).toBe(`200 ${envelope(rewritten())}`)
})

test('an extended card that is a stream is refused', async () => {
  answer = send(`data: ${envelope(cardText())}\n\n`, { 'content-type': 'text/event-stream' })
  expect(await call(EXTENDED)).toBe('502 a2a: agent card cannot be rewritten')
})

test('the answer to another call passes as it is', async () => {
  answer = send(envelope(cardText()), { etag: '"agents"' })
  expect(await call({ ...EXTENDED, method: 'message/send' })).toBe(`200 ${envelope(cardText())}`)
})
