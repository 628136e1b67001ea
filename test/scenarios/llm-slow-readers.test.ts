import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// Clients that do not read their streams: the provider has to wait, whether its events are relayed, translated or guarded.

const READERS = 10
/** A stream stands still if it has sent nothing between so many looks. */
const STILL = 20
/** More than the buffers of the kernel hold for a stream, and less than a gateway would take that reads on. */
const MAX_SENT = 48 * 1024 * 1024

const USES = {
  relayed: ['Completions', '/v1/chat/completions'],
  translated: ['Messages', '/v1/messages'],
  guarded: ['Completions', '/v1/chat/completions'],
} as const
type Use = keyof typeof USES
const NAMES = Object.keys(USES) as Use[]

const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const choices = [{ index: 0, delta: { content: 'some words '.repeat(100) }, finish_reason: null }]
const EVENTS = `data: ${JSON.stringify({ ...chunk, choices })}\n\n`.repeat(50)

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())
let port: number
/** The open responses of the provider, and what each has sent. */
const sent = new Map<http.ServerResponse, number>()

beforeAll(async () => {
  const server = http.createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    sent.set(response, 0)
    response.on('close', () => sent.delete(response))
    const send = () => {
      while (sent.has(response) && !response.writableNeedDrain && sent.get(response)! < 2 * MAX_SENT) {
        sent.set(response, sent.get(response)! + EVENTS.length)
        response.write(EVENTS)
      }
    }
    response.on('drain', send)
    send()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port: at } = server.address() as AddressInfo
  port = await freePort()
  const guard = { promptGuard: { response: [{ regex: { matches: ['secret'] } }] } }
  const objects = NAMES.flatMap((name) => {
    const ai = { routes: { '*': USES[name][0] }, ...(name === 'guarded' && guard) }
    const backend = {
      ...{ apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyBackend', metadata: { name } },
      spec: { ai: { provider: { providerOne: {}, host: '127.0.0.1', port: at } }, policies: { ai } },
    }
    return [`\n${JSON.stringify(backend)}\n`, routeYaml(name, `/${name}`, name)]
  })
  const folder = await createObjectsFolder({ 'objects.yaml': joinYaml(gatewayYaml(port), ...objects) })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

/** Sends a request, and reads nothing. */
async function open(use: Use): Promise<net.Socket> {
  const body = JSON.stringify({ model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] })
  const socket = net
    .connect(port, '127.0.0.1')
    .pause()
    .on('error', () => {})
  await once(socket, 'connect')
  const lines = [`POST /${use}${USES[use][1]} HTTP/1.1`, 'host: a', 'content-type: application/json']
  socket.write(`${[...lines, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`)
  return socket
}

test.each(NAMES)('%s streams that nobody reads make their provider wait', async (use) => {
  const sockets = await Promise.all(Array.from({ length: READERS }, () => open(use)))
  const total = () => [...sent.values()].reduce((sum, bytes) => sum + bytes, 0)
  let before = -1
  let looks = 0
  await eventually('all streams stand still', () => {
    looks = sent.size === READERS && total() === before ? looks + 1 : 0
    before = total()
    return looks === STILL || undefined
  })
  expect(Math.max(...sent.values())).toBeLessThan(MAX_SENT)
  // The stream goes on as soon as its client reads.
  sockets[0]!.resume()
  await eventually('one stream goes on', () => total() > before || undefined)
  for (const socket of sockets) socket.destroy()
  await eventually('the provider is left', () => sent.size === 0 || undefined)
})
