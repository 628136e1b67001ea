import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

interface Asked {
  readonly name: string
  readonly headers: IncomingMessage['headers']
}

const ANSWERS = {
  chat: {
    id: 'c',
    model: 'm-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'heard' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  },
  messages: {
    id: 'm',
    model: 'c-1',
    role: 'assistant',
    content: [{ type: 'text', text: 'read' }],
    stop_reason: 'end_turn',
  },
}

/** Chat completions carry it, messages do not. */
const AUDIO = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
const TEXT = { type: 'text', text: 'Hi' }
const NO_AUDIO = 'messages[0].content[0]: the provider of this request does not accept audio'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let objects: ObjectsFolder
let port: number
let asked: Asked[] = []
let requests = 0
/** How many requests the server of that name refuses with 503. */
const busy = new Map<string, number>()

async function startProvider(name: string, answer: object): Promise<number> {
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    incoming.resume().on('end', () => {
      asked.push({ name, headers: incoming.headers })
      const left = busy.get(name) ?? 0
      busy.set(name, left - 1)
      response.writeHead(left > 0 ? 503 : 200, { 'content-type': 'application/json' })
      response.end(left > 0 ? '{}' : JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const [chat, messages] = [
    await startProvider('chat', ANSWERS.chat),
    await startProvider('messages', ANSWERS.messages),
  ]
  port = await freePort()
  const at = { host: '127.0.0.1' }
  const claude = (name: string) => ({ name, providerFour: {}, ...at, port: messages })
  const open = { name: 'open', providerOne: {}, ...at, port: chat }
  const groups = (...providers: object[]) => providers.map((each) => ({ providers: [each] }))
  const backends = {
    // An eviction would show: it takes a single failure.
    claudefirst: groups(claude('claude'), open),
    openfirst: groups(open, claude('claude')),
    claudes: groups(claude('one'), claude('two')),
    once: groups(claude('claude'), open),
  }
  const health = { eviction: { duration: '60s', consecutiveFailures: 1 } }
  objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      ...Object.entries(backends).flatMap(([name, ai]) => [
        `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai: { groups: ai }, ...(name === 'claudefirst' && { policies: { health } }) })}
`,
        routeYaml(name, `/${name}`, name),
        ...(name === 'once'
          ? []
          : [policyYaml(name, 'HTTPRoute', name, { traffic: { retry: { attempts: 1, codes: [503] } } })]),
      ]),
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

interface Recorded {
  readonly attempts: readonly object[]
}

/** @returns status, what the model or the error says, names of the servers asked, attempts in the record */
async function ask(backend: string, content: object) {
  asked = []
  const target = `/${backend}/chat/completions?request=${++requests}`
  const response = await fetch(`${gateway.url(port)}${target}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: [content] }] }),
  })
  const { choices, error } = (await response.json()) as {
    choices?: { message: { content: string } }[]
    error?: { message: string }
  }
  const record = await eventually('the record', async () => {
    const answer = await fetch(`${gateway.url(15_000)}/decisions?limit=1`)
    const [last] = (await answer.json()) as (Recorded & { target: string })[]
    return last?.target === target ? last : undefined
  })
  return [
    response.status,
    choices?.[0]?.message.content ?? error?.message,
    asked.map(({ name }) => name),
    record.attempts,
  ] as const
}

const UNFIT = { section: 'claude', status: 0, unfit: 'llm-body-invalid' }

test('a provider that cannot carry the request leaves it to the next one, without counting as failed', async () => {
  const [status, text, names, attempts] = await ask('claudefirst', AUDIO)
  expect([status, text, names]).toEqual([200, 'heard', ['chat']])
  expect(attempts).toMatchObject([
    { ...UNFIT, detail: `${NO_AUDIO} (for anthropic, model m)` },
    { section: 'open', status: 200 },
  ])
  // It is not a retry.
  expect(asked[0]!.headers).not.toHaveProperty('x-retry-attempt')
  expect(await ask('claudefirst', TEXT)).toMatchObject([
    200,
    'read',
    ['messages'],
    [{ section: 'claude', status: 200 }],
  ])
})

test('attempts are left for the providers that can take the request', async () => {
  busy.set('chat', 1)
  const [status, text, names, attempts] = await ask('openfirst', AUDIO)
  expect([status, text, names]).toEqual([200, 'heard', ['chat', 'chat']])
  expect(attempts).toMatchObject([{ section: 'open', status: 503 }, UNFIT, { section: 'open', status: 200 }])
  expect(asked[1]!.headers['x-retry-attempt']).toBe('1')
})

test('the answer of a provider that took the request is that of the client', async () => {
  busy.set('chat', 2)
  const [status, , names] = await ask('openfirst', AUDIO)
  expect([status, names]).toEqual([503, ['chat', 'chat']])
})

test('if no provider can take the request, the client gets the reason of the preferred one', async () => {
  const [status, text, names, attempts] = await ask('claudes', AUDIO)
  expect([status, text, names]).toEqual([400, `invalid request body: ${NO_AUDIO}`, []])
  expect(attempts).toMatchObject([
    { ...UNFIT, section: 'one' },
    { ...UNFIT, section: 'two' },
  ])
})

test('explain names the provider that cannot take the request, and shows the request to the next one', async () => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: [AUDIO] }] })
  const url = `http://127.0.0.1:${port}/claudefirst/chat/completions`
  const { stdout } = await gatewright(['explain', '-f', objects.path, 'POST', url, '-d', body])
  expect(stdout).toContain(`cannot take the request: llm-body-invalid, ${NO_AUDIO} (for anthropic, model m)`)
  expect(stdout).toMatch(/> 127\.0\.0\.1:\d+ \(open\), priority 2/)
})

test('without a retry policy a request has one provider', async () => {
  expect(await ask('once', AUDIO)).toMatchObject([400, `invalid request body: ${NO_AUDIO}`, [], []])
})
