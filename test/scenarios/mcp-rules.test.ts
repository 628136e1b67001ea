import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Upstream } from '#examples/upstreams/listen.ts'
import { startNotes } from '#examples/upstreams/mcp.ts'
import { decodeStream } from '#net/body/decode-content.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { McpMemory } from '#protocols/mcp/request/mcp-memory.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { fetchCall } from '#test/support/fetch-call.ts'
import { lastingServices } from '#test/support/lasting-services.ts'
import { startMcpFront } from '#test/support/mcp-front.ts'
import { compileTestMcp, MCP_BACKEND, type TestMcp } from '#test/support/mcp-plan.ts'
import { testSealer } from '#test/support/test-sealer.ts'

/** Rules about annotations and arguments, with client and server of the official SDK. */

let notes: Upstream
const opened: { close(): Promise<unknown> }[] = []

beforeEach(async () => {
  notes = await startNotes({ port: 0 })
})

afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
  await notes.close()
})

/** A gateway with one Require rule. The header `x-role` is the claim `role`. */
async function startFront(rule: string, sessionRouting: NonNullable<TestMcp['sessionRouting']>): Promise<string> {
  const { plan } = compileTestMcp({ targets: [{ name: 'notes' }], sessionRouting }, [
    { authorization: { action: 'Require', policy: { matchExpressions: [rule] } } },
  ])
  const call = fetchCall({ [`${MCP_BACKEND}/notes`]: notes.url })
  const front = await startMcpFront({
    plan,
    deps: {
      call,
      lasting: lastingServices(call),
      sealer: testSealer(),
      table: new LocalTable(),
      channels: new LocalChannels('w1'),
      decode: decodeStream,
      whenOver: () => {},
      memory: new McpMemory(),
      claim: roomFor(0).claim,
    },
    prepare: (exchange) => {
      const role = exchange.request.joined('x-role') ?? ''
      exchange.identity.jwt = { claims: { sub: role, role }, token: 'a.b.c' }
    },
  })
  opened.push(front)
  return front.url
}

async function connect(url: string, role: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { 'x-role': role } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  opened.push(client)
  return client
}

const READ_ONLY = 'jwt.role != "intern" || mcp.tool.annotations.readOnlyHint'

test.each(['Stateful', 'Stateless'] as const)('only read-only tools for interns: one line, %s', async (routing) => {
  const url = await startFront(READ_ONLY, routing)
  const intern = await connect(url, 'intern')
  const search = { name: 'search', arguments: { query: 'port' } }
  const add = { name: 'add', arguments: { text: 'by the intern' } }
  // Before the client has listed the tools.
  expect((await intern.callTool(search)).isError).not.toBe(true)
  await expect(intern.callTool(add)).rejects.toThrow('Unknown tool: add')
  expect((await intern.listTools()).tools.map(({ name }) => name)).toEqual(['search'])
  await expect(intern.callTool(add)).rejects.toThrow('Unknown tool: add')

  const owner = await connect(url, 'owner')
  expect((await owner.listTools()).tools.map(({ name }) => name)).toEqual(['add', 'search'])
  expect((await owner.callTool(add)).content).toMatchObject([{ text: 'note 2 kept' }])
})

test('an argument decides about a call, not about the list', async () => {
  const url = await startFront('mcp.tool.name != "add" || mcp.tool.arguments.text.size() <= 10', 'Stateful')
  const client = await connect(url, 'owner')
  expect((await client.listTools()).tools).toHaveLength(2)
  expect((await client.callTool({ name: 'add', arguments: { text: 'short' } })).isError).not.toBe(true)
  await expect(client.callTool({ name: 'add', arguments: { text: 'much too long' } })).rejects.toThrow(
    'Unknown tool: add',
  )
  await expect(client.callTool({ name: 'add', arguments: { text: 7 } })).rejects.toThrow('Unknown tool: add')
})
