import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { allows, FAULT_LIMIT, FAULTS } from '#test/support/guard-server-faults.ts'
import { answerJson, type JsonServer, startJsonServer } from '#test/support/json-server.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

/** Guard servers that do not answer as they should: nothing passes, and the provider is not blamed. */

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number
let judge: JsonServer
let first: JsonServer
let second: JsonServer

const OTHERS = ['circuit', 'left', 'retried', 'forwarding']

const guardBy = (server: string) => ({ webhook: { backendRef: backendRef(server) } })
/** By a ProxyBackend, and by a Service. */
const FORWARDING = {
  request: [
    {
      webhook: { ...guardBy('judge-of-forwarding').webhook, forwardHeaderMatches: [{ name: 'X-Team', value: 'red' }] },
    },
    guardBy('judge-of-forwarding'),
  ],
  response: [
    {
      webhook: {
        backendRef: { name: 'judge-service', port: 80 },
        forwardHeaderMatches: [{ type: 'RegularExpression', name: 'x-model', value: 'm-[0-9]' }],
      },
    },
  ],
}

beforeAll(async () => {
  judge = stops.use(await startJsonServer())
  first = stops.use(await startJsonServer())
  second = stops.use(await startJsonServer())
  port = await freePort()
  const backend = (name: string) => {
    const providers = [first, second].map((server, index) => ({
      providers: [{ name: ['first', 'second'][index], providerOne: {}, host: '127.0.0.1', port: server.port }],
    }))
    const guards = { request: [guardBy(`judge-of-${name}`)] }
    const promptGuard = name === 'forwarding' ? FORWARDING : guards
    const policies = { ai: { promptGuard }, health: { eviction: { duration: '60s', consecutiveFailures: 1 } } }
    return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai: { groups: providers }, policies })}
`
  }
  const retried = routeYaml('retried', '/retried', 'retried', '      retry: { attempts: 2, codes: [500, 503] }\n')
  const names = [...Object.keys(FAULTS), ...OTHERS]
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      serviceYaml('judge-service', [judge.port]),
      ...names.flatMap((name) => [
        backend(name),
        backendYaml(`judge-of-${name}`, judge.port),
        policyYaml(`limit-of-${name}`, 'ProxyBackend', `judge-of-${name}`, {
          backend: {
            ...(name.startsWith('slow') && FAULT_LIMIT),
            transformation: { request: { set: [{ name: 'x-of', value: JSON.stringify(name) }] } },
          },
        }),
        ...(name === 'retried' ? [retried] : [routeYaml(name, `/${name}`, name)]),
      ]),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})
afterAll(() => stops.disposeAsync())

const says = (content: string) => {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  return allows({ id: 'c', model: 'm', choices })
}

beforeEach(() => {
  for (const { seen } of [judge, first, second]) seen.length = 0
  judge.answer = (_, response) => allows()(response)
  first.answer = (_, response) => says('first')(response)
  second.answer = (_, response) => says('second')(response)
})

const PROMPT = 'a-guarded-prompt'
const ask = (name: string, init: RequestInit = {}, path = 'chat/completions') =>
  fetch(`${gateway.url(port)}/${name}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: PROMPT }] }),
    ...init,
  })
interface ChatAnswer {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
}
const contentOf = async (response: Response) => ((await response.json()) as ChatAnswer).choices[0]!.message.content
const askedOf = (name: string) => judge.seen.filter(({ headers }) => headers['x-of'] === name).length

test.each(Object.entries(FAULTS))('%s: 503, the provider is not asked, and stays healthy', async (name, answer) => {
  judge.answer = (_, response) => answer(response)
  const response = await (name.startsWith('slow') ? time.hurry(ask(name)) : ask(name))
  expect(response.status).toBe(503)
  expect(await response.json()).toEqual({
    error: { message: 'prompt guard failed', type: 'server_error', param: null, code: 'prompt-guard-failed' },
  })
  expect([first.seen, second.seen]).toEqual([[], []])
  expect(judge.seen).toMatchObject([{ path: '/request' }])
  judge.answer = (_, response) => allows()(response)
  expect(await contentOf(await ask(name))).toBe('first')
})

test('the log says why, without what was guarded', async () => {
  const lines = await eventually('the failures are logged', () => {
    const found = Object.keys(FAULTS).map((name) => new RegExp(`.*/${name}/v1.*`).exec(gateway.output.stdout)?.[0])
    return found.every((line) => line !== undefined) ? found : undefined
  })
  const reasons = Object.fromEntries(Object.keys(FAULTS).map((name, index) => [name, lines[index]]))
  expect(reasons).toMatchObject({
    slow: expect.stringMatching(/promptGuard\.request\[0\]: webhook default\/[\w-]+: timeout/),
    huge: expect.stringContaining('larger than 2097152 bytes'),
    compressed: expect.stringContaining('compressed'),
    redirect: expect.stringContaining('answered 307'),
    html: expect.stringContaining('not JSON'),
    'too-few-texts': expect.stringContaining('does not return a text for each text'),
  })
  expect(gateway.output.stdout + gateway.output.stderr).not.toContain(PROMPT)
})

const metrics = async () => (await fetch(`${gateway.url(15020)}/metrics`)).text()
const openCircuits = async () =>
  /guardrail_open_circuits\{phase="request",kind="webhook",backend="default\/judge-of-circuit"\} (\d+)/.exec(
    await metrics(),
  )?.[1]
const statusOfCircuits = async () => {
  const status = (await (await fetch(`${gateway.url(15000)}/status`)).json()) as { readonly openCircuits: unknown[] }
  return status.openCircuits
}

test('after five failures in a row a server is asked no more, until a probe', async () => {
  judge.answer = (_, response) => FAULTS.fault!(response)
  for (let each = 0; each < 4; each++) expect((await ask('circuit')).status).toBe(503)
  expect(await openCircuits()).toBe('0')
  for (let each = 0; each < 4; each++) expect((await ask('circuit')).status).toBe(503)
  expect(askedOf('circuit')).toBe(5)
  expect(await openCircuits()).toBe('1')
  expect(await statusOfCircuits()).toEqual([
    {
      guard: 'ProxyBackend/default/circuit spec.policies.ai.promptGuard.request[0]',
      kind: 'webhook',
      backend: 'ProxyBackend/default/judge-of-circuit',
    },
  ])
  judge.answer = (_, response) => allows()(response)
  await time.sooner('the probe', async () => ((await ask('circuit')).status === 200 ? true : undefined))
  expect(askedOf('circuit')).toBe(6)
  expect((await ask('circuit')).status).toBe(200)
  expect(await openCircuits()).toBe('0')
  expect(await statusOfCircuits()).toEqual([])
  const lines = await eventually('both changes are logged', () => {
    const found = gateway.output.stderr.split('\n').filter((line) => line.includes('default/judge-of-circuit'))
    return found.length === 2 ? found : undefined
  })
  expect(lines[0]).toMatch(/\twarn\tthe service of a prompt guard failed 5 times in a row, and is asked once a second/)
  expect(lines[0]).toMatch(/cause="?the service answered 500"?/)
  expect(lines[1]).toMatch(/\tinfo\tthe service of a prompt guard answers again/)
  const failed = Number(
    /guardrail_checks_total\{phase="request",kind="webhook",action="Fail"\} (\d+)/.exec(await metrics())?.[1],
  )
  expect(failed).toBeGreaterThanOrEqual(8)
})

test('a client that leaves ends the question', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  judge.answer = (_, response) => asked.resolve(response)
  const client = new AbortController()
  const answered = ask('left', { signal: client.signal }).catch((error: Error) => error.name)
  const response = await asked.promise
  const closed = new Promise((resolve) => response.on('close', resolve))
  client.abort()
  expect(await answered).toBe('AbortError')
  await closed
  answerJson(response, { action: {} })
  expect([first.seen, second.seen]).toEqual([[], []])
})

test('a server is asked once about a request that is retried, and moves to the next group', async () => {
  first.answer = (_, response) => answerJson(response, { error: { message: 'down' } }, 503)
  judge.answer = (_, response) => {
    const messages = [{ role: 'user', content: 'masked' }]
    answerJson(response, { action: { body: { messages } } })
  }
  expect(await contentOf(await ask('retried'))).toBe('second')
  expect(askedOf('retried')).toBe(1)
  const sent = [...first.seen, ...second.seen].map(({ body }) => (body as { messages: unknown }).messages)
  expect(sent.length).toBeGreaterThan(1)
  expect(new Set(sent.map((messages) => JSON.stringify(messages)))).toEqual(
    new Set(['[{"role":"user","content":"masked"}]']),
  )
})

test('a guard that fails is not retried', async () => {
  judge.answer = (_, response) => FAULTS.fault!(response)
  expect((await ask('retried')).status).toBe(503)
  expect(askedOf('retried')).toBe(1)
})

verifies(
  [
    'backend.ai.promptGuard.webhook/called',
    'backend.ai.promptGuard.webhook/backendRef-kinds',
    'backend.ai.promptGuard.webhook/forward-request-headers',
    'backend.ai.promptGuard.webhook/forward-response-headers',
    'backend.ai.promptGuard.webhook/forward-none',
  ],
  'servers of both kinds are asked about both directions, with the headers of the message that match',
  async () => {
    first.answer = (_, response) => {
      response.setHeader('x-model', 'm-7')
      response.setHeader('x-team', 'red')
      says('fine')(response)
    }
    const headers = { 'content-type': 'application/json', 'x-team': 'red', 'x-model': 'm-8' }
    expect(await contentOf(await ask('forwarding', { headers }))).toBe('fine')
    const forwarded = judge.seen.map(({ path, headers: got }) => [path, got['x-team'], got['x-model']])
    expect(forwarded).toEqual([
      ['/request', 'red', undefined],
      ['/request', undefined, undefined],
      ['/response', undefined, 'm-7'],
    ])
  },
)
