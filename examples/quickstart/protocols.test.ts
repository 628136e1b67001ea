import { SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import OpenAI from 'openai'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import type { LlmState } from '#examples/upstreams/llm.ts'
import { verifies } from '#test/support/verifies.ts'
import { type Quickstart, startQuickstart } from './start-quickstart.ts'

// LLM, MCP and A2A as the README tells them, with the official client of each.

let quickstart: Quickstart

beforeAll(async () => {
  quickstart = await startQuickstart()
  return quickstart.close
})

// --- LLM -------------------------------------------------------------------------------------------------------------

/** The official client. Nothing but its base URL says that there is a gateway. */
function openai(): OpenAI {
  return new OpenAI({ baseURL: `${quickstart.base}/v1`, apiKey: 'none', maxRetries: 0 })
}

async function stateOf(provider: string): Promise<LlmState> {
  return (await (await fetch(`${quickstart.upstreamUrl(provider)}/state`)).json()) as LlmState
}

const HELLO = [{ role: 'user' as const, content: 'good morning' }]

verifies(
  ['service/forwards-llm', 'llm.routes/unset', 'llm.routes/completions', 'backend.ai.provider/host'],
  'a chat completes',
  async () => {
    const completion = await openai().chat.completions.create({ model: 'fast', messages: HELLO })
    expect(completion.choices[0]?.message.content).toBe('alpha here: you said "good morning"')
    expect(completion.usage).toEqual({ prompt_tokens: 2, completion_tokens: 6, total_tokens: 8 })
  },
)

test('a chat streams', async () => {
  const stream = await openai().chat.completions.create({
    model: 'fast',
    messages: HELLO,
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = await Array.fromAsync(stream)
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
  expect(text).toBe('alpha here: you said "good morning"')
  expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 6, total_tokens: 8 })
})

test('a streamed chat comes as events with an end mark, and with the headers of the Gateway', async () => {
  const body = JSON.stringify({ model: 'fast', messages: HELLO, stream: true })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${quickstart.base}/v1/chat/completions`, { method: 'POST', headers, body })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(answer.headers.get('x-policy')).toBe('gateway')
  expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true)
})

const aliases = [
  // asked          served
  ['fast', 'mock-small'],
  ['smart', 'mock-large'],
  ['gpt-4o-mini', 'mock-large'],
  ['mock-small', 'mock-small'],
] as const

for (const [asked, served] of aliases) {
  verifies('backend.ai.modelAliases/mapped', `the model ${asked} reaches the provider as ${served}`, async () => {
    const completion = await openai().chat.completions.create({ model: asked, messages: HELLO })
    expect(completion.model).toBe(served)
    expect((await stateOf('alpha')).lastRequest).toMatchObject({ model: served, messages: HELLO })
  })
}

verifies(
  [
    'backend.ai.defaults/merged',
    'backend.ai.defaults/request-wins',
    'backend.ai.defaults/field-of-body',
    'backend.ai.overrides/overwrite',
  ],
  'a default fills what the request leaves out, an override replaces what it says',
  async () => {
    await openai().chat.completions.create({ model: 'fast', messages: HELLO, max_completion_tokens: 9999 })
    const silent = { temperature: 0.2, max_completion_tokens: 256 }
    expect((await stateOf('alpha')).lastRequest).toMatchObject(silent)

    await openai().chat.completions.create({ model: 'fast', messages: HELLO, temperature: 0.9 })
    const spoken = { temperature: 0.9, max_completion_tokens: 256 }
    expect((await stateOf('alpha')).lastRequest).toMatchObject(spoken)
  },
)

test('what the provider refuses comes back as the provider said it', async () => {
  const unknown = openai().chat.completions.create({ model: 'no-such-model', messages: HELLO })
  await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
})

// Last of the LLM tests: alpha stays out for ten seconds.
verifies(
  [
    'backend.ai.groups/priority-order',
    'health/unset-5xx',
    'health/evict-neither-set',
    'health/evicted-gets-no-traffic',
  ],
  'when alpha fails beta serves the same request, and the next ones alone',
  async () => {
    const chat = async () => {
      const completion = await openai().chat.completions.create({ model: 'fast', messages: HELLO })
      return completion.choices[0]?.message.content
    }
    const before = { alpha: (await stateOf('alpha')).requests, beta: (await stateOf('beta')).requests }
    await fetch(`${quickstart.upstreamUrl('alpha')}/fail?status=503`, { method: 'POST' })

    expect(await chat()).toBe('beta here: you said "good morning"')
    expect((await stateOf('alpha')).requests).toBe(before.alpha + 1)
    expect((await stateOf('beta')).lastRequest).toMatchObject({ model: 'mock-small', temperature: 0.2 })

    expect(await chat()).toBe('beta here: you said "good morning"')
    expect((await stateOf('alpha')).requests).toBe(before.alpha + 1)
    expect((await stateOf('beta')).requests).toBe(before.beta + 2)
  },
)

// --- MCP -------------------------------------------------------------------------------------------------------------

async function mcp() {
  const client = new Client({ name: 'quickstart', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${quickstart.base}/mcp`))
  onTestFinished(() => client.close())
  await client.connect(transport)
  return { client, transport }
}

verifies(
  [
    'service/forwards-mcp',
    'backend.mcp/stateful-session-header',
    'backend.mcp/sessionRouting-default',
    'backend.mcp.targets.static/protocol-streamable-http',
    'backend.mcp.targets.static/path-default-streamable-http',
  ],
  'one session shows the tools of both targets with the names of the targets',
  async () => {
    const { client, transport } = await mcp()
    expect(transport.sessionId).toMatch(/^[\x21-\x7e]+$/)
    const { tools } = await client.listTools()
    const names = ['weather_forecast', 'weather_alerts', 'notes_add', 'notes_search']
    expect(tools.map((tool) => tool.name)).toEqual(names)
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['city'] })
    expect(tools[0]?.outputSchema).toMatchObject({ type: 'object', required: ['city', 'days'] })
  },
)

test('a tool of each target can be called', async () => {
  const { client } = await mcp()
  const alerts = await client.callTool({ name: 'weather_alerts', arguments: { city: 'Oslo' } })
  expect(alerts.content).toEqual([{ type: 'text', text: 'no alerts for Oslo' }])

  await client.callTool({ name: 'notes_add', arguments: { text: 'Buy bread' } })
  const found = await client.callTool({ name: 'notes_search', arguments: { query: 'bread' } })
  expect(found.structuredContent).toEqual({ found: ['Buy bread'] })
})

test('progress of a tool reaches the client', async () => {
  const { client } = await mcp()
  const heard: unknown[] = []
  const call = { name: 'weather_forecast', arguments: { city: 'Oslo', days: 2 } }
  const result = await client.callTool(call, { onprogress: (progress) => heard.push(progress) })
  expect(heard).toEqual([
    { progress: 1, total: 2, message: 'day 1 of 2' },
    { progress: 2, total: 2, message: 'day 2 of 2' },
  ])
  expect(result.structuredContent).toMatchObject({ city: 'Oslo', days: [{ day: 1 }, { day: 2 }] })
})

test('resources and prompts of both targets are there', async () => {
  const { client } = await mcp()
  const { resources } = await client.listResources()
  expect(resources.map((resource) => resource.uri)).toEqual(['weather+weather://stations', 'notes+notes://all'])
  const { contents } = await client.readResource({ uri: 'weather+weather://stations' })
  expect(contents).toMatchObject([{ mimeType: 'application/json', text: '["Oslo","Quito","Perth"]' }])

  const { prompts } = await client.listPrompts()
  expect(prompts.map((prompt) => prompt.name)).toEqual(['weather_packing', 'notes_summary'])
  const { messages } = await client.getPrompt({ name: 'weather_packing', arguments: { city: 'Oslo' } })
  expect(messages).toMatchObject([{ role: 'user', content: { text: /pack for Oslo/ } }])
})

test('a tool of no target is refused', async () => {
  const { client } = await mcp()
  await expect(client.callTool({ name: 'elsewhere_forecast', arguments: {} })).rejects.toThrow()
})

test('a session that was ended is gone', async () => {
  const { client, transport } = await mcp()
  const ended = transport.sessionId ?? ''
  await transport.terminateSession()
  await client.close()
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': ended,
  }
  const body = '{"jsonrpc":"2.0","id":9,"method":"tools/list"}'
  expect((await fetch(`${quickstart.base}/mcp`, { method: 'POST', headers, body })).status).toBe(404)
})

// --- A2A -------------------------------------------------------------------------------------------------------------

/** The official client, given the address of the gateway only. It speaks to the address that it finds in the card. */
async function agent() {
  const client = await new ClientFactory().createFromUrl(`${quickstart.base}/a2a/`)
  const { supportedInterfaces } = await client.getAgentCard()
  const address = `${quickstart.base}/a2a/rpc`
  expect(supportedInterfaces.map(({ protocolVersion, url }) => [protocolVersion, url])).toEqual([
    ['1.0', address],
    ['0.3', address],
  ])
  return client
}

function say(text: string): SendMessageRequest {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  return SendMessageRequest.fromJSON({ message })
}

function textOf(artifact: { readonly parts: readonly { content?: { $case: string; value: unknown } | undefined }[] }) {
  return artifact.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')
}

verifies(
  'service/forwards-a2a',
  'the card of the agent leads through the gateway, in both protocol versions',
  async () => {
    await agent()
    const legacy = await (await fetch(`${quickstart.base}/a2a/.well-known/agent-card.json`)).json()
    expect(legacy).toMatchObject({
      protocolVersion: '0.3.0',
      name: 'agent',
      url: `${quickstart.base}/a2a/rpc`,
      additionalInterfaces: [{ url: `${quickstart.base}/a2a/rpc`, transport: 'JSONRPC' }],
    })
  },
)

test('the agent answers a message', async () => {
  const answer = await (await agent()).sendMessage(say('good morning'))
  if (!('artifacts' in answer)) throw new Error('the agent answers with a task')
  expect(answer.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
  expect(answer.artifacts.map(textOf)).toEqual(['agent heard: good morning'])
})

test('the agent streams its answer', async () => {
  const events: StreamResponse[] = await Array.fromAsync((await agent()).sendMessageStream(say('good morning')))
  const pieces = events.flatMap(({ payload }) => (payload?.$case === 'artifactUpdate' ? [payload.value.artifact] : []))
  expect(pieces.map((artifact) => artifact && textOf(artifact))).toEqual(['agent', ' heard:', ' good', ' morning'])
  const last = events.at(-1)?.payload
  expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
})
