import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const CHAT = {
  id: 'c',
  model: 'chat-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
}
/** By the end of the path at the provider. */
const ANSWERS: Readonly<Record<string, object>> = {
  completions: CHAT,
  detect: CHAT,
  pass: CHAT,
  messages: {
    id: 'm',
    model: 'claude-1',
    role: 'assistant',
    content: [{ type: 'text', text: 'yes' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 4, output_tokens: 2 },
  },
  responses: { id: 'r', model: 'resp-1', status: 'completed', output: [] },
  embeddings: { model: 'emb-1', data: [{ index: 0, embedding: [1] }] },
  count_tokens: { input_tokens: 9 },
  models: { data: [] },
}

const routes = {
  '/chat/completions': 'Completions',
  '/messages': 'Messages',
  '/responses': 'Responses',
  '/embeddings': 'Embeddings',
  '/count_tokens': 'MessagesTokenCount',
  '/models': 'Models',
  '/realtime': 'Realtime',
  '/pass': 'Passthrough',
  '/detect': 'Detect',
}

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
let requests = 0

beforeAll(async () => {
  const provider = createServer((request, response) => {
    const end = request.url!.split('?', 1)[0]!.split('/').at(-1)!
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(ANSWERS[end]))
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void provider.close(() => resolve())))
  stops.defer(async () => provider.closeAllConnections())
  port = await freePort()
  const at = { host: '127.0.0.1', port: (provider.address() as AddressInfo).port }
  const backend = (name: string, ...providers: object[]) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({
    ai: { groups: providers.map((each) => ({ providers: [{ ...at, ...each }] })) },
    policies: { ai: { routes, modelAliases: { fast: 'gpt-4o' } } },
  })}
`
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('one', { name: 'prime', providerOne: {} }),
      backend('four', { name: 'second', providerFour: {} }),
      backend('both', { name: 'prime', providerOne: {} }, { name: 'second', providerFour: {} }),
      ...['one', 'four', 'both', 'limited'].map((name) =>
        routeYaml(name, `/${name}`, name === 'limited' ? 'both' : name),
      ),
      policyYaml('limited', 'HTTPRoute', 'limited', {
        traffic: {
          rateLimit: { local: [{ requests: 1, unit: 'Hours', burst: 0, key: 'json(request.body).model' }] },
        },
      }),
      policyYaml('both', 'HTTPRoute', 'both', { traffic: { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } } }),
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

type Members = Readonly<Record<string, unknown>>

/** The line of the log and the decision record of one request. */
async function observe(path: string, body: unknown) {
  const query = `${path.includes('?') ? '&' : '?'}request=${++requests}`
  const init =
    body === undefined ? {} : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }
  await (await fetch(`${gateway.url(port)}${path}${query}`, init)).arrayBuffer()
  const end = `request=${requests}`
  const line = await eventually('the line', () => {
    const found = gateway.output.stdout.split('\n').find((text) => text.includes(`${end}"`))
    return found === undefined ? undefined : (JSON.parse(found) as Members)
  })
  const record = await eventually('the record', async () => {
    const answer = await fetch(`${gateway.url(15_000)}/decisions?limit=5`)
    return ((await answer.json()) as Members[]).find(({ target }) => (target as string).endsWith(end))
  })
  return { line, record }
}

const messages = [{ role: 'user', content: 'Hi' }]
const ASKED = { model: 'm', max_tokens: 5, messages }
const ONE = { section: 'prime', provider: 'openai' }
const FOUR = { section: 'second', provider: 'anthropic' }

interface Expected {
  readonly section: string
  readonly provider: string
  readonly requestModel?: string
  readonly responseModel?: string
  readonly translation?: readonly [from: string, to: string]
}

test.each<[path: string, body: object | undefined, expected: Expected]>([
  ['/one/chat/completions', { ...ASKED, model: 'fast' }, { ...ONE, requestModel: 'gpt-4o', responseModel: 'chat-1' }],
  ['/four/messages', ASKED, { ...FOUR, requestModel: 'm', responseModel: 'claude-1' }],
  ['/one/responses', { model: 'm', input: 'Hi' }, { ...ONE, requestModel: 'm', responseModel: 'resp-1' }],
  ['/one/embeddings', { model: 'm', input: 'Hi' }, { ...ONE, requestModel: 'm', responseModel: 'emb-1' }],
  ['/one/messages/count_tokens', ASKED, { ...ONE, requestModel: 'm' }],
  ['/four/messages/count_tokens', ASKED, { ...FOUR, requestModel: 'm' }],
  ['/one/detect', ASKED, { ...ONE, requestModel: 'm', responseModel: 'chat-1' }],
  [
    '/four/chat/completions',
    ASKED,
    { ...FOUR, requestModel: 'm', responseModel: 'claude-1', translation: ['completions', 'messages'] },
  ],
  [
    '/one/messages',
    ASKED,
    { ...ONE, requestModel: 'm', responseModel: 'chat-1', translation: ['messages', 'completions'] },
  ],
  [
    '/four/responses',
    { model: 'm', input: 'Hi' },
    { ...FOUR, requestModel: 'm', responseModel: 'claude-1', translation: ['responses', 'messages'] },
  ],
  // They pass as they are.
  ['/one/pass', ASKED, { section: 'prime', provider: '' }],
  ['/one/models', undefined, { section: 'prime', provider: '' }],
])('%s: log and record name provider and models', async (path, body, expected) => {
  const { line, record } = await observe(path, body)
  const { section, provider, requestModel, responseModel, translation } = expected
  expect([line['http.status'], line.protocol]).toEqual([200, 'llm'])
  expect([
    line.section,
    line['gen_ai.provider.name'] ?? '',
    line['gen_ai.request.model'],
    line['gen_ai.response.model'],
    line['gatewright.ai.translation.from'],
    line['gatewright.ai.translation.to'],
  ]).toEqual([section, provider, requestModel, responseModel, translation?.[0], translation?.[1]])
  expect(record).toMatchObject({
    section,
    provider,
    requestModel: requestModel ?? '',
    responseModel: responseModel ?? '',
    ...(translation && { translation: { from: translation[0], to: translation[1] } }),
  })
})

test.each<[what: string, path: string, body: unknown, status: number, expected: Members]>([
  ['a body that is not JSON', '/one/chat/completions', '{bad', 400, { 'gen_ai.provider.name': 'openai' }],
  ['a body without a model', '/one/chat/completions', { messages }, 400, { 'gen_ai.provider.name': 'openai' }],
  [
    'a body that cannot be translated',
    '/four/chat/completions',
    { ...ASKED, model: 'fast', messages: [{ role: 'user', content: [{ type: 'sculpture' }] }] },
    400,
    { 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': 'gpt-4o' },
  ],
  [
    'a session without a WebSocket',
    '/one/realtime?model=r',
    undefined,
    405,
    { 'gen_ai.operation.name': 'realtime', 'gen_ai.request.model': 'r' },
  ],
  ['a large body', '/one/chat/completions', `{"model":"${'m'.repeat(3_000_000)}"}`, 413, {}],
])('%s: the refusal is one of an LLM request', async (_what, path, body, status, expected) => {
  const { line, record } = await observe(path, body)
  expect(line).toMatchObject({ protocol: 'llm', 'http.status': status, ...expected })
  expect(record.requestModel).toBe(expected['gen_ai.request.model'] ?? '')
})

test('a refusal before the backend is chosen is one of an LLM request, with the model if a policy has read the body', async () => {
  await observe('/both/chat/completions', ASKED)
  await observe('/limited/chat/completions', ASKED)
  const known = { protocol: 'llm', 'http.status': 429, 'gen_ai.operation.name': 'chat' }
  const unread = await observe('/both/chat/completions', ASKED)
  expect(unread.line).toMatchObject(known)
  expect(unread.line).not.toHaveProperty(['gen_ai.request.model'])
  const read = await observe('/limited/chat/completions', ASKED)
  expect(read.line).toMatchObject({ ...known, 'gen_ai.request.model': 'm' })
  expect(read.record).toMatchObject({ backend: '', provider: '', requestModel: 'm' })
})
