import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { forwardPort } from './forward-port.ts'
import { startFakeApi } from './testing.ts'

const PORT = { namespace: 'infra', pod: 'main-1', port: 15_000 }

async function listening(serve: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer(serve).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as { port: number }).port
}

async function apiWith(place: number | { status: number; message: string }) {
  const api = await startFakeApi({})
  onTestFinished(() => api[Symbol.asyncDispose]())
  const asked: unknown[] = []
  api.portOf = (...words) => {
    asked.push(words)
    return place
  }
  return { client: api.client, asked, address: api.address }
}

test('what is written reaches the port, and what it sends can be read, in frames of any size', async () => {
  const echo = await listening((socket) => socket.pipe(socket))
  const { client, asked } = await apiWith(echo)
  const connection = await forwardPort(client, PORT)
  const sent = ['a', 'b'.repeat(300), 'c'.repeat(200_000)].map((piece) => Buffer.from(piece))
  const whole = Buffer.concat(sent)
  for (const piece of sent) connection.write(piece)
  let received = Buffer.alloc(0)
  for await (const piece of connection as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, piece])
    if (received.length >= whole.length) break
  }
  expect(received.equals(whole)).toBe(true)
  expect(asked).toEqual([['main-1', 15_000]])
})

test('a port that closes ends the connection', async () => {
  const { client } = await apiWith(await listening((socket) => socket.end('good bye')))
  expect(await text(await forwardPort(client, PORT))).toBe('good bye')
})

test('a port that nobody listens on is an error with what the node says', async () => {
  const { client } = await apiWith(await freePort())
  await expect(text(await forwardPort(client, PORT))).rejects.toThrow(
    /^port 15000 of pod infra\/main-1 cannot be reached: error forwarding port: connect ECONNREFUSED/,
  )
})

test('a refusal names verb and resource, as the API does', async () => {
  const message = 'pods "main-1" is forbidden: User "dev" cannot get resource "pods/portforward" in API group ""'
  const { client, address } = await apiWith({ status: 403, message })
  await expect(forwardPort(client, PORT)).rejects.toThrow(
    `${address}/api/v1/namespaces/infra/pods/main-1/portforward?ports=15000 responded with status 403: ${message} (credential: a user); it needs the verbs get and create for pods/portforward in namespace infra`,
  )
})
