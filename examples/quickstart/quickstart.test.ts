import { SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Echo } from '#examples/upstreams/echo.ts'
import { startEcho } from '#examples/upstreams/echo.ts'
import type { LlmState } from '#examples/upstreams/llm.ts'
import { startUpstreams } from '#examples/upstreams/run.ts'
import { startGateway } from '#test/support/gateway.ts'
import { verifies } from '#test/support/verifies.ts'
import { copyWithPorts } from './copy-with-ports.ts'

// The quickstart as its README tells it: the same objects on free ports, real servers behind, real clients in front.

/** Where the gateway answers, without a trailing slash. */
let base: string
let metricsUrl: string
/** The addresses of the servers behind the gateway, by name. */
let upstreamUrls: ReadonlyMap<string, string>

/** What was started, to be stopped in the opposite order, also when a later start fails. */
const stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  const upstreams = await startUpstreams('free')
  stops.unshift(upstreams.close)
  upstreamUrls = new Map(upstreams.list.map(({ name, url }) => [name, url]))

  const listenerPort = await freePort()
  const ports = new Map(upstreams.list.map(({ usualPort, port }) => [usualPort, port]))
  const objects = await copyWithPorts(import.meta.dirname, ports.set(8080, listenerPort))
  stops.unshift(objects.remove)

  const gateway = await startGateway({ files: [objects.folder] })
  stops.unshift(() => gateway.close())
  base = gateway.url(listenerPort)
  metricsUrl = gateway.url(15020)
})
afterAll(async () => {
  for (const stop of stops) await stop()
})

async function freePort(): Promise<number> {
  const holder = await startEcho({ port: 0 })
  await holder.close()
  return holder.port
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${base}${path}`, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function askEcho(path: string, init: RequestInit = {}): Promise<Echo> {
  const { status, text } = await ask(path, init)
  expect(status).toBe(200)
  return JSON.parse(text) as Echo
}

// First of all: the bucket is full now and refilled a minute after the start.
verifies(
  'traffic.rateLimit.local/requests-429',
  'the third request to /limited within the minute is refused',
  async () => {
    const answers = [await ask('/limited'), await ask('/limited'), await ask('/limited')]
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 429])
    expect(answers.map((answer) => answer.headers.get('x-ratelimit-limit'))).toEqual(['2', '2', '2'])
    expect(answers.map((answer) => answer.headers.get('x-ratelimit-remaining'))).toEqual(['1', '0', '0'])
    const [, , refused] = answers
    expect(refused?.text).toBe('rate limit exceeded')
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(refused?.headers.get('gatewright-decision')).toMatch(/./)
  },
)

const destinations = [
  // method  path              headers                   server
  ['GET', '/', {}, 'blue'],
  ['GET', '/any/thing', {}, 'blue'],
  ['GET', '/any/thing', { 'x-version': 'green' }, 'green'],
  ['GET', '/any/thing', { 'x-version': 'Green' }, 'blue'],
  ['GET', '/orders/7', {}, 'blue'],
  ['POST', '/orders', {}, 'green'],
  ['GET', '/keysmith', {}, 'blue'],
] as const

for (const [method, path, headers, server] of destinations) {
  verifies(
    ['service/forwards-http', 'backend.static/tcp'],
    `${method} ${path} ${JSON.stringify(headers)} goes to ${server}`,
    async () => {
      const echo = await askEcho(path, { method, headers })
      expect(echo).toMatchObject({ name: server, method, path })
    },
  )
}

test('the query, the body and the headers reach the server unchanged', async () => {
  const init = { method: 'PUT', headers: { 'X-Color': 'red', 'content-type': 'text/plain' }, body: 'hé' }
  const echo = await askEcho('/a%20b?q=1&q=2', init)
  expect(echo).toMatchObject({ method: 'PUT', path: '/a%20b?q=1&q=2', body: 'hé' })
  expect(echo.headers).toMatchObject({ 'x-color': 'red', 'content-type': 'text/plain', host: new URL(base).host })
})

const passed = [
  // path                     status  content type             body
  ['/x?status=404', 404, 'application/json', /^\{"name":"blue",.*"path":"\/x\?status=404"/],
  ['/x?status=503', 503, 'application/json', /^\{"name":"blue",.*"path":"\/x\?status=503"/],
  ['/x?status=204', 204, 'application/json', /^$/],
  ['/x?delay=20', 200, 'application/json', /^\{"name":"blue",.*"path":"\/x\?delay=20"/],
  ['/x?stream=3', 200, 'text/event-stream', /^(data: \{"name":"blue","event":[123],"of":3,.*\}\n\n){3}$/],
] as const

for (const [path, status, contentType, body] of passed) {
  test(`the answer to ${path} comes back as the server gave it`, async () => {
    const answer = await ask(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, contentType])
    expect(answer.headers.get('x-served-by')).toBe('blue')
    expect(answer.text).toMatch(body)
  })
}

test('/split goes to both servers and to no other', async () => {
  const echoes = await Promise.all(Array.from({ length: 100 }, () => askEcho('/split')))
  const blue = echoes.filter((echo) => echo.name === 'blue').length
  const green = echoes.filter((echo) => echo.name === 'green').length
  expect(blue + green).toBe(100)
  // Three to one: the chance that fewer than 40 or all of 100 go to blue is below one in a million million.
  expect(blue).toBeGreaterThanOrEqual(40)
  expect(green).toBeGreaterThan(0)
})

test('/headers changes the headers of request and response', async () => {
  const answer = await ask('/headers', { headers: { 'x-from': 'me', 'x-tag': 'mine', 'x-secret': 's' } })
  const { headers } = JSON.parse(answer.text) as Echo
  expect(headers['x-from']).toBe('gatewright')
  expect([headers['x-tag']].flat().join(', ')).toBe('mine, added')
  expect(headers).not.toHaveProperty('x-secret')
  expect(answer.headers.get('x-answered-by')).toBe('gatewright')
  expect(answer.headers.get('x-served-by')).toBeNull()
  // The filters of the rule are its header modifiers; the Gateway's are replaced whole.
  expect(answer.headers.get('x-policy')).toBeNull()
})

const rewrites = [
  // asked                served
  ['/api', '/v2'],
  ['/api/items?x=1', '/v2/items?x=1'],
] as const

for (const [asked, served] of rewrites) {
  test(`${asked} is served as ${served} of shop.internal`, async () => {
    const echo = await askEcho(asked)
    expect(echo).toMatchObject({ name: 'green', path: served, headers: { host: 'shop.internal' } })
  })
}

test('/old/page?x=1 sends the caller to /new/page?x=1', async () => {
  const answer = await ask('/old/page?x=1')
  expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([301, `${base}/new/page?x=1`, ''])
})

const levels = [
  // path               x-policy
  ['/any', 'gateway'],
  ['/old/page', 'gateway'],
  ['/levels', 'route'],
  ['/levels/other', 'route'],
  ['/levels/deep', 'rule'],
  ['/levels/deep/er', 'rule'],
] as const

for (const [path, policy] of levels) {
  verifies(
    [
      'policy/merge-field-by-field',
      'policy/precedence-traffic',
      'policy/targetRefs-sectionName',
      'policy/traffic-target-gateway',
      'policy/traffic-target-route',
      'policy/traffic-target-route-rule',
      'traffic.headerModifiers/response',
    ],
    `${path} answers x-policy: ${policy}, and keeps the transformation of the Gateway`,
    async () => {
      const { headers } = await ask(path)
      expect([headers.get('x-policy'), headers.get('x-asked')]).toEqual([policy, 'GET'])
    },
  )
}

const keys = [
  // key                    status  body                        challenge
  [undefined, 401, 'authentication required', /^Bearer/],
  ['k-nobody', 401, 'authentication failed', /^Bearer/],
  ['k-bob', 403, 'authorization failed', /^$/],
  ['k-carol', 403, 'authorization failed', /^$/],
] as const

for (const [key, status, body, challenge] of keys) {
  verifies(
    [
      'traffic.apiKeyAuthentication/strict-missing',
      'traffic.apiKeyAuthentication/strict-invalid',
      'traffic.apiKeyAuthentication/entry-string',
      'traffic.authorization/denied-403',
    ],
    `/keys with key ${key} is refused`,
    async () => {
      const answer = await ask('/keys/x', { ...(key && { headers: { authorization: `Bearer ${key}` } }) })
      expect([answer.status, answer.text]).toEqual([status, body])
      expect(answer.headers.get('www-authenticate') ?? '').toMatch(challenge)
      expect(answer.headers.get('gatewright-decision')).toMatch(/./)
      // Refused before the header modifiers were reached.
      expect(answer.headers.get('x-policy')).toBeNull()
    },
  )
}

verifies(
  [
    'traffic.apiKeyAuthentication/secretRef',
    'traffic.apiKeyAuthentication/strict-valid',
    'traffic.apiKeyAuthentication/entry-json',
    'traffic.apiKeyAuthentication/metadata',
    'traffic.apiKeyAuthentication/location-default',
    'traffic.apiKeyAuthentication/credential-stripped',
  ],
  '/keys with the key of alice, who is in sales, is served without the key',
  async () => {
    const echo = await askEcho('/keys/x', { headers: { authorization: 'Bearer k-alice' } })
    expect(echo.name).toBe('blue')
    expect(echo.headers).not.toHaveProperty('authorization')
  },
)

const admins = [
  // method   headers                   status
  ['GET', { 'x-role': 'admin' }, 200],
  ['POST', { 'x-role': 'admin' }, 200],
  ['GET', { 'x-role': 'guest' }, 403],
  ['GET', {}, 403],
  ['DELETE', { 'x-role': 'admin' }, 403],
] as const

for (const [method, headers, status] of admins) {
  verifies(
    [
      'traffic.authorization/merges',
      'authorization/action-values',
      'authorization/require-all',
      'authorization/deny-any',
      'authorization/failure-no-match',
    ],
    `${method} /admins ${JSON.stringify(headers)} is answered ${status}`,
    async () => {
      const answer = await ask('/admins', { method, headers })
      expect(answer.status).toBe(status)
      if (status === 403) expect(answer.text).toBe('authorization failed')
    },
  )
}

const greetings = [
  // headers              body
  [{ 'x-name': 'Ada' }, 'hello Ada\n'],
  [{}, 'hello stranger\n'],
  [{ 'x-greeting': 'planted' }, 'hello stranger\n'],
] as const

for (const [headers, body] of greetings) {
  verifies(
    [
      'traffic.transformation/set',
      'traffic.transformation/remove',
      'traffic.transformation/body',
      'policy/merge-not-deep',
    ],
    `/greeting ${JSON.stringify(headers)} answers ${JSON.stringify(body)}`,
    async () => {
      const answer = await ask('/greeting', { headers })
      expect([answer.status, answer.text]).toEqual([200, body])
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(answer.headers.get('x-policy')).toBe('gateway')
      expect(answer.headers.get('x-asked')).toBeNull()
    },
  )
}

verifies(
  ['traffic.directResponse/status', 'traffic.directResponse/body', 'traffic.directResponse/headers'],
  '/teapot is answered by the gateway itself',
  async () => {
    const answer = await ask('/teapot')
    expect([answer.status, answer.text]).toEqual([418, 'short and stout\n'])
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('x-kind')).toBe('teapot, asked by GET')
    expect(answer.headers.get('x-policy')).toBe('gateway')
  },
)

verifies(
  ['service/metrics', 'frontend.metrics/per-request', 'policy/frontend-target-gateway'],
  'the metrics carry the label of the policy',
  async () => {
    await ask('/measured', { headers: { 'x-tenant': 'acme' } })
    const scrape = async () => (await fetch(`${metricsUrl}/metrics`)).text()
    await expect.poll(scrape).toMatch(/^gatewright_requests_total\{[^}]*\btenant="acme"[^}]*\} 1$/m)
    await expect.poll(scrape).toMatch(/^gatewright_requests_total\{[^}]*\btenant="none"/m)
  },
)

// --- LLM -------------------------------------------------------------------------------------------------------------

/** The official client. Nothing but its base URL says that there is a gateway. */
function openai(): OpenAI {
  return new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none', maxRetries: 0 })
}

async function stateOf(provider: string): Promise<LlmState> {
  return (await (await fetch(`${upstreamUrls.get(provider)}/state`)).json()) as LlmState
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
  const answer = await ask('/v1/chat/completions', { method: 'POST', headers, body })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(answer.headers.get('x-policy')).toBe('gateway')
  expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
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
    await fetch(`${upstreamUrls.get('alpha')}/fail?status=503`, { method: 'POST' })

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
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`))
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
  expect((await ask('/mcp', { method: 'POST', headers, body })).status).toBe(404)
})

// --- A2A -------------------------------------------------------------------------------------------------------------

/** The official client, given the address of the gateway only. */
function agent() {
  return new ClientFactory().createFromUrl(`${base}/a2a/`)
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
    const card = await (await agent()).getAgentCard()
    expect(card.supportedInterfaces.map((each) => each.url)).toEqual([`${base}/a2a/rpc`, `${base}/a2a/rpc`])

    const legacy = JSON.parse((await ask('/a2a/.well-known/agent-card.json')).text)
    expect(legacy).toMatchObject({
      protocolVersion: '0.3.0',
      name: 'agent',
      url: `${base}/a2a/rpc`,
      additionalInterfaces: [{ url: `${base}/a2a/rpc`, transport: 'JSONRPC' }],
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
