import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Accepted, answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
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

/** What the backend does with one request. `hold` leaves it to the test; `begin` sends the first part of a response and nothing more; `cut` then ends; `switch` accepts an upgrade. */
type Deed = number | 'switch' | 'reset' | 'silence' | 'begin' | 'cut' | 'hold'

interface Seen {
  /** Values of `x-mark`. */
  readonly marks: readonly string[]
  readonly attempt: string | undefined
  readonly body: string
  readonly at: number
}

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
/** The deeds to come; when none is left the backend answers 200. */
let deeds: Deed[] = []
let seen: Seen[] = []
/** Requests that are held, and how to answer them. */
let held: ((status: number) => void)[] = []

beforeEach(() => {
  deeds = []
  seen = []
  held = []
})

const BEGINNING = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this'

function answer(head: string, body: string, peer: Accepted): string {
  const attempt = /^x-retry-attempt: *(.*?)\r$/im.exec(head)?.[1]
  const marks = [...head.matchAll(/^x-mark: *(.*?)\r$/gim)].map(([, mark]) => mark!)
  seen.push({ marks, attempt, body, at: performance.now() })
  const deed = deeds.shift() ?? 200
  if (deed === 'silence') return ''
  if (deed === 'hold') {
    held.push((status) => peer.send(`HTTP/1.1 ${status} Whatever\r\ncontent-length: 0\r\n\r\n`))
    return ''
  }
  if (deed === 'reset') {
    peer.socket.resetAndDestroy()
    return ''
  }
  if (deed === 'begin') return BEGINNING
  if (deed === 'switch') {
    setTimeout(() => peer.send('later'), 800)
    return 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
  }
  if (deed === 'cut') {
    peer.socket.end(BEGINNING)
    return ''
  }
  const text = `answer ${seen.length}`
  return `HTTP/1.1 ${deed} Whatever\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}

/** Head and body of the last request to the server that answers well. */
let goodHead = ''
let goodBody = ''

function answerWell(head: string, body: string): string {
  goodHead = head
  goodBody = body
  return 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood'
}

/** LLM providers in order of priority that take every body as it is; a policy of the last one reads it. */
function providersYaml(name: string, ports: readonly number[]): string {
  const set = [{ name: 'x-size', value: 'string(size(request.body))' }]
  const groups = ports.map((at, i) => {
    const policies = i === ports.length - 1 ? { policies: { transformation: { request: { set } } } } : {}
    return { providers: [{ name: `provider-${i}`, providerOne: {}, host: '127.0.0.1', port: at, ...policies }] }
  })
  const spec = { ai: { groups }, policies: { ai: { routes: { '*': 'Passthrough' } } } }
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify(spec)}
`
}

/** Two providers with hostnames, in order of priority. A policy of the first one sets everything that a policy can set. */
function hostsYaml(name: string, ports: readonly [number, number]): string {
  const first = {
    metadata: { mark: '"first"' },
    set: [
      { name: 'host', value: '"first.test"' },
      { name: ':scheme', value: '"https"' },
    ],
    body: '"first"',
  }
  const second = { set: [{ name: 'x-seen', value: 'request.scheme + " " + string(has(metadata.mark))' }] }
  const groups = [first, second].map((request, i) => ({
    providers: [
      { name: `p-${i}`, providerOne: {}, host: 'localhost', port: ports[i], policies: { transformation: { request } } },
    ],
  }))
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai: { groups }, policies: { ai: { routes: { '*': 'Passthrough' } } } })}
`
}

const ROUTES: Readonly<Record<string, object>> = {
  plain: {},
  codes: { traffic: { retry: { codes: [503, 429], attempts: 2 } } },
  once: { traffic: { retry: { codes: [503] } } },
  failures: { traffic: { retry: { attempts: 2 } } },
  pause: { traffic: { retry: { codes: [503], attempts: 2, backoff: '150ms' } } },
  limited: { traffic: { timeouts: { request: '400ms' } } },
  both: { traffic: { timeouts: { request: '1s' }, retry: { codes: [503], attempts: 9, backoff: '300ms' } } },
  gathered: {
    traffic: {
      timeouts: { request: '400ms' },
      retry: { attempts: 1 },
      transformation: { response: { set: [{ name: 'x-size', value: 'string(size(response.body))' }] } },
    },
  },
  each: { backend: { http: { requestTimeout: '200ms' } } },
  again: { backend: { http: { requestTimeout: '1s' } }, traffic: { retry: { attempts: 1 } } },
  marked: {
    traffic: {
      retry: { codes: [503], attempts: 1 },
      headerModifiers: { request: { add: [{ name: 'x-mark', value: 'route' }] } },
    },
    backend: { transformation: { request: { add: [{ name: 'x-mark', value: '"backend"' }] } } },
  },
  made: {
    traffic: { retry: { codes: [503], attempts: 1 }, transformation: { request: { body: '"made by the route"' } } },
  },
}

beforeAll(async () => {
  const backend = await new RawServer(answering(answer)).start()
  stops.defer(() => backend.close())
  const good = await new RawServer(answering(answerWell)).start()
  stops.defer(() => good.close())
  port = await freePort()
  // One responds as requested, the other always with 200.
  const ports = [backend.port, good.port]
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('backend', backend.port),
      backendYaml('dead', await freePort()),
      ...Object.entries(ROUTES).flatMap(([name, spec]) => [
        routeYaml(name, `/${name}`, 'backend'),
        ...(Object.keys(spec).length === 0 ? [] : [policyYaml(name, 'HTTPRoute', name, spec)]),
      ]),
      routeYaml('dead', '/dead', 'dead'),
      policyYaml('dead', 'HTTPRoute', 'dead', { traffic: { retry: { attempts: 2 } } }),
      providersYaml('second', ports),
      routeYaml('second', '/second', 'second'),
      policyYaml('second', 'HTTPRoute', 'second', { traffic: { retry: { codes: [503], attempts: 1 } } }),
      routeYaml('rule', '/rule', 'backend', '      timeouts: { backendRequest: 200ms }\n'),
      policyYaml('rule', 'HTTPRoute', 'rule', { traffic: { retry: { attempts: 1 } } }),
      hostsYaml('hosts', [backend.port, good.port]),
      routeYaml('hosts', '/hosts', 'hosts'),
      policyYaml('hosts', 'HTTPRoute', 'hosts', { traffic: { retry: { codes: [503], attempts: 1 } } }),
      serviceYaml('failover', ports),
      policyYaml('failover', 'HTTPRoute', 'failover', { traffic: { retry: { codes: [503], attempts: 1 } } }),
      serviceYaml('evicting', ports),
      policyYaml('evicting', 'Service', 'evicting', { backend: { health: { eviction: { duration: '60s' } } } }),
      serviceYaml('slow', ports),
      policyYaml('slow', 'Service', 'slow', { backend: { health: { eviction: { duration: '60s' } } } }),
      policyYaml('slow-route', 'HTTPRoute', 'slow', { traffic: { timeouts: { request: '100ms' } } }),
      serviceYaml('judging', ports),
      policyYaml('judging', 'Service', 'judging', {
        backend: { health: { unhealthyCondition: 'response.code == 418', eviction: { duration: '60s' } } },
      }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

interface Answer {
  readonly status: number
  readonly text: string
  readonly decision: string | null
}

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}/${path}`, init)
  const text = await response.text()
  return { status: response.status, text, decision: response.headers.get('gatewright-decision') }
}

/** Status, text and number of attempts. */
async function result(path: string, todo: readonly Deed[], init?: RequestInit): Promise<string> {
  deeds = [...todo]
  seen = []
  const { status, text } = await ask(path, init)
  return `${status} ${text}, ${seen.length} attempts`
}

verifies('traffic.retry/applies', 'listed statuses are retried up to the configured number of attempts', async () => {
  expect(await result('codes', [503])).toBe('200 answer 2, 2 attempts')
  expect(await result('codes', [503, 429])).toBe('200 answer 3, 3 attempts')
  expect(await result('codes', [503, 503, 503])).toBe('503 answer 3, 3 attempts')
  expect(await result('codes', [500])).toBe('500 answer 1, 1 attempts')
  expect(await result('codes', [404])).toBe('404 answer 1, 1 attempts')
  expect(await result('plain', [503])).toBe('503 answer 1, 1 attempts')
})

test('by default there is one retry', async () => {
  expect(await result('once', [503, 503])).toBe('503 answer 2, 2 attempts')
})

test('connection failures are always retried; statuses only if listed', async () => {
  // Of a GET on a connection that was idle the pool itself would send the first one again.
  const post = { method: 'POST', body: 'b' }
  expect(await result('failures', ['reset', 'reset'], post)).toBe('200 answer 3, 3 attempts')
  expect(await result('failures', ['reset', 'reset', 'reset'], post)).toBe('503 upstream call failed, 3 attempts')
  expect(await result('failures', [503], post)).toBe('503 answer 1, 1 attempts')
  expect(await result('plain', ['reset'], post)).toBe('503 upstream call failed, 1 attempts')
})

test('a later attempt has its number, regardless of the header of the client', async () => {
  await result('codes', [503, 503], { headers: { 'x-retry-attempt': '99' } })
  expect(seen.slice(1).map(({ attempt }) => attempt)).toEqual(['1', '2'])
})

test('a body of up to 64 KiB is sent again, for any method', async () => {
  for (const length of [1, 65_536]) {
    const body = 'b'.repeat(length)
    expect(await result('codes', [503], { method: 'POST', body })).toBe('200 answer 2, 2 attempts')
    expect(seen.map((each) => each.body === body)).toEqual([true, true])
  }
})

/** A body of unknown length. */
function streamed(length: number): RequestInit {
  const body = new Blob(['b'.repeat(length)]).stream()
  return { method: 'POST', body, duplex: 'half' } as RequestInit
}

test('a larger body is not kept: one attempt, whether its length was announced or not', async () => {
  const body = 'b'.repeat(65_537)
  expect(await result('codes', [503], { method: 'POST', body })).toBe('503 answer 1, 1 attempts')
  expect(seen[0]!.body.length).toBe(65_537)
  expect(await result('codes', [503], streamed(65_537))).toBe('503 answer 1, 1 attempts')
})

test('a body of unknown length is kept as it streams', async () => {
  expect(await result('codes', [503], streamed(65_000))).toBe('200 answer 2, 2 attempts')
})

test.each([
  ['known', { method: 'POST', body: 'b'.repeat(65_000) }],
  ['unknown', streamed(65_000)],
])('a second provider gets all of a body of %s length, also where its policies wait for the body', async (_, init) => {
  goodBody = ''
  expect(await result('second', [503], init)).toBe('200 good, 1 attempts')
  expect(goodBody.length).toBe(65_000)
})

test('each attempt starts from the request as its route made it', async () => {
  expect(await result('marked', [503])).toBe('200 answer 2, 2 attempts')
  expect(seen.map(({ marks }) => marks)).toEqual([
    ['route', 'backend'],
    ['route', 'backend'],
  ])
})

test('a body that a policy of the route made is sent in every attempt', async () => {
  expect(await result('made', [], { method: 'POST', body: 'client' })).toBe('200 answer 1, 1 attempts')
  expect(await result('made', [503], { method: 'POST', body: 'client' })).toBe('200 answer 2, 2 attempts')
  expect(seen.map(({ body }) => body)).toEqual(['made by the route', 'made by the route'])
})

test('settings of a policy of one provider do not reach the next provider', async () => {
  expect(await result('hosts', [503], { method: 'POST', body: 'client' })).toBe('200 good, 1 attempts')
  expect(goodHead).toMatch(/^host: localhost\r$/im)
  expect(goodHead).toMatch(/^x-seen: http false\r$/im)
  expect([seen[0]!.body, goodBody]).toEqual(['first', 'client'])
})

test('there is at least the configured time between attempts', async () => {
  await result('pause', [503, 503])
  const pauses = seen.slice(1).map(({ at }, i) => at - seen[i]!.at)
  expect(pauses).toHaveLength(2)
  for (const pause of pauses) expect(pause).toBeGreaterThan(140)
})

test('nothing is retried after the first byte of a response', async () => {
  deeds = ['cut']
  await expect(ask('failures')).rejects.toThrow()
  expect(seen).toHaveLength(1)
})

verifies(
  'traffic.timeouts/request',
  'the time of the whole covers all attempts and pauses, and its end is not retried',
  async () => {
    expect(await result('limited', ['silence'])).toBe('504 request timeout, 1 attempts')
    expect(await result('limited', [])).toBe('200 answer 1, 1 attempts')
    expect(await result('both', Array(9).fill(503))).toMatch(/^504 request timeout, [2-4] attempts$/)
    expect(await result('both', [503])).toBe('200 answer 2, 2 attempts')
  },
)

test('when time runs out in the middle of a response the client is cut off', async () => {
  deeds = ['begin']
  const client = await RawClient.connect(port)
  client.send('GET /limited/begun HTTP/1.1\r\nHost: h\r\n\r\n')
  expect(await client.untilEnd()).toBe(BEGINNING)
  expect(seen).toHaveLength(1)
  const { line } = await tracesOf('/limited/begun')
  expect(line).toMatch(/ error="the request timed out after the response head.*" reason=Timeout /)
})

test('the time of the whole ends with an upgrade', async () => {
  deeds = ['switch']
  const client = await RawClient.connect(port)
  client.send('GET /limited/upgraded HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  const text = await client.until((received) => received.endsWith('later'))
  expect(text).toMatch(/^HTTP\/1\.1 101 /)
  client.close()
})

test('a route rule may limit each attempt; the end of its time may be retried', async () => {
  expect(await result('rule', ['silence'])).toBe('200 answer 2, 2 attempts')
  expect(await result('rule', ['silence', 'silence'])).toBe('504 upstream call timeout, 2 attempts')
})

verifies(
  'backend.http/requestTimeout',
  'an attempt has its own time until the response head; its end may be retried',
  async () => {
    expect(await result('each', ['silence'])).toBe('504 upstream call timeout, 1 attempts')
    expect(await result('again', ['silence'])).toBe('200 answer 2, 2 attempts')
    expect(await result('again', ['silence', 'silence'])).toBe('504 upstream call timeout, 2 attempts')
  },
)

test('the record of a request lists its attempts', async () => {
  const { decision } = await ask('dead')
  const records = (await (await fetch(`${gateway.url(15_000)}/decisions?limit=100`)).json()) as {
    id: string
    attempts: { endpoint: string; status: number; failure?: string }[]
  }[]
  const attempts = records.find(({ id }) => id === decision)!.attempts
  expect(attempts.map(({ status, failure }) => [status, failure])).toEqual(Array(3).fill([0, 'connection-refused']))
})

interface Attempt {
  readonly status: number
  readonly failure?: string
  readonly maybeProcessed?: boolean
  readonly replayed?: string
}

/** The attempts of the last request to `target`, and its line in the log. */
async function tracesOf(target: string): Promise<{ readonly attempts: readonly Attempt[]; readonly line: string }> {
  const line = await eventually('the line of the request', () =>
    gateway.output.stdout.split('\n').findLast((text) => text.includes(`http.path=${target}`)),
  )
  const records = (await (await fetch(`${gateway.url(15_000)}/decisions?limit=100`)).json()) as {
    target: string
    attempts: readonly Attempt[]
  }[]
  return { attempts: records.find((record) => record.target === target)!.attempts, line }
}

test('a retry of a possibly processed request is marked', async () => {
  deeds = ['reset']
  expect(await ask('failures/unsure', { method: 'POST', body: 'x' })).toMatchObject({ status: 200 })
  const { attempts, line } = await tracesOf('/failures/unsure')
  expect(attempts).toMatchObject([{ status: 0, failure: 'reset', maybeProcessed: true }, { status: 200 }])
  expect(line).toContain('retry.attempt=1 retry.maybe_processed=true')
  expect(line).not.toContain('retry.replayed')
  expect(line).not.toContain('upstream.failure')
})

test('a retry of a request that cannot have been processed is not marked', async () => {
  await ask('dead/sure', { method: 'POST', body: 'x' })
  const { attempts, line } = await tracesOf('/dead/sure')
  expect(attempts.map(({ maybeProcessed }) => maybeProcessed)).toEqual([false, false, false])
  expect(line).not.toContain('retry.maybe_processed')
  expect(line).toContain('upstream.failure=connection-refused')
})

test('a request that is sent again on a connection that went stale is an attempt like any other', async () => {
  await ask('plain')
  deeds = ['reset']
  expect(await ask('plain/stale')).toMatchObject({ status: 200 })
  const { attempts, line } = await tracesOf('/plain/stale')
  expect(attempts).toMatchObject([
    { status: 0, failure: 'reset', maybeProcessed: true, replayed: 'stale-connection' },
    { status: 200 },
  ])
  expect(line).toContain('retry.attempt=1 retry.replayed=stale-connection retry.maybe_processed=true')
})

test('a stale connection counts towards the attempts that a policy allows', async () => {
  await ask('failures')
  seen = []
  deeds = Array<Deed>(9).fill('reset')
  expect(await ask('failures/stale')).toMatchObject({ status: 503 })
  expect(seen).toHaveLength(3)
  const { attempts } = await tracesOf('/failures/stale')
  expect(attempts.map(({ replayed }) => replayed)).toEqual(['stale-connection', undefined, undefined])
})

test('a later attempt prefers an endpoint that was not tried', async () => {
  for (let i = 0; i < 20; i++) {
    deeds = [503]
    expect(await ask('failover')).toMatchObject({ status: 200, text: 'good' })
    if (seen.length > 0) return
  }
  expect(seen.length, 'the failing endpoint was never drawn').toBeGreaterThan(0)
})

verifies(
  ['health/evicted-gets-no-traffic', 'health/unset-5xx', 'policy/backend-target-service'],
  'an endpoint that responded 5xx is evicted and gets no requests',
  async () => {
    deeds = Array(100).fill(500)
    const statuses: number[] = []
    for (let i = 0; i < 60; i++) statuses.push((await ask('evicting')).status)
    expect(statuses.filter((status) => status === 500)).toHaveLength(1)
    expect(seen).toHaveLength(1)
  },
)

verifies(
  ['health/unhealthyCondition', 'health/unhealthyCondition-response-code'],
  'a configured condition decides what counts as unhealthy',
  async () => {
    deeds = Array(100).fill(500)
    for (let i = 0; i < 40; i++) await ask('judging')
    expect(seen.length, 'a 500 is no reason any more').toBeGreaterThan(5)
    deeds = Array(100).fill(418)
    seen = []
    for (let i = 0; i < 60; i++) await ask('judging')
    expect(seen).toHaveLength(1)
  },
)

test('an endpoint that did not answer in the time of the request is evicted too', async () => {
  deeds = Array(100).fill('silence')
  const statuses: number[] = []
  for (let i = 0; i < 20; i++) statuses.push((await ask('slow')).status)
  expect(statuses.filter((status) => status === 504)).toHaveLength(1)
})

test('of many requests that fail at the same time a fifth is retried: storms do not grow', async () => {
  const count = 40
  deeds = Array(10 * count).fill('hold')
  const answers = Array.from({ length: count }, () => ask('once'))
  await eventually('all have come', () => seen.length === count)
  for (const answer of held.splice(0)) answer(503)
  await eventually('the retries have come', () => seen.length === count + count / 5)
  for (const answer of held.splice(0)) answer(200)
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(count / 5)
  expect(statuses.filter((status) => status === 503)).toHaveLength(count - count / 5)
  expect(seen).toHaveLength(count + count / 5)
})

test('a response that a policy waits for when the time is up was one attempt', async () => {
  deeds = ['begin']
  const { status, decision } = await ask('gathered')
  expect([status, seen.length]).toEqual([504, 1])
  const response = await fetch(`${gateway.url(15_000)}/decisions?limit=50`)
  const records = (await response.json()) as { id: string; attempts: readonly { status: number }[] }[]
  expect(records.find(({ id }) => id === decision)?.attempts.map(({ status }) => status)).toEqual([200])
})
