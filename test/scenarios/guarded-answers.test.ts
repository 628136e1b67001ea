import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventStream } from '#test/support/answering-provider.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// Guards with everything else that happens to an answer: translation, compression, failover, limits and records.

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
/** What the providers answer, by the path that they are asked at. */
let answer: (provider: 'first' | 'second', path: string, response: ServerResponse) => void
const asked: string[] = []

const ROUTES = { '/chat/completions': 'Completions', '/messages': 'Messages', '/responses': 'Responses' }
const promptGuard = {
  request: [{ regex: { builtins: ['Email'] } }],
  // A tool of this name cannot be masked: the stream ends.
  response: [{ regex: { builtins: ['Email'], matches: ['forbidden'] }, response: { message: 'No such tool.' } }],
}

async function startProvider(name: 'first' | 'second'): Promise<number> {
  const server = createServer((incoming, response) => {
    let body = ''
    incoming.on('data', (piece) => {
      body += piece
    })
    incoming.on('end', () => {
      asked.push(`${name} ${body}`)
      answer(name, incoming.url!, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const at = { host: '127.0.0.1', port: await startProvider('first') }
  const later = { host: '127.0.0.1', port: await startProvider('second') }
  port = await freePort()
  const backend = (name: string, ai: object) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai, policies: { ai: { routes: ROUTES, promptGuard } } })}
`
  const groups = [
    { providers: [{ name: 'first', providerOne: {}, ...at }] },
    { providers: [{ name: 'second', providerOne: {}, ...later }] },
  ]
  const add = [
    { name: 'prompt', expression: 'llm.prompt' },
    { name: 'completion', expression: 'llm.completion' },
    { name: 'tokens', expression: 'llm.totalTokens' },
  ]
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('completions', { provider: { providerFive: {}, ...at } }),
      backend('messages', { provider: { providerFour: {}, ...at } }),
      backend('failover', { groups }),
      ...['completions', 'messages', 'failover'].map((name) => routeYaml(name, `/${name}`, name)),
      routeYaml('limited', '/limited', 'completions'),
      policyYaml('retry', 'HTTPRoute', 'failover', { traffic: { retry: { attempts: 1, codes: [529, 503] } } }),
      policyYaml('limit', 'HTTPRoute', 'limited', {
        traffic: { rateLimit: { local: [{ unit: 'Hours', tokens: 200 }] } },
      }),
      policyYaml('log', 'Gateway', 'main', { frontend: { accessLog: { attributes: { add } } } }),
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({
    files: [objects.path],
    workers: 1,
    environment: { GATEWRIGHT_LOG_FORMAT: 'json' },
  })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

beforeEach(() => {
  asked.length = 0
})

const TEXTS = ['Write to an', 'n@exam', 'ple.org now']
const MASKED = 'Write to <EMAIL_ADDRESS> now'

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const WHOLE = {
  completions: {
    id: 'c',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: TEXTS.join('') }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  },
  messages: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: TEXTS.join('') }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 4 },
  },
} as const

const STREAM = {
  completions: `${chunk({ role: 'assistant', content: '' })}${TEXTS.map((content) => chunk({ content })).join('')}${chunk({}, 'stop')}data: [DONE]\n\n`,
  messages: eventStream(
    {
      type: 'message_start',
      message: { id: 'm', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...TEXTS.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ),
} as const

const QUESTION = 'Who is b@example.org?'
const PATHS = {
  Completions: ['/v1/chat/completions', { messages: [{ role: 'user', content: QUESTION }] }],
  Messages: ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: QUESTION }] }],
  Responses: ['/v1/responses', { input: QUESTION, store: false }],
} as const

type Dialect = keyof typeof PATHS
let requests = 0

async function ask(route: string, dialect: Dialect, stream: boolean) {
  const [path, body] = PATHS[dialect]
  const query = `?request=${++requests}`
  const response = await fetch(`${gateway.url(port)}/${route}${path}${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, ...body }),
  })
  return { status: response.status, text: await response.text(), query }
}

/** The text of an answer as a client reads it. */
function textOf(text: string): string {
  if (text.startsWith('{')) return textIn(JSON.parse(text))
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
  return events.map(deltaIn).join('')
}

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON
function textIn({ choices, content, output }: any): string {
  return choices?.[0].message.content ?? content?.[0].text ?? output?.[0].content[0].text
}

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON
function deltaIn({ type, choices, delta }: any): string {
  if (choices !== undefined) return choices[0]?.delta.content ?? ''
  return type === 'content_block_delta' ? delta.text : type === 'response.output_text.delta' ? delta : ''
}

const line = (query: string) =>
  eventually('the line', () => {
    const found = gateway.output.stdout.split('\n').find((text) => text.includes(`${query}"`))
    return found === undefined ? undefined : (JSON.parse(found) as Readonly<Record<string, unknown>>)
  })

/** How a provider answers: a stream or not, compressed or not, whatever the client asked for. */
const FORMS = ['stream', 'whole', 'compressed stream', 'compressed answer', 'answer to a streamed request'] as const

describe.each(['completions', 'messages'] as const)('a provider of %s', (provider) => {
  describe.each(Object.keys(PATHS) as Dialect[])('and a client of %s', (dialect) => {
    test.each(FORMS)('%s', async (form) => {
      answer = (_, __, response) => {
        const isStream = form.includes('stream') && form !== 'answer to a streamed request'
        const body = isStream ? STREAM[provider] : JSON.stringify(WHOLE[provider])
        response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
        if (form.startsWith('compressed')) response.setHeader('content-encoding', 'gzip')
        response.end(form.startsWith('compressed') ? gzipSync(body) : body)
      }
      const { status, text, query } = await ask(provider, dialect, form.includes('stream'))
      expect([status, textOf(text)]).toEqual([200, MASKED])
      expect(text).not.toContain('example.org')
      expect(asked).toHaveLength(1)
      expect(asked[0]).toContain('Who is <EMAIL_ADDRESS>?')
      const { completion, prompt } = await line(query)
      expect(JSON.stringify([completion, prompt])).toContain(MASKED)
      expect(JSON.stringify([completion, prompt])).toContain('Who is <EMAIL_ADDRESS>?')
      expect(JSON.stringify([completion, prompt])).not.toContain('example.org')
    })
  })
})

const sendStream = (response: ServerResponse, text: string) =>
  void response.setHeader('content-type', 'text/event-stream').end(text)

test('a stream that fails while a guard holds its head goes to the next provider', async () => {
  const overloaded = 'data: {"error":{"type":"overloaded_error","message":"busy"}}\n\n'
  answer = (provider, _, response) =>
    sendStream(
      response,
      provider === 'first' ? chunk({ role: 'assistant', content: '' }) + overloaded : STREAM.completions,
    )
  const { status, text } = await ask('failover', 'Completions', true)
  expect([status, textOf(text)]).toEqual([200, MASKED])
  expect(asked.map((one) => one.split(' ')[0])).toEqual(['first', 'second'])
})

test('the tokens of a stream that a guard ends are charged', async () => {
  const call = { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'forbidden', arguments: '' } }] }
  answer = (_, __, response) => {
    response.setHeader('content-type', 'text/event-stream')
    response.end(`${chunk({ content: 'Some words of an answer. '.repeat(100) })}${chunk(call)}data: [DONE]\n\n`)
  }
  const { status, text, query } = await ask('limited', 'Completions', true)
  expect(status).toBe(200)
  expect(text).toContain('"code":"guardrail_intervention"')
  expect(text).not.toContain('"forbidden"')
  expect(text).not.toContain('[DONE]')
  expect((await line(query)).tokens).toBeGreaterThan(400)
  expect((await ask('limited', 'Completions', true)).status).toBe(429)
})
