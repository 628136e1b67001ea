import { expect, test } from 'vitest'
import { CallError, type CallRequest } from '#exchange/call.ts'
import { refusalStatus } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith, runContext } from '#policies/shared/testing.ts'
import { compile, type Setup } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import type { ProtocolAttempt } from '../../backend-protocol.ts'
import { ModelLists } from './model-lists.ts'

const BACKEND = 'ProxyBackend/default/llm'
const ROUTES = { '/models': 'Models', '/chat/completions': 'Completions' } as const
const messages = { 'anthropic-version': '2023-06-01' }

interface Asked {
  readonly destination: string
  readonly request: CallRequest
}

/** A provider's response: status and body. */
type Given = readonly [status: number, body: unknown] | 'no answer'

/** Lists of a backend whose providers respond in turn with what is given. */
function listsOf(spec: object, { given = [], ...setup }: Setup & { given?: readonly Given[] } = {}) {
  const { plan } = compile(spec, { ai: { routes: ROUTES }, ...setup })
  const lists = new ModelLists(plan, BACKEND)
  const asked: Asked[] = []
  const left = [...given]
  const clock = { ms: 0 }
  const signal = new AbortController()
  const list = async (
    inputs: Parameters<typeof exchangeWith>[0] = {},
    askRules: ProtocolAttempt['askRules'] = () => undefined,
  ) => {
    const exchange = exchangeWith({ target: '/v1/models', ...inputs })
    exchange.context = runContext({
      now: () => 1_000_000,
      monotonic: () => clock.ms,
      signal: signal.signal,
      callSections: async (destination, request) => {
        asked.push({ destination, request })
        const next = left.shift()
        if (next === undefined || next === 'no answer') throw new CallError('timeout')
        const [status, body] = next
        const bytes = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
        return {
          status,
          endpoint: '127.0.0.1:80',
          headers: [],
          header: () => undefined,
          trailer: () => undefined,
          body: pieces(bytes),
        }
      },
    })
    const attempt = { maxBufferBytes: 1000, askRules, llmReads: () => ({}) as never, selectFilter: undefined }
    const answer = await lists.answer(exchange, plan.providers[0]!, attempt)
    const [status, type] =
      answer.kind === 'answer'
        ? [answer.head.status, answer.head.get('content-type')]
        : [refusalStatus(answer), answer.contentType]
    expect([status, type]).toEqual([inputs.target === undefined ? 200 : expect.anything(), 'application/json'])
    return JSON.parse(answer.body as string)
  }
  const names = async (...args: Parameters<typeof list>) =>
    (await list(...args)).data.map(({ id }: { id: string }) => id)
  return { list, names, asked, clock, signal, lists, plan }
}

async function* pieces(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000)
}

const two = { providerTwo: { endpoint: 'r.openai.azure.com', deploymentName: 'd' } }

verifies('llm.routes/models', 'pins and exact aliases, in the dialect of the client (B07)', async () => {
  const ai = { routes: ROUTES, modelAliases: { fast: 'x', 'gpt-*': 'y' } }
  const { list, asked } = listsOf({ provider: two }, { ai })
  expect(await list()).toEqual({
    object: 'list',
    data: [
      { id: 'd', object: 'model', created: 1000, owned_by: 'azure' },
      { id: 'fast', object: 'model', created: 1000, owned_by: 'azure' },
    ],
  })
  expect(await list({ headers: messages })).toEqual({
    data: [
      { type: 'model', id: 'd', display_name: 'd', created_at: '1970-01-01T00:16:40.000Z' },
      { type: 'model', id: 'fast', display_name: 'fast', created_at: '1970-01-01T00:16:40.000Z' },
    ],
    has_more: false,
    first_id: 'd',
    last_id: 'fast',
  })
  expect(asked).toHaveLength(1)
})

verifies('llm.routes/models', 'then what the provider lists, in either form', async () => {
  const chat = { data: [{ id: 'gpt-9', created: 5, owned_by: 'system' }, { id: 'pin' }] }
  const one = listsOf({ provider: { providerOne: { model: 'pin' } } }, { given: [[200, chat]] })
  expect((await one.list()).data).toEqual([
    { id: 'pin', object: 'model', created: 1000, owned_by: 'openai' },
    { id: 'gpt-9', object: 'model', created: 5, owned_by: 'system' },
  ])
  const own = { data: [{ type: 'model', id: 'c', display_name: 'C', created_at: '2026-01-02T00:00:00Z' }] }
  const four = listsOf({ provider: { providerFour: {} } }, { given: [[200, own]] })
  expect((await four.list({ headers: messages })).data).toEqual([
    { type: 'model', id: 'c', display_name: 'C', created_at: '2026-01-02T00:00:00.000Z' },
  ])
  expect((await four.list()).data).toEqual([{ id: 'c', object: 'model', created: 1767312000, owned_by: 'anthropic' }])
  const five = listsOf({ provider: { providerFive: {} } }, { given: [[200, { data: [{ id: 'models/gemini-x' }] }]] })
  expect(await five.names()).toEqual(['gemini-x'])
})

verifies('llm.routes/models', 'one model of the list, in either form; others are not found', async () => {
  const { list, asked } = listsOf(
    { provider: { providerOne: {} } },
    { given: [[200, { data: [{ id: 'a/b', created: 5, owned_by: 'o' }, { id: 'hidden' }] }]] },
  )
  const chat = { id: 'a/b', object: 'model', created: 5, owned_by: 'o' }
  expect(await list({ target: '/v1/models/a%2Fb' })).toEqual(chat)
  expect(await list({ target: '/v1/models/a/b?x=1' })).toEqual(chat)
  expect(await list({ target: '/v1/models/a%2Fb', headers: messages })).toEqual({
    ...{ type: 'model', id: 'a/b', display_name: 'a/b', created_at: '1970-01-01T00:00:05.000Z' },
  })
  const error = { type: 'invalid_request_error', code: 'llm-model-unknown', message: 'model not found: c', param: null }
  expect(await list({ target: '/v1/models/c' })).toEqual({ error })
  expect(await list({ target: '/v1/models/c', headers: messages })).toMatchObject({
    type: 'error',
    error: { type: 'not_found_error', message: 'model not found: c' },
  })
  const paths: string[] = []
  const askRules: ProtocolAttempt['askRules'] = (_, __, path) => {
    paths.push(path)
    return (body) => !new TextDecoder().decode(body).includes('hidden')
  }
  expect(await list({ target: '/v1/models/hidden' }, askRules)).toMatchObject({ error: { code: 'llm-model-unknown' } })
  expect(paths).toEqual(['/v1/chat/completions'])
  expect(asked).toHaveLength(1)
})

test.each([
  [{ providerOne: {} }, '/v1/models'],
  [{ providerOne: {}, pathPrefix: '/api' }, '/api/models'],
  [{ providerFour: {} }, '/v1/models?limit=1000'],
  [{ providerFive: {} }, '/v1beta/openai/models'],
  [{ providerOne: {}, path: '/own' }, undefined],
  [two, '/openai/v1/models'],
  [{ providerTwo: { ...two.providerTwo, apiVersion: 'v1' } }, '/openai/v1/models'],
  [{ providerTwo: { ...two.providerTwo, apiVersion: 'preview' } }, '/openai/v1/models?api-version=preview'],
  [{ providerTwo: { ...two.providerTwo, apiVersion: '2024-10-21' } }, '/openai/models?api-version=2024-10-21'],
  [{ providerThree: { resourceType: 'ResourceTypeOne', resourceName: 'r' } }, '/openai/v1/models'],
  [{ providerThree: { resourceType: 'ResourceTypeTwo', resourceName: 'r', projectName: 'p' } }, undefined],
  [{ providerSix: { projectId: 'p' } }, undefined],
  [{ providerSeven: {} }, undefined],
])('the list of %j is at %s', async (provider, path) => {
  const { names, asked } = listsOf({ provider })
  await names()
  expect(asked.map(({ destination, request }) => [destination, request.method, request.path])).toEqual(
    path === undefined ? [] : [[`${BACKEND}/backend`, 'GET', path]],
  )
})

test('all providers of all groups are asked, each at its section, and each model is listed once', async () => {
  const groups = [{ providers: [{ name: 'a', providerOne: {} }] }, { providers: [{ name: 'b', providerOne: {} }] }]
  const given: Given[] = [
    [200, { data: [{ id: 'x' }, { id: 'y' }] }],
    [200, { data: [{ id: 'y' }, { id: 'z' }] }],
  ]
  const { names, asked } = listsOf({ groups }, { given })
  expect(await names()).toEqual(['x', 'y', 'z'])
  expect(asked.map(({ destination }) => destination)).toEqual([`${BACKEND}/a`, `${BACKEND}/b`])
})

test('a list is fetched once a minute, and once for requests at the same time', async () => {
  const { names, asked, clock } = listsOf(
    { provider: { providerOne: {} } },
    {
      given: [
        [200, { data: [{ id: 'old' }] }],
        [200, { data: [{ id: 'new' }] }],
      ],
    },
  )
  expect(await Promise.all([names(), names()])).toEqual([['old'], ['old']])
  clock.ms = 59_999
  expect(await names()).toEqual(['old'])
  expect(asked).toHaveLength(1)
  clock.ms = 60_000
  expect(await names()).toEqual(['new'])
})

test.each<[what: string, given: Given]>([
  ['no answer', 'no answer'],
  ['an error', [500, { data: [{ id: 'x' }] }]],
  ['no JSON', [200, '<html>']],
  ['no list', [200, {}]],
  ['more than 1 MiB', [200, { data: [{ id: 'x' }], more: 'x'.repeat(1024 * 1024) }]],
])('after %s the last list is used, and none is fetched for ten seconds', async (_, failure) => {
  const first: Given = [200, { data: [{ id: 'good' }] }]
  const { names, asked, clock } = listsOf({ provider: { providerOne: {} } }, { given: [first, failure, first] })
  await names()
  clock.ms = 60_000
  expect(await names()).toEqual(['good'])
  clock.ms = 69_999
  expect(await names()).toEqual(['good'])
  expect(asked).toHaveLength(2)
  clock.ms = 70_000
  await names()
  expect(asked).toHaveLength(3)
})

test('a client that leaves ends its wait; the next one asks again', async () => {
  const { names, asked, signal } = listsOf({ provider: { providerOne: {} } })
  signal.abort()
  void names()
  await Promise.resolve()
  expect(asked).toEqual([])
})

test('credentials move as in other requests to the provider', async () => {
  const { names, asked } = listsOf(
    { provider: { providerFour: {} } },
    { credential: { source: 'key', location: 'usual' } },
  )
  await names()
  const head = Head.request('GET', '/v1/models')
  head.set('authorization', 'Bearer k')
  asked[0]!.request.finish!(head)
  expect([head.get('x-api-key'), head.get('authorization'), head.get('anthropic-version')]).toEqual([
    'k',
    undefined,
    '2023-06-01',
  ])
})

verifies('llm.routes/models', 'only models that rules about bodies let through', async () => {
  const given: Given[] = [[200, { data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] }]]
  const { names } = listsOf({ provider: { providerOne: {} } }, { given })
  const asked: string[] = []
  const askRules: ProtocolAttempt['askRules'] = (_, method, target) => (body) => {
    const text = new TextDecoder().decode(body)
    asked.push(`${method} ${target} ${text}`)
    return !text.includes('"b"')
  }
  expect(await names({}, askRules)).toEqual(['a', 'c'])
  expect(asked).toEqual(
    ['a', 'b', 'c'].map((model) => `POST /v1/chat/completions {"model":"${model}","messages":[],"input":""}`),
  )
})
