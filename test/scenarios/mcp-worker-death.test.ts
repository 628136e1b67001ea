import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Instance } from '#instance/instance.ts'
import { eventually } from '#test/support/eventually.ts'
import type { TestMessage } from '#test/support/fake-targets.ts'
import { freePort } from '#test/support/free-port.ts'
import { HASTY_WORKER, startInstance } from '#test/support/instance.ts'
import { post } from '#test/support/mcp-post.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { answerSession, type RawCall, type RawTarget, startRawTarget } from '#test/support/raw-mcp-target.ts'

/** A worker that is killed while it serves calls and streams of MCP clients. */

/** So many clients of each kind that each worker serves some, in all likelihood. */
const CLIENTS = 32

const stops = new AsyncDisposableStack()
let target: RawTarget
let instance: Instance
let port: number
/** Calls that the target has not answered, by the name of their tool. */
const held = new Map<string, RawCall>()
/** Tools whose calls were aborted at the target. */
const aborted = new Set<string>()

beforeAll(async () => {
  target = await startRawTarget((call) => {
    if (call.method === 'GET') return call.end(405)
    if (answerSession(call)) return
    const tool = `${call.message.params?.name}`
    held.set(tool, call)
    // The head comes at once, and the response when the test says so.
    call.event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: tool } })
    void call.closed.then(() => held.has(tool) && aborted.add(tool))
  })
  stops.defer(target.close)
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec: { mcp: { targets: [{ name: raw, static: { host: 127.0.0.1, port: ${target.port} } }] } }
`,
      routeYaml('tools', '/', 'tools'),
    ),
  })
  stops.defer(folder.remove)
  instance = await startInstance(folder, 2, {}, HASTY_WORKER)
  stops.defer(() => instance.close())
})

afterAll(() => stops.disposeAsync())

const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const callOf = (tool: string): TestMessage => ({ id: 1, method: 'tools/call', params: { name: tool } })

/** What a client has received on a connection of its own, so that the kernel chooses a worker each time. */
interface Received {
  readonly text: () => string
  readonly session: () => string | undefined
  readonly isOver: () => boolean
  readonly leave: () => void
}

function send(method: string, path: string, message?: TestMessage, headers: Record<string, string> = {}): Received {
  let text = ''
  let isOver = false
  let session: string | undefined
  const end = () => {
    isOver = true
  }
  const accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream'
  const fields = { accept, ...(message && { 'content-type': 'application/json' }), ...headers }
  const options = { host: '127.0.0.1', port, path, method, agent: false, headers: fields }
  const sent = request(options, (response) => {
    session = response.headers['mcp-session-id'] as string | undefined
    response.on('data', (piece: Buffer) => {
      text += piece.toString()
    })
    response.on('error', end).on('close', end)
  })
  sent.on('error', end)
  sent.end(message && JSON.stringify({ jsonrpc: '2.0', ...message }))
  return { text: () => text, session: () => session, isOver: () => isOver, leave: () => void sent.destroy() }
}

interface Client {
  readonly tool: string
  readonly session: string | undefined
  /** Where the response comes. */
  readonly stream: Received
}

/** A client of Streamable HTTP with a call in flight. */
async function beginStreamable(tool: string): Promise<Client> {
  const opening = send('POST', '/mcp', INITIALIZE)
  await eventually('the session', () => opening.text().includes('"id":0'))
  const session = opening.session()!
  return { tool, session, stream: send('POST', '/mcp', callOf(tool), { 'mcp-session-id': session }) }
}

/** A client of HTTP+SSE with a call in flight, whose POST may be at another worker than its stream. */
async function beginSse(tool: string): Promise<Client> {
  const stream = send('GET', '/mcp/sse')
  const endpoint = await eventually('the endpoint', () => /event: endpoint\ndata: (.*)\n/.exec(stream.text())?.[1])
  send('POST', endpoint, INITIALIZE)
  await eventually('the session', () => stream.text().includes('"id":0'))
  send('POST', endpoint, callOf(tool))
  return { tool, session: undefined, stream }
}

/** How the call of a client has ended, and whether that agrees with what its target has seen. */
function outcomeOf({ tool, stream }: Client): string {
  const atTarget = aborted.has(tool) ? 'aborted' : 'held'
  if (stream.text().includes('"late"')) return 'answered'
  if (stream.text().includes('-32603')) return `error, ${atTarget}`
  return `${stream.isOver() ? 'ended' : 'open'}, ${atTarget}`
}

test('calls of a killed worker end at the client and at the target, and all others go on', async () => {
  const tools = (kind: string) => Array.from({ length: CLIENTS }, (_, i) => `${kind}-${i}`)
  const streamable = await Promise.all(tools('streamable').map(beginStreamable))
  const sse = await Promise.all(tools('sse').map(beginSse))
  await eventually('all calls are at the target', () => held.size === 2 * CLIENTS)
  await eventually('all clients hear of them', () =>
    [...streamable, ...sse].every(({ stream, tool }) => stream.text().includes(`"data":"${tool}"`)),
  )

  await instance.workers.kill(instance.workers.members[0]!.name)
  // A worker of the first kind has died with the call, or lives. Of the second kind, either worker may have died.
  const kinds = (clients: readonly Client[]) => [...new Set(clients.map(outcomeOf))].sort()
  await eventually('the calls of the dead worker end', () => `${kinds(streamable)}` === 'ended, aborted,open, held')
  await eventually('each client of HTTP+SSE hears of it', () => {
    expect(kinds(sse)).toEqual(['ended, aborted', 'error, aborted', 'open, held'])
    return true
  })
  const lost = sse.find((client) => outcomeOf(client).startsWith('error'))!
  expect(lost.stream.text()).toContain('"the worker that served the request has ended"')

  // A client whose call has ended goes on with its session at the other worker.
  const interrupted = streamable.find((client) => outcomeOf(client).startsWith('ended'))!
  const headers = { 'mcp-session-id': interrupted.session! }
  const { status } = await post(`http://127.0.0.1:${port}/mcp`, { id: 2, method: 'ping' }, { headers })
  expect(status).toBe(200)

  for (const [tool, call] of held) {
    held.delete(tool)
    call.event({ jsonrpc: '2.0', id: call.message.id!, result: { content: [{ type: 'text', text: 'late' }] } })
    call.end()
  }
  await eventually('the others are answered', () => {
    expect(kinds(streamable)).toEqual(['answered', 'ended, aborted'])
    expect(kinds(sse)).toEqual(['answered', 'ended, aborted', 'error, aborted'])
    return true
  })
  for (const { stream } of [...streamable, ...sse]) stream.leave()
})
