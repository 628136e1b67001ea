import { type AddressInfo, createServer, type Socket } from 'node:net'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { modelsYaml, startChatProvider } from '#test/support/chat-provider.ts'
import { envoyService } from '#test/support/envoy-definitions.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { startGrpcService } from '#test/support/grpc-peers.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

// Global rate limits with a service of `@grpc/grpc-js` that reads and writes the published messages.

interface Descriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[]
  /** A member that the definitions of the package do not have yet. */
  readonly hits: number | undefined
}

interface Question {
  readonly domain: string
  readonly descriptors: readonly Descriptor[]
}

const DEFINITION = 'envoy/service/ratelimit/v3/rls.proto'
const published = envoyService(DEFINITION, 'envoy.service.ratelimit.v3.RateLimitService')
const method = Object.values(published)[0]!

/** Reads the questions, with `hits_addend` (3) of each descriptor (2), a wrapper of an integer (1). */
const service = {
  ...published,
  [Object.keys(published)[0]!]: {
    ...method,
    requestDeserialize: (bytes: Buffer): Question => {
      const question = method.requestDeserialize(bytes) as Question
      const hits = members(bytes, 2).map((descriptor) => {
        const [wrapper] = members(descriptor, 3)
        return wrapper === undefined ? undefined : hitsIn(wrapper)
      })
      return { ...question, descriptors: question.descriptors.map((one, i) => ({ ...one, hits: hits[i] })) }
    },
  },
}

function members(bytes: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(bytes)
  const found: Uint8Array[] = []
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag()
    if (number === wanted) found.push(reader.bytes())
    else reader.skip(wire)
  }
  return found
}

function hitsIn(wrapper: Uint8Array): number {
  const reader = new BinaryReader(wrapper)
  return reader.pos === reader.len || reader.tag()[0] !== 1 ? 0 : Number(reader.uint64())
}

const stops = new AsyncDisposableStack()
const asked: Question[] = []
const used = new Map<string, number>()
/** Hits that the service grants to each descriptor. */
const GRANTED = 3
let gateway: TestGateway
let port: number

/** Counts as the service of the protocol's authors does: a hit for a descriptor without a number of them, and 0 only asks. */
function decide(question: Question) {
  asked.push(question)
  const statuses = question.descriptors.map(({ entries, hits = 1 }) => {
    const key = JSON.stringify([question.domain, entries])
    const before = used.get(key) ?? 0
    used.set(key, before + hits)
    const over = hits === 0 ? before >= GRANTED : before + hits > GRANTED
    const currentLimit = { requestsPerUnit: GRANTED, unit: 'MINUTE' }
    const limitRemaining = Math.max(0, GRANTED - before - hits)
    return { code: over ? 'OVER_LIMIT' : 'OK', currentLimit, limitRemaining, durationUntilReset: { seconds: 42 } }
  })
  const over = statuses.some(({ code }) => code === 'OVER_LIMIT')
  return {
    overallCode: over ? 'OVER_LIMIT' : 'OK',
    statuses,
    requestHeadersToAdd: [{ key: 'x-checked', value: 'by the service' }],
    responseHeadersToAdd: over ? [{ key: 'content-type', value: 'application/problem+json' }] : [],
    rawBody: over ? Buffer.from('{"title":"slow down"}') : Buffer.alloc(0),
  }
}

const byCaller = { entries: [{ name: 'caller', expression: 'request.headers["x-caller"]' }] }
const limits = (name: string, more: object = {}) => {
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name }
  return { traffic: { rateLimit: { global: { backendRef, domain: 'shop', descriptors: [byCaller], ...more } } } }
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const { port: servicePort, close } = await startGrpcService(service, { shouldRateLimit: decide })
  stops.defer(close)
  const silentSockets = new Set<Socket>()
  const silent = createServer((socket) => void silentSockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    for (const socket of silentSockets) socket.destroy()
    silent.close()
  })
  const provider = stops.use(await startChatProvider())
  port = await freePort()
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      backendYaml('limits', servicePort),
      backendYaml('nothing', await freePort()),
      backendYaml('silent', (silent.address() as AddressInfo).port),
      serviceYaml('limits', [servicePort]),
      modelsYaml('models', provider.port),
      ...['limited', 'by-service', 'closed', 'open', 'slow'].map((name) => routeYaml(name, `/${name}`, 'echo')),
      routeYaml('chat', '/v1', 'models'),
      policyYaml('limited', 'HTTPRoute', 'limited', limits('limits')),
      policyYaml('by-service', 'HTTPRoute', 'by-service', limits('', { backendRef: { name: 'limits', port: 80 } })),
      policyYaml('closed', 'HTTPRoute', 'closed', limits('nothing')),
      policyYaml('open', 'HTTPRoute', 'open', limits('nothing', { failureMode: 'FailOpen' })),
      policyYaml('slow', 'HTTPRoute', 'slow', limits('silent')),
      policyYaml('chat', 'HTTPRoute', 'chat', limits('limits', { descriptors: [{ ...byCaller, unit: 'Tokens' }] })),
      policyYaml('silent', 'ProxyBackend', 'silent', { backend: { http: { requestTimeout: '200ms' } } }),
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 2 })
  stops.defer(async () => void (await gateway.close()))
})

beforeEach(() => {
  asked.length = 0
  used.clear()
})
afterAll(() => stops.disposeAsync())

const ask = (path: string, caller: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers: { 'x-caller': caller, ...init.headers } })

const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'yes?' }] })
const chat = (caller: string) =>
  ask('/v1/chat/completions', caller, { method: 'POST', body: CHAT, headers: { 'content-type': 'application/json' } })

verifies(
  ['traffic.rateLimit.global/external-service', 'traffic.rateLimit.global/backendRef-kinds'],
  'a ProxyBackend and a Service: allowed until the service refuses, with its headers and its body',
  async () => {
    for (const path of ['/limited', '/by-service']) {
      used.clear()
      const answers = []
      for (let i = 0; i < GRANTED + 1; i++) answers.push(await ask(path, 'ann'))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
      const echoed = (await answers[0]!.json()) as { headers: Record<string, string> }
      expect(echoed.headers['x-checked']).toBe('by the service')
      expect(Object.fromEntries(answers[0]!.headers)).toMatchObject({
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '2',
        'x-ratelimit-reset': '42',
      })
      const refused = answers[GRANTED]!
      expect(refused.headers.get('content-type')).toBe('application/problem+json')
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
      expect(await refused.text()).toBe('{"title":"slow down"}')
      expect((await ask(path, 'bob')).status).toBe(200)
    }
    expect(asked[0]).toMatchObject({
      domain: 'shop',
      descriptors: [{ entries: [{ key: 'caller', value: 'ann' }], hits: undefined }],
    })
  },
)

verifies(
  [
    'traffic.rateLimit.global.descriptors/cost-default-tokens',
    'traffic.rateLimit.global.descriptors/cost-tokens-after-completion',
  ],
  'tokens: the service is asked whether some are left, and told the total after the response',
  async () => {
    expect((await chat('cleo')).status).toBe(200)
    await eventually('the charge', () => asked.length === 2 || undefined)
    expect(asked.map(({ descriptors }) => descriptors.map(({ hits }) => hits))).toEqual([[0], [8]])
    const refused = await chat('cleo')
    expect(refused.status).toBe(429)
    expect((await chat('dan')).status).toBe(200)
  },
)

test('all workers tell the service the total of each response once', async () => {
  const callers = Array.from({ length: 24 }, (_, i) => `caller-${i}`)
  const answers = await Promise.all(callers.map(async (caller) => chat(caller)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const hitsOf = (caller: string) =>
    asked
      .flatMap(({ descriptors }) => descriptors)
      .filter(({ entries }) => entries[0]?.value === caller)
      .map(({ hits }) => hits)
  await eventually('all charges', () => callers.every((caller) => hitsOf(caller).length > 1) || undefined)
  for (const caller of callers) expect(hitsOf(caller)).toEqual([0, 8])
  const records = await (await fetch(`${gateway.url(15_000)}/decisions?limit=24`)).json()
  expect(new Set((records as { worker: unknown }[]).map(({ worker }) => worker)).size).toBe(2)
})

verifies(
  ['traffic.rateLimit.global/fail-closed', 'traffic.rateLimit.global/fail-open'],
  'a service that refuses connections, and one that never answers',
  async () => {
    const closed = await ask('/closed', 'ann')
    expect([closed.status, await closed.text()]).toEqual([500, 'rate limit failed'])
    expect((await ask('/open', 'ann')).status).toBe(200)
    const slow = await ask('/slow', 'ann')
    expect([slow.status, await slow.text()]).toEqual([500, 'rate limit failed'])
  },
)

test('the decision record names service and verdict, and metrics count the questions', async () => {
  const refused = await ask('/closed', 'ann')
  const id = refused.headers.get('gatewright-decision')
  const records = await (await fetch(`${gateway.url(15_000)}/decisions?id=${id}`)).json()
  const callouts = [{ policy: 'rateLimit', backend: 'default/nothing', verdict: 'failed' }]
  expect(records).toMatchObject([{ code: 'rate-limit-failed', callouts }])
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  expect(metrics).toMatch(/gatewright_call_duration_seconds_count\{purpose="rate-limit",backend="default\/nothing",/)
  expect(metrics).toMatch(
    /gatewright_callouts_total\{policy="rateLimit",backend="default\/nothing",verdict="failed",cached="false"\} [1-9]/,
  )
})
