import { readFileSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { modelsYaml, startChatProvider } from '#test/support/chat-provider.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const _ROOT = join(import.meta.dirname, '..', '..')
const BY_CALLER = 'request.headers["x-caller"]'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let objects: ObjectsFolder
let state: ObjectsFolder
let port: number

const limit = (entry: object) => ({ traffic: { rateLimit: { local: [{ unit: 'Hours', ...entry }] } } })

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const provider = stops.use(await startChatProvider())
  port = await freePort()
  objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      modelsYaml('models', provider.port),
      routeYaml('all', '/', 'echo'),
      routeYaml('limited', '/limited', 'echo'),
      routeYaml('sprayed', '/sprayed', 'echo'),
      routeYaml('chat', '/v1', 'models'),
      policyYaml('sprayed', 'HTTPRoute', 'sprayed', limit({ requests: 2, key: BY_CALLER })),
      policyYaml('chat', 'HTTPRoute', 'chat', limit({ tokens: 10, key: BY_CALLER })),
    ),
    'limited.yaml': policyYaml('limited', 'HTTPRoute', 'limited', limit({ requests: 5, key: BY_CALLER })),
  })
  stops.defer(objects.remove)
  state = await createObjectsFolder({})
  stops.defer(state.remove)
  gateway = await startGateway({ files: [objects.path], stateFolder: state.path })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** One request; without an agent on a connection of its own, so that the kernel chooses a worker each time. */
function ask(path: string, caller?: string, { agent, body }: { agent?: Agent; body?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { ...(caller === undefined ? {} : { 'x-caller': caller }), 'content-type': 'application/json' }
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: agent ?? false }, (response) => {
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'yes?' }] })

const chat = async (caller: string) => (await ask('/v1/chat/completions', caller, { body: CHAT })).status

test('two workers let exactly 5 requests of each caller through', async () => {
  const callers = ['caller-alice', 'caller-bob']
  const answers = await Promise.all(
    callers.flatMap((caller) =>
      Array.from({ length: 20 }, async () => ({ caller, ...(await ask('/limited', caller)) })),
    ),
  )
  for (const caller of callers) {
    const statuses = answers.filter((answer) => answer.caller === caller).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
  }
  const { status, headers } = await ask('/limited', 'caller-carol')
  expect(status).toBe(200)
  expect(headers).toMatchObject({ 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' })
})

test('requests without a value share one limit of their own', async () => {
  const statuses = []
  for (let i = 0; i < 6; i++) statuses.push((await ask('/limited')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
})

test('the record and the log name the entry that refused; the client and the value of the key stay out', async () => {
  const response = await eventually('a refusal', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/limited`, { headers: { 'x-caller': 'caller-alice' } })
    return answer.status === 429 ? answer : undefined
  })
  expect(await response.text()).toMatch(
    /^rate limit exceeded: 5 requests per hour; wait until \d{4}-\d\d-\d\dT[\d:]{8}Z$/,
  )
  expect([...response.headers].join()).not.toContain('ProxyPolicy')
  const reset = Number(response.headers.get('x-ratelimit-reset'))
  expect(Number(response.headers.get('retry-after')) - reset).toBeLessThanOrEqual(1)
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(Math.max(1, reset))
  const entry = /^ProxyPolicy default\/limited \(.*limited\.yaml:\d+\), spec\.traffic\.rateLimit\.local\[0\]$/
  const records = await (await fetch(`${gateway.url(15_000)}/decisions?code=rate-limited&limit=1`)).json()
  expect(records).toMatchObject([{ status: 429, detail: expect.stringMatching(entry) }])
  expect(JSON.stringify(records)).not.toContain('caller-alice')
  await eventually('a log line', () => gateway.output.stdout.includes('spec.traffic.rateLimit.local[0]') || undefined)
  expect(gateway.output.stdout).not.toContain('caller-alice')
})

test('one client that sprays values gives no caller a new quota', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  stops.defer(() => agent.destroy())
  expect((await ask('/sprayed', 'used', { agent })).status).toBe(200)
  expect((await ask('/sprayed', 'used', { agent })).status).toBe(200)
  const sprayed = await Promise.all(Array.from({ length: 3000 }, (_, i) => ask('/sprayed', `spray-${i}`, { agent })))
  expect(new Set(sprayed.map(({ status }) => status))).toEqual(new Set([200]))
  const again = await Promise.all(Array.from({ length: 8 }, () => ask('/sprayed', 'used')))
  expect(new Set(again.map(({ status }) => status))).toEqual(new Set([429]))
})

test('tokens of LLM calls count for the caller that used them', async () => {
  expect(await chat('caller-alice')).toBe(200)
  await eventually('two calls are charged', async () => {
    if ((await chat('caller-alice')) === 429) return true
    return undefined
  })
  expect(await chat('caller-bob')).toBe(200)
})

test('a change that leaves the limit as it is keeps its levels; another limit starts unused', async () => {
  const entry = { requests: 5, key: BY_CALLER, unit: 'Hours' }
  const policy = (local: object[]) =>
    policyYaml('limited', 'HTTPRoute', 'limited', { traffic: { rateLimit: { local } } })
  await objects.write('limited.yaml', policy([{ requests: 1000, unit: 'Minutes' }, entry]))
  await eventually('the new plan', async () => (await ask('/limited', 'new-1')).headers['x-ratelimit-limit'] === '5')
  expect((await ask('/limited', 'caller-alice')).status).toBe(429)
  await objects.write('limited.yaml', policy([{ ...entry, burst: 1 }]))
  await eventually('another limit', async () => (await ask('/limited', 'new-2')).headers['x-ratelimit-limit'] === '6')
  expect((await ask('/limited', 'caller-alice')).status).toBe(200)
})

test('a restart keeps the levels of all limits, and nothing that is written names a caller', async () => {
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const dump = await (await fetch(`${gateway.url(15_000)}/status`)).text()
  expect(await gateway.close()).toBe(0)
  const file = readFileSync(join(state.path, 'rate-limits.json'), 'utf8')
  for (const text of [gateway.output.stdout, gateway.output.stderr, metrics, dump, file]) {
    expect(text).not.toMatch(/caller-(?:alice|bob|carol)|spray-\d/)
  }
  for (const text of ['x-caller', 'limited', 'HTTPRoute']) expect(file).not.toContain(text)
  gateway = await startGateway({ files: [objects.path], stateFolder: state.path })
  const used = await Promise.all(Array.from({ length: 8 }, () => ask('/sprayed', 'used')))
  expect(new Set(used.map(({ status }) => status))).toEqual(new Set([429]))
  expect((await ask('/sprayed', 'spray-7')).headers['x-ratelimit-remaining']).toBe('0')
  expect((await ask('/sprayed', 'unknown')).headers['x-ratelimit-remaining']).toBe('1')
  expect(await chat('caller-alice')).toBe(429)
  expect(await chat('caller-bob')).toBe(200)
})

test('explain names the limit and the value, and takes nothing', async () => {
  const explain = async (...flags: string[]) => {
    const words = ['explain', '-f', objects.path, `http://127.0.0.1:${port}/limited`, ...flags]
    return (await gatewright(words)).stdout
  }
  expect(await explain('-H', 'x-caller: dora')).toContain(
    `local rate limits (current usage is not checked; callers over the limit are refused)\n  at most 6 requests within an hour, for each ${BY_CALLER}: this one is "dora"\n`,
  )
  expect(await explain()).toContain(
    `  at most 6 requests within an hour, for all requests without a value of ${BY_CALLER}\n`,
  )
  expect((await ask('/limited', 'dora')).headers['x-ratelimit-remaining']).toBe('5')
})
