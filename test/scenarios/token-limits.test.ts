import { type ClientRequest, createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DescribedRecord } from '#admin/describe-record.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// What a token limit is charged for requests that several workers handle at the same time. A bucket of an hour gets nothing back meanwhile.

const CAPACITY = 100_000
const REQUESTS = 24

const usage = (prompt: number, completion: number) => ({
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
})
const WORDS = 'the weather in Ulm is fine today '.repeat(10)
const whole = { id: 'c', model: 'm', choices: [{ index: 0, message: { content: WORDS }, finish_reason: 'stop' }] }
const data = (chunk: object | string) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`
const chunk = (delta: object, more: object = {}) =>
  data({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...more })
const counts = (used: object) => data({ id: 'c', model: 'm', choices: [], ...used })
const end = data({ id: 'c', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })

function json(response: ServerResponse, answer: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(answer))
}

function events(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'text/event-stream')
  response.end(text)
}

interface Case {
  readonly body?: object
  readonly answer: (response: ServerResponse) => void
  /** The client leaves with the first text. */
  readonly leaves?: boolean
  /** Tokens of a request; undefined: an estimate, the same for each. */
  readonly tokens: number | undefined
}

const stream = { stream: true }

const CASES: Readonly<Record<string, Case>> = {
  whole: { answer: (response) => json(response, { ...whole, ...usage(5, 3) }), tokens: 8 },
  streamed: {
    body: { ...stream, stream_options: { include_usage: true } },
    answer: (response) => events(response, chunk({ content: 'a' }) + end + counts(usage(6, 5)) + data('[DONE]')),
    tokens: 11,
  },
  'usage that the client declines': {
    body: { ...stream, stream_options: { include_usage: false } },
    answer: (response) => events(response, chunk({ content: 'a' }) + end + counts(usage(7, 6)) + data('[DONE]')),
    tokens: 13,
  },
  compressed: {
    answer: (response) => {
      response.setHeader('content-type', 'application/json')
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(JSON.stringify({ ...whole, ...usage(9, 8) })))
    },
    tokens: 17,
  },
  'without usage': { answer: (response) => json(response, whole), tokens: undefined },
  'stream without usage': {
    body: stream,
    answer: (response) => events(response, chunk({ content: WORDS }) + end + data('[DONE]')),
    tokens: undefined,
  },
  'a client that leaves': {
    body: stream,
    answer: (response) => {
      response.setHeader('content-type', 'text/event-stream')
      response.write(chunk({ content: WORDS }))
    },
    leaves: true,
    tokens: undefined,
  },
  'the second of two providers': {
    body: stream,
    answer: (response) => events(response, chunk({ content: 'a' }) + end + counts(usage(10, 9)) + data('[DONE]')),
    // The first one reports 4 before it fails.
    tokens: 4 + 19,
  },
}

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number

beforeAll(async () => {
  const start = async (answer: (name: string, response: ServerResponse) => void) => {
    const server = createServer((incoming, response) => {
      incoming.resume().on('end', () => answer(decodeURIComponent(String(incoming.headers['x-case'])), response))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stops.defer(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  }
  const good = await start((name, response) => CASES[name]!.answer(response))
  const bad = await start((_, response) =>
    events(response, counts(usage(4, 0)) + data({ error: { type: 'server_error', message: 'overloaded' } })),
  )
  port = await freePort()
  const provider = (name: string, at: number) => ({ name, providerOne: {}, host: '127.0.0.1', port: at })
  const backend = (name: string, ai: object) =>
    `\napiVersion: gatewright.dev/v1alpha1\nkind: ProxyBackend\nmetadata: { name: ${name} }\nspec: ${JSON.stringify({ ai })}\n`
  const local = [{ tokens: CAPACITY, unit: 'Hours', key: 'request.headers["x-case"]' }]
  const retry = { retry: { codes: [500], attempts: 1 } }
  const names = ['one', 'two']
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('one', { groups: [{ providers: [provider('good', good)] }] }),
      backend('two', { groups: [{ providers: [provider('bad', bad)] }, { providers: [provider('good', good)] }] }),
      ...names.map((name) => routeYaml(name, `/${name}`, name)),
      ...names.map((name) =>
        policyYaml(name, 'HTTPRoute', name, { traffic: { rateLimit: { local }, ...(name === 'two' && retry) } }),
      ),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

/** Sends a request on a connection of its own. @returns what the limit had left before it */
function ask(name: string, { body, leaves = false }: Case): Promise<number> {
  const path = name === 'the second of two providers' ? '/two' : '/one'
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-case': encodeURIComponent(name) }
    const sent: ClientRequest = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const left = Number(response.headers['x-ratelimit-remaining'])
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
      response.on('data', () => {
        if (!leaves) return
        sent.off('error', reject).on('error', () => {})
        response.destroy()
        resolve(left)
      })
      response.on('end', () => resolve(left))
      response.on('error', () => {})
    })
    sent.end(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'How is the weather?' }], ...body }))
  })
}

/** The workers of the last requests. */
async function workersOf(count: number): Promise<Set<unknown>> {
  const records = (await (await fetch(`${gateway.url(15_000)}/decisions?limit=${count}`)).json()) as DescribedRecord[]
  return new Set(records.map(({ worker }) => worker))
}

for (const [name, each] of Object.entries(CASES)) {
  test(`${name}: all workers charge a limit exactly once for each attempt`, async () => {
    // The charge follows the response. A request that only reads the limit is charged, too.
    let requests = 1
    expect(await ask(name, each)).toBe(CAPACITY)
    const tokens = await eventually('the first charge', async () => {
      const charged = CAPACITY - (await ask(name, each))
      requests++
      return charged > 0 ? charged : undefined
    })
    if (each.tokens !== undefined) expect(tokens).toBe(each.tokens)
    else expect(tokens).toBeGreaterThan(60)
    await Promise.all(Array.from({ length: REQUESTS }, () => ask(name, each)))
    requests += REQUESTS
    await eventually('all charges', async () => {
      const charged = CAPACITY - (await ask(name, each))
      const isComplete = charged === requests * tokens
      requests++
      return isComplete || undefined
    })
    expect(await workersOf(REQUESTS)).toHaveProperty('size', 2)
  })
}
