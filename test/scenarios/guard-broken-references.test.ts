import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { answerJson, type JsonServer, startJsonServer } from '#test/support/json-server.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Response guards whose service cannot be asked as it is configured: the provider is not paid for an answer that can never leave. */

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
let provider: JsonServer
let judge: JsonServer
let folder: ObjectsFolder

const webhook = (reference: object) => ({ webhook: { backendRef: reference } })
/** Guards that cannot run, and the findings for their policies, by fault. */
const GUARDS: Readonly<Record<string, readonly [guard: object, findings: readonly string[]]>> = {
  missing: [webhook(backendRef('absent')), ['backend-not-found']],
  'no-port': [webhook({ name: 'judge-service', port: 81 }), ['backend-port-unknown']],
  'not-permitted': [
    webhook({ ...backendRef('judge'), namespace: 'elsewhere' }),
    ['reference-not-permitted', 'guard-not-runnable'],
  ],
  'broken-backend': [webhook(backendRef('judge-without-key')), ['guard-not-runnable']],
  'no-address': [webhook(backendRef('anywhere')), ['backend-without-address']],
  'own-service': [
    {
      guardrailsServiceTwo: {
        ...{ templateId: 't', projectId: 'p' },
        policies: { auth: { cloudThree: { secretRef: { name: 'absent' } } } },
      },
    },
    ['secret-not-found'],
  ],
}

function objects(more: readonly string[] = []): string {
  const routes = { '/messages': 'Messages', '/realtime': 'Realtime', '*': 'Completions' }
  return joinYaml(
    gatewayYaml(port),
    serviceYaml('judge-service', [judge.port]),
    backendYaml('judge', judge.port),
    `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: judge-without-key }
spec: { static: { host: 127.0.0.1, port: ${judge.port} }, policies: { auth: { secretRef: { name: absent } } } }
`,
    `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: anywhere }
spec: { dynamicForwardProxy: {} }
`,
    ...Object.entries(GUARDS).flatMap(([name, [guard]]) => [
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: { ai: { provider: { providerOne: {}, host: 127.0.0.1, port: ${provider.port} } } }
`,
      routeYaml(name, `/${name}`, name),
      policyYaml(name, 'ProxyBackend', name, { backend: { ai: { routes, promptGuard: { response: [guard] } } } }),
    ]),
    ...more,
  )
}

beforeAll(async () => {
  provider = stops.use(await startJsonServer())
  judge = stops.use(await startJsonServer())
  judge.answer = (_, response) => answerJson(response, { action: {} })
  provider.answer = (_, response) => {
    const message = { role: 'assistant', content: 'fine' }
    answerJson(response, { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] })
  }
  port = await freePort()
  folder = await createObjectsFolder({ 'all.yaml': objects() })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})
afterAll(() => stops.disposeAsync())
beforeEach(() => {
  for (const { seen } of [provider, judge]) seen.length = 0
})

const ask = (name: string, path: string, stream: boolean) =>
  fetch(`${gateway.url(port)}/${name}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
  })

/** Asks for a session. @returns the status and the body of the refusal */
function open(name: string): Promise<[status: number | undefined, body: unknown]> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
    const key = { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
    const client = request(`${gateway.url(port)}/${name}/v1/realtime?model=m`, { headers: { ...headers, ...key } })
    client.on('response', async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve([response.statusCode, JSON.parse(text)])
    })
    client.on('error', reject)
    client.end()
  })
}

const FAILED = {
  message: 'prompt guard failed',
  type: 'server_error',
  param: null,
  code: 'prompt-guard-failed',
}

test.each(Object.keys(GUARDS))('%s: 503 in the format of the client, and the provider is not asked', async (name) => {
  for (const stream of [false, true]) {
    const completions = await ask(name, 'chat/completions', stream)
    expect([completions.status, await completions.json()]).toEqual([503, { error: FAILED }])
    const messages = await ask(name, 'messages', stream)
    expect([messages.status, await messages.json()]).toMatchObject([
      503,
      { type: 'error', error: { type: 'api_error', message: 'prompt guard failed' } },
    ])
  }
  expect(await open(name)).toEqual([503, { error: FAILED }])
  expect([provider.seen, judge.seen]).toEqual([[], []])
})

test('the status of each policy says why and where', async () => {
  const status = (await (await fetch(`${gateway.url(15_000)}/status`)).json()) as {
    readonly objects: readonly {
      readonly origin: { readonly kind: string; readonly name: string }
      readonly findings: readonly { readonly code: string; readonly path: string; readonly at: string }[]
    }[]
  }
  expect(status.objects.flatMap(({ findings }) => findings.map(({ at }) => at))).toSatisfy((places: string[]) =>
    places.every((place) => /all\.yaml:\d+:\d+$/.test(place)),
  )
  for (const [name, [, codes]] of Object.entries(GUARDS)) {
    const policy = status.objects.find(({ origin }) => origin.kind === 'ProxyPolicy' && origin.name === name)!
    const found = policy.findings.filter(({ path }) => path.includes('promptGuard')).map(({ code }) => code)
    expect([name, found.toSorted()]).toEqual([name, codes.toSorted()])
  }
})

test('when the service exists, requests pass', async () => {
  await folder.write('all.yaml', objects([backendYaml('absent', judge.port)]))
  const response = await eventually('the guard runs', async () => {
    const answered = await ask('missing', 'chat/completions', false)
    return answered.status === 200 ? answered : undefined
  })
  expect(await response.text()).toContain('fine')
  expect(judge.seen).toMatchObject([{ path: '/response' }])
})
