import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Listener, listen } from './accept/listener.ts'
import { createClientPool } from './pool/client-pool.ts'
import type { ClientPool } from './stream.ts'
import { ForwardingHandler } from './testing/forwarding-handler.ts'
import { destinationOf } from './testing/raw-peers.ts'
import { wireTransports } from './testing/wire-transports.ts'

// Client and server of Node on both sides of the proxy: independent implementations of HTTP.

let upstream: http.Server
let pool: ClientPool
let listener: Listener
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })

beforeAll(async () => {
  upstream = http.createServer(answer).listen(0, '127.0.0.1')
  upstream.on('upgrade', (request, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`,
    )
    socket.pipe(socket)
  })
  await once(upstream, 'listening')
  const transports = wireTransports()
  pool = createClientPool({ transports })
  const proxy = new ForwardingHandler(pool, destinationOf((upstream.address() as AddressInfo).port))
  listener = await listen({ host: '127.0.0.1', port: 0, transports, handler: proxy })
})

afterAll(async () => {
  agent.destroy()
  await listener.close()
  pool.close()
  upstream.close()
})

/** Echoes method, path, fields and body, in the framing that the path selects. */
function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  const parts: Buffer[] = []
  request.on('data', (bytes: Buffer) => parts.push(bytes))
  request.on('end', () => {
    const body = Buffer.concat(parts)
    response.statusCode = Number(/status=(\d+)/.exec(request.url ?? '')?.[1] ?? 200)
    response.setHeader('x-asked', JSON.stringify([request.method, request.url, request.headers]))
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    if (request.url?.startsWith('/length')) response.setHeader('content-length', body.length)
    for (let at = 0; at < body.length; at += 50_000) response.write(body.subarray(at, at + 50_000))
    response.end()
  })
}

interface Answer {
  status: number | undefined
  headers: http.IncomingHttpHeaders
  body: Buffer
  asked: [method: string, url: string, headers: http.IncomingHttpHeaders]
}

function ask(options: http.RequestOptions, body: Buffer[] = []): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: listener.port, agent, ...options }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (bytes: Buffer) => parts.push(bytes))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status, headers } = response
        resolve({ status, headers, body: Buffer.concat(parts), asked: JSON.parse(String(headers['x-asked'])) })
      })
    })
    request.on('error', reject)
    for (const part of body) request.write(part)
    request.end()
  })
}

const BODY = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))

test.each([
  ['GET', '/chunked', 0],
  ['GET', '/length', 0],
  ['POST', '/chunked', 1],
  ['POST', '/length', 20_000],
  ['PUT', '/chunked', 300_000],
  ['PUT', '/length', 300_000],
  ['DELETE', '/length', 0],
  ['OPTIONS', '/chunked', 0],
])('%s %s with %i bytes, announced or in chunks', async (method, path, size) => {
  const body = BODY.subarray(0, size)
  const announced = await ask({ method, path, headers: { 'content-length': size } }, size === 0 ? [] : [body])
  expect(announced.status).toBe(200)
  expect(announced.asked.slice(0, 2)).toEqual([method, path])
  expect(announced.body.equals(body)).toBe(true)
  expect(announced.headers['set-cookie']).toEqual(['a=1', 'b=2'])
  const half = size >> 1
  const headers = { 'transfer-encoding': 'chunked' }
  const chunked = await ask({ method, path, headers }, size === 0 ? [] : [body.subarray(0, half), body.subarray(half)])
  expect(chunked.body.equals(body)).toBe(true)
})

test.each([200, 204, 304, 404, 500])('HEAD and GET with status %i', async (status) => {
  for (const method of ['HEAD', 'GET']) {
    const answer = await ask({ method, path: `/length?status=${status}` })
    expect([answer.status, answer.body.length]).toEqual([status, 0])
  }
})

test('field values are forwarded as bytes, and connection-level fields are not', async () => {
  const headers = { 'x-latin': '\u00e9\u00ff', connection: 'keep-alive, x-gone', 'x-gone': '1', te: 'trailers' }
  const { asked } = await ask({ path: '/', headers })
  expect(asked[2]).toMatchObject({ 'x-latin': '\u00e9\u00ff', host: `127.0.0.1:${listener.port}` })
  expect(asked[2]).not.toHaveProperty('x-gone')
  expect(asked[2]).not.toHaveProperty('te')
})

test('many requests at once over few connections', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => ask({ method: 'POST', path: `/chunked?${i}` }, [BODY.subarray(0, i * 100)])),
  )
  expect(answers.map(({ asked, body }) => [asked[1], body.length])).toEqual(
    answers.map((_, i) => [`/chunked?${i}`, i * 100]),
  )
})

test('an upgrade', async () => {
  const request = http.request({
    host: '127.0.0.1',
    port: listener.port,
    headers: { connection: 'Upgrade', upgrade: 'echo' },
  })
  request.end()
  const [response, socket] = (await once(request, 'upgrade')) as [http.IncomingMessage, import('node:net').Socket]
  expect(response.headers.upgrade).toBe('echo')
  socket.write('hello')
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  expect(bytes.toString()).toBe('hello')
  socket.end()
  await once(socket, 'close')
})
