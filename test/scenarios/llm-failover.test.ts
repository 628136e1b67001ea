import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const ROLE = chunk({ role: 'assistant', content: '' })
const OVERLOADED = 'data: {"error":{"type":"overloaded_error","message":"busy"}}\n\n'
const INVALID = 'data: {"error":{"type":"invalid_request_error","message":"no such thing"}}\n\n'
const PAID = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 90, completion_tokens: 0, total_tokens: 90 } })}\n\n`
const DONE = 'data: [DONE]\n\n'
const GOOD = ROLE + chunk({ content: 'good' }) + chunk({}, 'stop') + DONE

interface Answer {
  readonly text: string
  readonly breaks?: boolean
  readonly status?: number
  /** Whatever the client asked for. */
  readonly isWhole?: boolean
}

const USAGE = { prompt_tokens: 90, completion_tokens: 1, total_tokens: 91 }
const message = { role: 'assistant', content: 'good' }
const WHOLE = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE }

/** How the first provider answers, by model: what it sends, and whether it then breaks the connection. */
const BAD: Readonly<Record<string, Answer>> = {
  'an overloaded model': { text: OVERLOADED },
  'an error behind the role': { text: ROLE + OVERLOADED },
  'an empty stream': { text: '' },
  'only an end mark': { text: DONE },
  'a break before content': { text: ROLE, breaks: true },
  'a short stream before content': { text: ROLE },
  'a fault of the client': { text: INVALID },
  'a paid error': { text: PAID + OVERLOADED },
  'an error behind content': { text: ROLE + chunk({ content: 'bad' }) + OVERLOADED },
  'a busy server': { text: '', status: 503 },
  'an error as a whole answer': { text: '{"error":{"type":"overloaded_error","message":"busy"}}', isWhole: true },
  'a whole answer that breaks off': { text: '{"choices":[{"index":0', breaks: true, isWhole: true },
  'a paid whole answer': { text: JSON.stringify(WHOLE), isWhole: true },
  'a paid stream': { text: GOOD.replace(DONE, PAID + DONE) },
  'a finished answer without content': { text: ROLE + chunk({}, 'length') + DONE },
}

/** A good answer has fewer, and no usage. */
const LIMIT = { unit: 'Hours', tokens: 80, key: 'request.headers["x-model"]' }

/** It gets translated requests. */
const MESSAGES = { providerOne: undefined, providerFour: {} }

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
const asked: string[] = []

/** Both providers stream; the first one as its table says. */
async function startProvider(name: string, respond: (model: string, response: ServerResponse) => void) {
  const server = createServer((incoming, response) => {
    let body = ''
    incoming.on('data', (piece) => {
      body += piece
    })
    incoming.on('end', () => {
      const { model } = JSON.parse(body)
      asked.push(`${name} ${model}`)
      const { status = 200, isWhole = false } = name === 'first' ? (BAD[model] ?? {}) : {}
      response.setHeader('content-type', isWhole ? 'application/json' : 'text/event-stream')
      response.statusCode = status
      if (response.statusCode === 503) response.setHeader('retry-after', '7')
      response.flushHeaders()
      respond(model, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

function respondBadly(model: string, response: ServerResponse): void {
  const { text, breaks } = BAD[model] ?? { text: '' }
  if (breaks === true) response.write(text, () => response.destroy())
  else response.end(text)
}

beforeAll(async () => {
  const first = await startProvider('first', respondBadly)
  const second = await startProvider('second', (_model, response) => void response.end(GOOD))
  port = await freePort()
  const at = (name: string, providerPort: number) => ({ name, providerOne: {}, host: '127.0.0.1', port: providerPort })
  const groups = [{ providers: [at('first', first)] }, { providers: [at('second', second)] }]
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec: ${JSON.stringify({ ai: { groups } })}
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: evicting }
spec: ${JSON.stringify({ ai: { groups }, policies: { health: { eviction: { duration: '60s' } } } })}
`,
      routeYaml('chat', '/v1', 'models'),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: mixed }
spec: ${JSON.stringify({ ai: { groups: [{ providers: [{ ...at('first', first), ...MESSAGES }] }, groups[1]] } })}
`,
      routeYaml('mixed', '/mixed', 'mixed'),
      policyYaml('both', 'HTTPRoute', 'mixed', { traffic: { retry: { attempts: 1, codes: [529, 502] } } }),
      routeYaml('whole', '/whole', 'models'),
      policyYaml('whole', 'HTTPRoute', 'whole', { traffic: { retry: { attempts: 1, codes: [529, 503, 502] } } }),
      routeYaml('evicting', '/evicting', 'evicting'),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: guarded }
spec: ${JSON.stringify({ ai: { groups }, policies: { ai: { promptGuard: { response: [{ regex: { matches: ['bad'] } }] } } } })}
`,
      routeYaml('guarded', '/guarded', 'guarded'),
      policyYaml('guarded', 'HTTPRoute', 'guarded', { traffic: { retry: { attempts: 1, codes: [529, 503] } } }),
      routeYaml('read', '/read', 'models'),
      policyYaml('read', 'HTTPRoute', 'read', {
        traffic: {
          retry: { attempts: 1, codes: [529, 503] },
          transformation: { response: { set: [{ name: 'x-size', value: 'string(size(response.body))' }] } },
        },
      }),
      policyYaml('retry', 'HTTPRoute', 'chat', {
        traffic: { retry: { attempts: 1, codes: [529, 503] }, rateLimit: { local: [LIMIT] } },
      }),
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

/** Each model has tokens of its own. */
function post(model: string, prefix = '', stream = true): Promise<Response> {
  const messages = [{ role: 'user', content: 'Hi' }]
  return fetch(`${gateway.url(port)}${prefix}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-model': model },
    body: JSON.stringify({ model, stream, ...(stream && { stream_options: { include_usage: false } }), messages }),
  })
}

async function ask(model: string, prefix?: string): Promise<string> {
  const response = await post(model, prefix)
  expect(response.status).toBe(200)
  return response.text()
}

const MOVES = [
  'an overloaded model',
  'an error behind the role',
  'an empty stream',
  'only an end mark',
  'a break before content',
  'a short stream before content',
  'a busy server',
  'an error as a whole answer',
  'a whole answer that breaks off',
]

test.each(MOVES)('%s: the next provider answers, and the client sees nothing of the first one', async (model) => {
  expect(await ask(model)).toBe(GOOD)
  expect(asked.filter((each) => each.endsWith(` ${model}`))).toEqual([`first ${model}`, `second ${model}`])
})

test.each(['a fault of the client', 'an error behind content', 'a finished answer without content'])(
  '%s stays the answer',
  async (model) => {
    const text = await ask(model)
    expect(text).toBe(BAD[model]!.text)
    expect(asked.filter((each) => each.endsWith(` ${model}`))).toEqual([`first ${model}`])
  },
)

test('the decision record names each attempt with its reason', async () => {
  const retried = await eventually('the records', async () => {
    const answer = await fetch(`${gateway.url(15_000)}/decisions?limit=50`)
    const records = (await answer.json()) as { attempts: { status: number; detail?: string }[] }[]
    const found = records.filter(({ attempts }) => attempts.length === 2)
    return found.length === MOVES.length ? found : undefined
  })
  const statuses = retried.map(({ attempts }) => attempts.map(({ status }) => status))
  expect(statuses.toSorted()).toEqual([...Array.from({ length: 8 }, () => [200, 200]), [503, 200]])
  const reasons = retried.map(({ attempts }) => attempts[0]!.detail)
  expect(new Set(reasons)).toEqual(
    new Set([
      "the provider's response failed: overloaded_error",
      "the provider's stream ended early: incomplete",
      "the provider's stream ended early: reset",
      'retry-after: 7',
    ]),
  )
})

test.each<[model: string, detail: string]>([
  ['an overloaded model', "the provider's response failed: overloaded_error"],
  ['an empty stream', "the provider's stream ended early: incomplete"],
])('%s: the next provider answers in another dialect, streamed or not', async (model, detail) => {
  for (const stream of [true, false]) {
    const response = await fetch(`${gateway.url(port)}/mixed/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    const text = await response.text()
    // The second provider always streams.
    if (stream) expect([response.status, text]).toEqual([200, GOOD])
    else expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: 'good' }, finish_reason: 'stop' }] })
  }
  await eventually('the records', async () => {
    const answer = await fetch(`${gateway.url(15_000)}/decisions?limit=2`)
    const records = (await answer.json()) as { attempts: { detail?: string }[] }[]
    return records.every(({ attempts }) => attempts.length === 2 && attempts[0]!.detail === detail) || undefined
  })
})

test('a failed attempt is charged if its provider reported tokens', async () => {
  expect(await ask('a paid error')).toBe(GOOD)
  await eventually('429', async () => (await post('a paid error')).status === 429 || undefined)
})

test.each([...MOVES, 'an error behind content'])(
  '%s: the next provider answers a client that wants a whole answer',
  async (model) => {
    const before = asked.length
    const response = await post(model, '/whole', false)
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'good' }, finish_reason: 'stop' }] })
    expect(asked.slice(before)).toEqual([`first ${model}`, `second ${model}`])
  },
)

test.each([
  ['a paid whole answer', true],
  ['a paid stream', false],
])('%s is charged, although the client asked for the other form', async (model, stream) => {
  const response = await post(model, '', stream)
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"content":"good"')])
  await eventually('429', async () => (await post(model, '', stream)).status === 429 || undefined)
})

test('an eviction names the status of the error in the stream', async () => {
  expect(await ask('an overloaded model', '/evicting')).toContain('overloaded_error')
  const line = await eventually(
    'the eviction',
    () => /an endpoint is evicted.*default\/evicting.*/.exec(gateway.output.stderr)?.[0],
  )
  expect(line).toMatch(/ last="status 529"$/)
})

test.each(['/guarded', '/read'])(
  '%s: the next provider answers, too, if a whole answer is read that breaks off',
  async (prefix) => {
    const before = asked.length
    expect(await ask('a whole answer that breaks off', prefix)).toBe(GOOD)
    expect(asked.slice(before)).toEqual([
      'first a whole answer that breaks off',
      'second a whole answer that breaks off',
    ])
  },
)
