import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
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
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Guard servers that do not answer as they should about what a model wrote: nothing of it passes, and the provider is not blamed. */

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number
let judge: JsonServer
let first: JsonServer
let second: JsonServer

/** Texts that fill a window each. */
const GOOD = 'good '.repeat(300)
const LATE = 'late '.repeat(300)

beforeAll(async () => {
  judge = stops.use(await startJsonServer())
  first = stops.use(await startJsonServer())
  second = stops.use(await startJsonServer())
  port = await freePort()
  const groups = [first, second].map((server, index) => ({
    providers: [{ name: ['first', 'second'][index], providerOne: {}, host: '127.0.0.1', port: server.port }],
  }))
  const backend = (name: string) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({
    ai: { groups },
    policies: {
      ai: { promptGuard: { response: [{ webhook: { backendRef: backendRef(`judge-of-${name}`) } }] } },
      health: { eviction: { duration: '60s', consecutiveFailures: 1 } },
    },
  })}
`
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      ...Object.keys(FAULTS).flatMap((name) => [
        backend(name),
        backendYaml(`judge-of-${name}`, judge.port),
        ...(name.startsWith('slow')
          ? [policyYaml(`limit-of-${name}`, 'ProxyBackend', `judge-of-${name}`, { backend: FAULT_LIMIT })]
          : []),
        routeYaml(name, `/${name}`, name),
      ]),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})
afterAll(() => stops.disposeAsync())

const event = (delta: object) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`

/** The provider says so, in a stream if the client wants one. */
function says(server: JsonServer, ...texts: readonly string[]): void {
  server.answer = ({ body }, response) => {
    if ((body as { stream?: boolean }).stream !== true) {
      const message = { role: 'assistant', content: texts.join('') }
      return answerJson(response, { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] })
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const content of texts) response.write(event({ content }))
    response.end('data: [DONE]\n\n')
  }
}

beforeEach(() => {
  judge.answer = (_, response) => allows()(response)
  says(first, 'first')
  says(second, 'second')
})

const ask = (name: string, stream: boolean) =>
  fetch(`${gateway.url(port)}/${name}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] }),
  })

const FAILED = { error: { message: 'prompt guard failed', type: 'server_error', param: null } }

for (const [name, fault] of Object.entries(FAULTS)) {
  const ended = <T>(awaited: Promise<T>) => (name.startsWith('slow') ? time.hurry(awaited) : awaited)

  test.each([false, true])(`${name}: 503 before anything of the answer has left; streamed: %j`, async (stream) => {
    says(first, LATE)
    judge.answer = (_, response) => fault(response)
    const response = await ended(ask(name, stream))
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject(FAILED)
    judge.answer = (_, response) => allows()(response)
    says(first, 'first')
    // The provider stays healthy.
    expect(await (await ask(name, stream)).text()).toContain('first')
  })

  test(`${name}: what follows text that has left does not leave, and the stream has no end mark`, async () => {
    says(first, GOOD, LATE)
    judge.answer = ({ body }, response) => (JSON.stringify(body).includes('late') ? fault : allows())(response)
    const response = await ask(name, true)
    expect(response.status).toBe(200)
    const events = (await ended(response.text())).trimEnd().split('\n\n')
    expect(events.length).toBe(2)
    expect(`${events[0]}\n\n`).toBe(event({ content: GOOD }))
    expect(JSON.parse(events[1]!.replace('data: ', ''))).toMatchObject({
      error: { code: 'guardrail_intervention', message: 'prompt guard failed' },
    })
    judge.answer = (_, response) => allows()(response)
    says(first, 'first')
    expect(await (await ask(name, true)).text()).toContain('first')
  })
}

test('no text of an answer is in the log', () => {
  const { stdout, stderr } = gateway.output
  expect(stdout).toMatch(/promptGuard\.response\[0\]: webhook default\/[\w-]+: timeout/)
  for (const text of ['good good', 'late late']) expect(stdout + stderr).not.toContain(text)
})
