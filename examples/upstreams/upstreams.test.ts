import { type Message, SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import OpenAI from 'openai'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { startEcho } from './echo.ts'
import type { LlmState } from './llm.ts'
import { startLlm } from './llm.ts'
import { startUpstreams, type Upstreams } from './run.ts'

let upstreams: Upstreams

beforeAll(async () => {
  upstreams = await startUpstreams('free')
  return upstreams.close
})

function urlOf(name: string): string {
  const found = upstreams.list.find((upstream) => upstream.name === name)
  if (found === undefined) throw new Error(`no upstream ${name}`)
  return found.url
}

test('all servers of the quickstart start, with the ports its objects name', () => {
  expect(upstreams.list.map(({ kind, name, usualPort }) => [kind, name, usualPort])).toEqual([
    ['echo', 'blue', 9101],
    ['echo', 'green', 9102],
    ['LLM', 'alpha', 9111],
    ['LLM', 'beta', 9112],
    ['MCP', 'weather', 9121],
    ['MCP', 'notes', 9122],
    ['A2A', 'agent', 9131],
    ['OpenID', 'identity', 9141],
  ])
})

test('a port in use is named in one line', async () => {
  const first = await startEcho({ name: 'first', port: 0 })
  onTestFinished(() => first.close())
  const message = `port ${first.port} is in use; the example server second needs it`
  await expect(startEcho({ name: 'second', port: first.port })).rejects.toThrow(message)
})

test('a closed server gives its port back', async () => {
  const first = await startEcho({ name: 'first', port: 0 })
  await first.close()
  const second = await startEcho({ name: 'second', port: first.port })
  onTestFinished(() => second.close())
  expect(second.port).toBe(first.port)
})

test('the echo server tells what it saw, as it arrived', async () => {
  const headers = { 'X-Color': 'red', 'content-type': 'text/plain' }
  const response = await fetch(`${urlOf('blue')}/a%20b//c?q=1&q=2`, { method: 'POST', headers, body: 'hé' })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-served-by')).toBe('blue')
  expect(await response.json()).toMatchObject({
    name: 'blue',
    method: 'POST',
    path: '/a%20b//c?q=1&q=2',
    headers: { 'x-color': 'red', host: new URL(urlOf('blue')).host },
    body: 'hé',
  })
})

const wishes = [
  // path                status  body
  ['/?status=503', 503, /"name":"green"/],
  ['/?status=204', 204, /^$/],
  ['/?delay=1', 200, /"name":"green"/],
  ['/?stream=0', 200, /^$/],
  ['/?status=42', 400, /^status is a number from 200 to 599\n$/],
  ['/?status=abc', 400, /^status is/],
  ['/?delay=-1', 400, /^delay is/],
  ['/?stream=x', 400, /^stream is/],
] as const

for (const [path, status, body] of wishes) {
  test(`the echo server answers ${path} with ${status}`, async () => {
    const response = await fetch(`${urlOf('green')}${path}`)
    expect(response.status).toBe(status)
    expect(await response.text()).toMatch(body)
  })
}

test('the echo server streams events', async () => {
  const response = await fetch(`${urlOf('blue')}/x?stream=2`)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(await response.text()).toBe(
    'data: {"name":"blue","event":1,"of":2,"path":"/x?stream=2"}\n\n' +
      'data: {"name":"blue","event":2,"of":2,"path":"/x?stream=2"}\n\n',
  )
})

function openai(name: string, apiKey = 'none'): OpenAI {
  return new OpenAI({ baseURL: `${urlOf(name)}/v1`, apiKey, maxRetries: 0 })
}

const HELLO = [
  { role: 'system', content: 'be brief' },
  { role: 'user', content: 'good morning' },
] as const

test('the mock provider completes a chat', async () => {
  const { data, response } = await openai('alpha')
    .chat.completions.create({ model: 'mock-small', messages: [...HELLO] })
    .withResponse()
  expect(response.headers.get('x-served-by')).toBe('alpha')
  expect(data).toMatchObject({ object: 'chat.completion', model: 'mock-small' })
  expect(data.choices).toMatchObject([
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'alpha here: you said "good morning"' } },
  ])
  expect(data.usage).toEqual({ prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 })
})

test('the mock provider streams a chat, with usage when asked', async () => {
  const stream = await openai('beta').chat.completions.create({
    model: 'mock-large',
    messages: [...HELLO],
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = await Array.fromAsync(stream)
  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' })
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
  expect(text).toBe('beta here: you said "good morning"')
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 4, completion_tokens: 6 } })
})

test('a stream of the mock provider ends with the end mark, without usage unless asked', async () => {
  const body = JSON.stringify({ model: 'mock-small', messages: HELLO, stream: true })
  const response = await fetch(`${urlOf('alpha')}/v1/chat/completions`, { method: 'POST', body })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const text = await response.text()
  expect(text).not.toContain('usage')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('the mock provider stops at the token limit', async () => {
  const limited = { model: 'mock-small', messages: [...HELLO], max_completion_tokens: 2 }
  const completion = await openai('alpha').chat.completions.create(limited)
  expect(completion.choices).toMatchObject([{ finish_reason: 'length', message: { content: 'alpha here:' } }])
})

test('the mock provider lists its models and knows no others', async () => {
  const models = await openai('alpha').models.list()
  expect(models.data.map((model) => model.id)).toEqual(['mock-small', 'mock-large'])
  const unknown = openai('alpha').chat.completions.create({ model: 'fast', messages: [...HELLO] })
  await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
})

test('the mock provider fails when told to, and remembers what it saw', async () => {
  const provider = await startLlm({ name: 'gamma', port: 0 })
  onTestFinished(() => provider.close())
  const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'none', maxRetries: 0 })
  const state = async () => (await (await fetch(`${provider.url}/state`)).json()) as LlmState
  const ask = () => client.chat.completions.create({ model: 'mock-small', messages: [...HELLO], temperature: 0.5 })
  expect(await state()).toEqual({ name: 'gamma', requests: 0, failing: null, lastRequest: null })

  await fetch(`${provider.url}/fail?status=429`, { method: 'POST' })
  await expect(ask()).rejects.toMatchObject({ status: 429, message: '429 gamma was told to fail' })
  const seen = { model: 'mock-small', messages: HELLO, temperature: 0.5 }
  expect(await state()).toEqual({ name: 'gamma', requests: 1, failing: 429, lastRequest: seen })

  await fetch(`${provider.url}/heal`, { method: 'POST' })
  expect((await ask()).choices[0]?.message.content).toContain('gamma here')
  expect(await state()).toMatchObject({ requests: 2, failing: null })
  expect((await fetch(`${provider.url}/fail?status=200`, { method: 'POST' })).status).toBe(400)
})

test('the mock provider with a key refuses callers without it', async () => {
  const provider = await startLlm({ name: 'delta', port: 0, key: 'k-right' })
  onTestFinished(() => provider.close())
  const ask = (apiKey: string) =>
    new OpenAI({ baseURL: `${provider.url}/v1`, apiKey, maxRetries: 0 }).chat.completions.create({
      model: 'mock-small',
      messages: [...HELLO],
    })
  await expect(ask('k-wrong')).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' })
  expect((await ask('k-right')).model).toBe('mock-small')
})

const malformed = [
  // body                                  message
  ['{', 'the body must be a JSON object'],
  ['[]', 'the body must be a JSON object'],
  ['{"messages":[]}', 'you must provide a model parameter'],
  ['{"model":"mock-small","messages":[]}', 'messages must be a list of at least one'],
  ['{"model":"mock-small","messages":[1]}', 'each message must be an object'],
] as const

for (const [body, message] of malformed) {
  test(`the mock provider refuses ${body}`, async () => {
    const response = await fetch(`${urlOf('alpha')}/v1/chat/completions`, { method: 'POST', body })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: { message, type: 'invalid_request_error', param: null, code: null },
    })
  })
}

/** An MCP client of the official SDK; `auto` asks for the newest revision, which has no sessions. */
async function mcp(name: string, mode: 'legacy' | 'auto' = 'legacy') {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  const transport = new StreamableHTTPClientTransport(new URL(`${urlOf(name)}/mcp`))
  onTestFinished(() => client.close())
  await client.connect(transport)
  return { client, transport }
}

test('weather has tools with schemas, a resource and a prompt', async () => {
  const { client, transport } = await mcp('weather')
  expect(transport.sessionId).toMatch(/^[0-9a-f-]{36}$/)
  expect(client.getServerVersion()).toEqual({ name: 'weather', version: '1.0.0' })

  const { tools } = await client.listTools()
  expect(tools.map((tool) => tool.name)).toEqual(['forecast', 'alerts'])
  expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['city'] })
  expect(tools[0]?.outputSchema).toMatchObject({ type: 'object', required: ['city', 'days'] })

  const { contents } = await client.readResource({ uri: 'weather://stations' })
  expect(contents).toEqual([
    { uri: 'weather://stations', mimeType: 'application/json', text: '["Oslo","Quito","Perth"]' },
  ])
  const { messages } = await client.getPrompt({ name: 'packing', arguments: { city: 'Oslo' } })
  expect(messages).toMatchObject([{ role: 'user', content: { text: /pack for Oslo/ } }])
})

test('forecast is the same every time and sends progress', async () => {
  const { client } = await mcp('weather')
  const heard: unknown[] = []
  const call = { name: 'forecast', arguments: { city: 'Oslo', days: 2 } }
  const first = await client.callTool(call, { onprogress: (progress) => heard.push(progress) })
  expect(heard).toEqual([
    { progress: 1, total: 2, message: 'day 1 of 2' },
    { progress: 2, total: 2, message: 'day 2 of 2' },
  ])
  expect(first.structuredContent).toMatchObject({ city: 'Oslo', days: [{ day: 1 }, { day: 2 }] })
  expect(await client.callTool(call)).toEqual(first)
})

test('a tool refuses arguments outside its schema', async () => {
  const { client } = await mcp('weather')
  const result = await client.callTool({ name: 'forecast', arguments: { city: 'Oslo', days: 9 } })
  expect(result.isError).toBe(true)
})

test('the sessions of notes share what was kept', async () => {
  const one = await mcp('notes')
  const two = await mcp('notes')
  expect(one.transport.sessionId).not.toBe(two.transport.sessionId)
  const { tools } = await one.client.listTools()
  expect(tools.map((tool) => tool.name)).toEqual(['add', 'search'])

  await one.client.callTool({ name: 'add', arguments: { text: 'Buy bread' } })
  const found = await two.client.callTool({ name: 'search', arguments: { query: 'BREAD' } })
  expect(found.structuredContent).toEqual({ found: ['Buy bread'] })
  const { contents } = await two.client.readResource({ uri: 'notes://all' })
  expect(contents).toMatchObject([{ text: /Buy bread/ }])
  const { messages } = await two.client.getPrompt({ name: 'summary' })
  expect(messages).toHaveLength(1)
})

test('the newest MCP revision is served without sessions', async () => {
  const { client, transport } = await mcp('weather', 'auto')
  expect(transport.sessionId).toBeUndefined()
  const result = await client.callTool({ name: 'alerts', arguments: { city: 'Quito' } })
  expect(result.content).toMatchObject([{ type: 'text', text: 'no alerts for Quito' }])
})

const withoutSession = [
  // session           status
  [undefined, 400],
  ['no-such-session', 404],
] as const

for (const [session, status] of withoutSession) {
  test(`an MCP request with session ${session} is answered ${status}`, async () => {
    const response = await fetch(`${urlOf('notes')}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session && { 'mcp-session-id': session }),
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    })
    expect(response.status).toBe(status)
  })
}

test('a session that was ended is gone', async () => {
  const { client, transport } = await mcp('notes')
  const ended = transport.sessionId ?? ''
  await transport.terminateSession()
  await client.close()
  const again = { method: 'DELETE', headers: { 'mcp-session-id': ended } }
  expect((await fetch(`${urlOf('notes')}/mcp`, again)).status).toBe(404)
})

function say(text: string): SendMessageRequest {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  return SendMessageRequest.fromJSON({ message })
}

/** What a streamed task answered: the artifact text and the states in order. */
function readStream(events: readonly StreamResponse[]) {
  const payloads = events.map((event) => event.payload)
  const text = payloads.flatMap((payload) =>
    payload?.$case === 'artifactUpdate' ? (payload.value.artifact?.parts ?? []).map(textOf) : [],
  )
  const states = payloads.flatMap((payload) =>
    payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? [payload.value.status?.state] : [],
  )
  return { text: text.join(''), states }
}

function textOf({ content }: Message['parts'][number]): string {
  return content?.$case === 'text' ? content.value : ''
}

test('the agent card names the address of the agent', async () => {
  const address = `${urlOf('agent')}/rpc`
  const client = await new ClientFactory().createFromUrl(urlOf('agent'))
  const card = await client.getAgentCard()
  expect(card.supportedInterfaces.map((each) => [each.protocolVersion, each.url])).toEqual([
    ['1.0', address],
    ['0.3', address],
  ])
  const legacy = await (await fetch(`${urlOf('agent')}/.well-known/agent-card.json`)).json()
  expect(legacy).toMatchObject({ protocolVersion: '0.3.0', url: address, additionalInterfaces: [{ url: address }] })
})

test('the agent answers a message with a completed task', async () => {
  const client = await new ClientFactory().createFromUrl(urlOf('agent'))
  const task = (await client.sendMessage(say('good morning'))) as Task
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
  expect(task.artifacts.flatMap((artifact) => artifact.parts.map(textOf)).join('')).toBe('agent heard: good morning')
})

test('the agent streams its answer word by word', async () => {
  const client = await new ClientFactory().createFromUrl(urlOf('agent'))
  const events = await Array.fromAsync(client.sendMessageStream(say('good morning')))
  const { TASK_STATE_SUBMITTED, TASK_STATE_WORKING, TASK_STATE_COMPLETED } = TaskState
  expect(readStream(events)).toEqual({
    text: 'agent heard: good morning',
    states: [TASK_STATE_SUBMITTED, TASK_STATE_WORKING, TASK_STATE_COMPLETED],
  })
})

const legacyMethods = [
  // method             content type
  ['message/send', 'application/json'],
  ['message/stream', 'text/event-stream'],
] as const

for (const [method, contentType] of legacyMethods) {
  test(`the agent understands ${method} of protocol 0.3`, async () => {
    const message = { kind: 'message', messageId: 'm-1', role: 'user', parts: [{ kind: 'text', text: 'hello' }] }
    const response = await fetch(`${urlOf('agent')}/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message } }),
    })
    expect(response.headers.get('content-type')).toBe(contentType)
    expect(await response.text()).toContain('"state":"completed"')
  })
}
