import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Upstream } from '#examples/upstreams/listen.ts'
import { startNotes, startWeather } from '#examples/upstreams/mcp.ts'
import { decodeStream } from '#net/body/decode-content.ts'
import { roomFor } from '#net/testing/room-for.ts'
import type { McpPlan } from '#protocols/mcp/config/mcp-plan.ts'
import { McpMemory } from '#protocols/mcp/request/mcp-memory.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { eventually } from '#test/support/eventually.ts'
import { fetchCall } from '#test/support/fetch-call.ts'
import { lastingServices } from '#test/support/lasting-services.ts'
import { type McpFront, type McpFrontOptions, startMcpFront } from '#test/support/mcp-front.ts'
import { compileTestMcp, MCP_BACKEND, mcpPlan } from '#test/support/mcp-plan.ts'
import { verifies } from '#test/support/verifies.ts'
import { createSealer, readSessionKeys } from '#workers/sealer.ts'

const KEY = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'

let weather: Upstream
let notes: Upstream
const opened: { close(): Promise<unknown> }[] = []

beforeEach(async () => {
  weather = await startWeather({ port: 0 })
  notes = await startNotes({ port: 0 })
})

afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
  await Promise.all([weather.close(), notes.close()])
})

async function startFront(plan: McpPlan, options: Partial<McpFrontOptions['deps']> = {}): Promise<McpFront> {
  const call =
    options.call ??
    fetchCall({
      [`${MCP_BACKEND}/weather`]: weather.url,
      [`${MCP_BACKEND}/notes`]: notes.url,
      [`${MCP_BACKEND}/down`]: 'http://127.0.0.1:1',
    })
  const sealer = createSealer(readSessionKeys({ SESSION_KEY: KEY }))
  const deps = {
    call,
    lasting: lastingServices(call),
    sealer,
    table: new LocalTable(),
    channels: new LocalChannels('w1'),
    decode: decodeStream,
    whenOver: () => {},
    memory: new McpMemory(),
    claim: roomFor(0).claim,
    ...options,
  }
  const front = await startMcpFront({ plan, deps })
  opened.push(front)
  return front
}

/** An MCP server whose stream answers every id that a client may use, again and again. */
async function startGuesser() {
  const streams = new Set<ServerResponse>()
  const server = createServer(async (request, response) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      streams.add(response)
      return guess(response)
    }
    const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string }
    if (id === undefined) return void response.writeHead(202).end()
    const capabilities = { tools: {}, resources: {} }
    const result =
      method === 'initialize'
        ? { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'guesser', version: '1' } }
        : { tools: [], resources: [] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  let guesses = 0
  const guess = (response: ServerResponse) => {
    for (let id = 0; id < 20; id++) {
      const contents = [{ uri: 'notes+notes://all', text: 'forged' }]
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { contents, tools: [] } })}\n\n`)
    }
    guesses++
  }
  const timer = setInterval(() => streams.forEach(guess), 5)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    hasGuessed: () => guesses > 3,
    close: () => {
      clearInterval(timer)
      server.closeAllConnections()
      return new Promise<unknown>((resolve) => server.close(resolve))
    },
  }
}

interface Connected {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
}

async function connect(front: McpFront): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(front.url))
  await client.connect(transport)
  opened.push(client)
  return { client, transport }
}

/** One POST with plain HTTP, in the session of a client. */
function post(front: McpFront, sessionId: string | undefined, message: object): Promise<Response> {
  return fetch(front.url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
}

const both = mcpPlan(['weather', 'notes'])

verifies('service/forwards-mcp', 'two targets look like one server', async () => {
  const { client } = await connect(await startFront(both))

  expect(client.getServerVersion()).toEqual({ name: 'gatewright', version: '0.1.0' })
  expect(client.getServerCapabilities()).toMatchObject({ tools: {}, prompts: {}, resources: {} })
  expect(client.getInstructions()).toMatch(/\[weather\]\nMade-up weather.*\n\n\[notes\]\nNotes live/s)

  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['weather_forecast', 'weather_alerts', 'notes_add', 'notes_search'])
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }) => name)).toEqual(['weather_packing', 'notes_summary'])
  const { resources } = await client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual(['weather+weather://stations', 'notes+notes://all'])

  const alerts = await client.callTool({ name: 'weather_alerts', arguments: { city: 'Oslo' } })
  expect(alerts.content).toEqual([{ type: 'text', text: 'no alerts for Oslo' }])
  const added = await client.callTool({ name: 'notes_add', arguments: { text: 'hello' } })
  expect(added.content).toEqual([{ type: 'text', text: 'note 2 kept' }])
  const { contents } = await client.readResource({ uri: 'notes+notes://all' })
  expect(contents).toMatchObject([{ uri: 'notes+notes://all', text: expect.stringContaining('hello') }])
  const prompt = await client.getPrompt({ name: 'weather_packing', arguments: { city: 'Quito' } })
  expect(prompt.messages).toHaveLength(1)
})

test('a single target is passed through under its own names', async () => {
  const { client } = await connect(await startFront(mcpPlan(['weather'])))
  expect(client.getServerVersion()).toMatchObject({ name: 'weather' })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['forecast', 'alerts'])
  const { contents } = await client.readResource({ uri: 'weather://stations' })
  expect(contents).toMatchObject([{ uri: 'weather://stations' }])
})

test('progress arrives during the call', async () => {
  const { client } = await connect(await startFront(both))
  const steps: number[] = []
  const options = { onprogress: ({ progress }: { progress: number }) => void steps.push(progress) }
  await client.callTool({ name: 'weather_forecast', arguments: { city: 'Perth', days: 3 } }, options)
  expect(steps).toEqual([1, 2, 3])
})

verifies('backend.mcp/stateful-session-header', 'a session survives a change of the instance', async () => {
  const first = await startFront(both)
  const { transport } = await connect(first)
  const second = await startFront(both)
  const answer = await post(second, transport.sessionId, { id: 5, method: 'tools/list' })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('notes_search')
})

test('a deleted session is refused for every method', async () => {
  const front = await startFront(both)
  const { transport } = await connect(front)
  const { sessionId } = transport
  await transport.terminateSession()
  expect((await post(front, sessionId, { id: 5, method: 'ping' })).status).toBe(404)
  const headers = { accept: 'text/event-stream', 'mcp-session-id': sessionId ?? '' }
  expect((await fetch(front.url, { headers })).status).toBe(404)
  expect((await fetch(front.url, { method: 'DELETE', headers })).status).toBe(404)
})

verifies(
  ['backend.mcp/fail-closed-initialization', 'backend.mcp/failureMode-default'],
  'by default a target that is down fails the whole session',
  async () => {
    const front = await startFront(mcpPlan(['weather', 'down']))
    await expect(connect(front)).rejects.toThrow()
    expect(front.exchanges[0]?.refusal).toBe('upstream-failed')
  },
)

verifies('backend.mcp/fail-open-initialization', 'FailOpen: the others go on serving', async () => {
  const front = await startFront(mcpPlan(['down', 'notes'], { failureMode: 'FailOpen' }))
  const { client } = await connect(front)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['notes_add', 'notes_search'])
  await expect(client.callTool({ name: 'down_x' })).rejects.toThrow()
  const failed = { endpoint: 'down', status: 0, failure: 'connect-failed' }
  expect(front.exchanges[0]?.attempts).toContainEqual(expect.objectContaining(failed))
})

verifies('backend.mcp/fail-open-initialization', 'FailOpen: no remaining target is a failure', async () => {
  const front = await startFront(mcpPlan(['down'], { failureMode: 'FailOpen' }))
  await expect(connect(front)).rejects.toThrow()
})

test('a target that is lost fails lists, its siblings can still be called', async () => {
  const front = await startFront(both)
  const { client } = await connect(front)
  await weather.close()
  await expect(client.listTools()).rejects.toThrow()
  const added = await client.callTool({ name: 'notes_add', arguments: { text: 'still here' } })
  expect(added.content).toEqual([{ type: 'text', text: 'note 2 kept' }])
})

verifies('backend.mcp/fail-open-runtime', 'FailOpen: a target that is lost is left out of lists', async () => {
  const front = await startFront(mcpPlan(['weather', 'notes'], { failureMode: 'FailOpen' }))
  const { client } = await connect(front)
  await weather.close()
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['notes_add', 'notes_search'])
})

const rule = (action: 'Allow' | 'Deny' | 'Require', ...matchExpressions: string[]) => ({
  authorization: { action, policy: { matchExpressions } },
})

verifies(
  [
    'backend.mcp.authorization/mcp-level',
    'backend.mcp.authorization/list-filtered',
    'backend.mcp.authorization/call-refused',
  ],
  'rules hide items of lists and refuse calls',
  async () => {
    const targets = [{ name: 'weather' }, { name: 'notes' }]
    const { plan } = compileTestMcp({ targets }, [
      rule('Deny', 'mcp.tool.name == "alerts" && mcp.tool.target == "weather"'),
      rule('Allow', 'has(mcp.tool)', 'mcp.prompt.name == "summary"'),
    ])
    const front = await startFront(plan)
    const { client, transport } = await connect(front)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['weather_forecast', 'notes_add', 'notes_search'])
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['notes_summary'])
    expect((await client.listResources()).resources).toEqual([])

    const params = { name: 'weather_alerts', arguments: { city: 'Oslo' } }
    const refused = await post(front, transport.sessionId, { id: 7, method: 'tools/call', params })
    expect(refused.status).toBe(200)
    expect(await refused.json()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32602, message: 'Unknown tool: weather_alerts' },
    })
    expect(front.exchanges.at(-1)).toMatchObject({
      refusal: 'authorization-denied',
      mcp: { method: 'tools/call', target: 'weather', resourceType: 'tool', name: 'alerts', errorCode: -32602 },
    })
    await expect(client.readResource({ uri: 'notes+notes://all' })).rejects.toThrow('Unknown resource')
  },
)

test('a target cannot respond to the request of another one', async () => {
  const guesser = await startGuesser()
  opened.push(guesser)
  const front = await startFront(mcpPlan(['notes', 'guesser']), {
    call: fetchCall({ [`${MCP_BACKEND}/notes`]: notes.url, [`${MCP_BACKEND}/guesser`]: guesser.url }),
  })
  const { client } = await connect(front)
  await eventually('the guesses have come', () => guesser.hasGuessed())
  for (let i = 0; i < 5; i++) {
    const { contents } = await client.readResource({ uri: 'notes+notes://all' })
    expect(contents).toMatchObject([{ text: expect.not.stringContaining('forged') }])
  }
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['notes_add', 'notes_search'])
  await client.close()
  await eventually('the stream has been noted', () =>
    front.exchanges.some(({ mcp }) => (mcp?.strayAnswers?.get('guesser') ?? 0) > 0),
  )
})

test('an ambiguous message reaches no target', async () => {
  const { plan } = compileTestMcp({ targets: [{ name: 'notes' }] }, [rule('Deny', 'mcp.tool.name == "add"')])
  const front = await startFront(plan)
  const { client, transport } = await connect(front)
  const add = '{"text":"forbidden","name":"x","Name":"y"}'
  const bodies = [
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","Name":"add","arguments":${add}}}`,
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":${add},"name":"search"}}`,
    `{"jsonrpc":"2.0","id":7,"method":"tools/list","m\\u0065thod":"tools/call","params":{"name":"add","arguments":${add}}}`,
  ]
  for (const body of bodies) {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': transport.sessionId ?? '',
    }
    const refused = await fetch(front.url, { method: 'POST', headers, body })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('ambiguous member') },
    })
    expect(front.exchanges.at(-1)?.refusal).toBe('mcp-message-ambiguous')
  }
  expect((await client.readResource({ uri: 'notes://all' })).contents).not.toMatchObject([
    { text: expect.stringContaining('forbidden') },
  ])
})

test('a client of the newest revision falls back to a session', async () => {
  const front = await startFront(both)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(front.url)))
  opened.push(client)
  expect((await client.listTools()).tools).toHaveLength(4)
})
