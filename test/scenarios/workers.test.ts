import { type RequestOptions, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { startNotes } from '#examples/upstreams/mcp.ts'
import type { Instance } from '#instance/instance.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startInstance } from '#test/support/instance.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
const replaced: string[] = []
let instance: Instance
let port: number

const limit = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: five }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: limited }]
  traffic: { rateLimit: { local: [{ requests: 5, unit: Hours }] } }
`

const mcpBackend = (port: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec: { mcp: { targets: [{ name: notes, static: { host: 127.0.0.1, port: ${port}, path: /mcp } }] } }
`

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const notes = await startNotes({ port: 0 })
  stops.defer(notes.close)
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo'),
      routeYaml('limited', '/limited', 'echo'),
      limit,
      mcpBackend(notes.port),
      routeYaml('tools', '/mcp', 'tools'),
    ),
  })
  stops.defer(folder.remove)
  instance = await startInstance(folder, 2, { workerReplaced: (name) => replaced.push(name) })
  stops.defer(() => instance.close())
})

afterAll(() => stops.disposeAsync())

/** One request on a connection of its own, so that the kernel chooses a worker each time. */
function ask(path: string, more: RequestOptions = {}, body = ''): Promise<{ status: number; session: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false, ...more }, (response) => {
      response.resume()
      const session = String(response.headers['mcp-session-id'])
      response.on('end', () => resolve({ status: response.statusCode ?? 0, session }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A stream of the older transport of MCP. */
function openSse(): Promise<{ endpoint: string; isOpen: () => boolean; leave: () => void }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/mcp/sse',
      agent: false,
      headers: { accept: 'text/event-stream' },
    }
    const sent = request(options, (response) => {
      let isOpen = true
      const over = () => {
        isOpen = false
      }
      response.on('error', over).on('close', over)
      response.once('data', (piece: Buffer) => {
        const endpoint = /data: (.*)\n/.exec(piece.toString())?.[1] ?? ''
        resolve({ endpoint, isOpen: () => isOpen, leave: () => void sent.destroy() })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

verifies(
  ['traffic.rateLimit.local/per-instance', 'traffic.rateLimit.local/requests-429'],
  'with two workers a limit of 5 lets exactly 5 through',
  async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask('/limited')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(35)
    const { records } = await instance.workers.records()
    const workers = new Set(records.filter(({ code }) => code === 'rate-limited').map(({ worker }) => worker))
    expect(workers.size, 'both workers refused some').toBe(2)
  },
)

test('an MCP session that ends at one worker has ended at all workers', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const post = (message: object, more = {}) =>
    ask(
      '/mcp',
      { method: 'POST', headers: { ...headers, ...more } },
      JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    )
  const { session } = await post({ method: 'initialize', params })
  const inSession = { 'mcp-session-id': session }
  const ping = async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post({ method: 'ping' }, inSession)))
    return [...new Set(answers.map(({ status }) => status))]
  }
  expect(await ping()).toEqual([200])
  await ask('/mcp', { method: 'DELETE', headers: inSession })
  await eventually('404 from both workers', async () => String(await ping()) === '404')
})

test('a killed worker is replaced, and the gateway continues to serve', async () => {
  const streams = await Promise.all(Array.from({ length: 24 }, openSse))
  const [victim] = instance.workers.members
  await instance.workers.kill(victim!.name)
  await eventually('another worker on the current plan', () => {
    const members = instance.workers.members
    return members.length === 2 && members.every(({ name, planVersion }) => name !== victim!.name && planVersion > 0)
  })
  expect(replaced).toEqual([victim!.name])
  for (let i = 0; i < 20; i++) expect((await ask('/after')).status).toBe(200)
  expect((await ask('/limited')).status, 'the limit outlives the worker').toBe(429)

  // A stream ends with its worker, and so does its endpoint; those of the other worker go on.
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const headers = { 'content-type': 'application/json' }
  const found = await Promise.all(
    streams.map(async ({ endpoint, isOpen }) => {
      const { status } = await ask(endpoint, { method: 'POST', headers }, ping)
      return `${isOpen() ? 'open' : 'ended'} ${status}`
    }),
  )
  expect(new Set(found)).toEqual(new Set(['ended 404', 'open 202']))
  for (const { leave } of streams) leave()
})
