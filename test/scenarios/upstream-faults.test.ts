import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import type { FramePeer } from '#net/testing/frame-server.ts'
import { type Accepted, answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { behindTls, type CountingUpstream, countingHttp1, countingHttp2 } from '#test/support/counting-upstreams.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { GRPC_FAULTS, type GrpcFault } from '#test/support/grpc-faults.ts'
import { HTTP_FAULTS, type HttpFault } from '#test/support/http-faults.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'

// Backends that misbehave in every way, with and without retries. Each case has a server of its own, which counts what it receives.

/**
 * How a fault ends: the `failure` of the attempt, or `cut` if the response head had been sent to the client, or `not-processed` if the gateway
 * resends the request on its own, or `switched` if the server began another protocol.
 */
type End = 'reset' | 'protocol-error' | 'not-http2' | 'timeout' | 'cut' | 'switched' | 'not-processed'

/** What the server does with the first requests. */
interface Mode {
  readonly retries: number
  /** Number of requests that it does not answer. */
  readonly faults: number
}

const MODES: Readonly<Record<string, Mode>> = {
  plain: { retries: 0, faults: 1 },
  retried: { retries: 1, faults: 1 },
  hopeless: { retries: 2, faults: Number.POSITIVE_INFINITY },
}

const HTTP1_ENDS: Readonly<Record<string, End>> = {
  resets: 'reset',
  closes: 'protocol-error',
  garbage: 'protocol-error',
  'two-lengths': 'protocol-error',
  'endless-head': 'protocol-error',
  'endless-line': 'protocol-error',
  'endless-interim-heads': 'protocol-error',
  switches: 'switched',
  stalls: 'timeout',
  'drips-its-head': 'timeout',
  'stalls-after-head': 'cut',
  'closes-mid-body': 'cut',
  'resets-mid-body': 'cut',
  'garbage-chunks': 'cut',
  'endless-trailers': 'cut',
  'drips-its-body': 'cut',
}

const HTTP2_ENDS: Readonly<Record<string, End>> = {
  resets: 'reset',
  closes: 'reset',
  'resets-the-connection': 'reset',
  'no-http2': 'protocol-error',
  'endless-head': 'protocol-error',
  'many-interim-heads': 'protocol-error',
  stalls: 'timeout',
  'stalls-after-head': 'cut',
  'stalls-after-message': 'cut',
  'closes-in-mid-stream': 'cut',
  'resets-in-mid-stream': 'cut',
  'goes-away-in-mid-stream': 'cut',
  'endless-trailers': 'cut',
  'refuses-each-stream': 'not-processed',
  'goes-away': 'not-processed',
}

const HTTP1_FAULTS: Readonly<Record<string, HttpFault>> = {
  ...HTTP_FAULTS,
  begins: (peer) => peer.socket.end('HTTP/1.1 20'),
}

const HTTP2_FAULTS: Readonly<Record<string, GrpcFault>> = {
  ...GRPC_FAULTS,
  'goes-away-before': (peer, stream) => goAway(peer, stream - 2),
  'goes-away-after': (peer, stream) => goAway(peer, stream),
  'many-interim-heads': (peer, stream) => {
    for (let i = 0; i < 101; i++) peer.head(stream, [[':status', '103']])
  },
}

function goAway(peer: FramePeer, lastStream: number): void {
  peer.goaway(lastStream, 0)
  peer.socket.end()
}

/** Bodies that only the time limit of the request ends. */
const ENDLESS = ['stalls-after-head', 'stalls-after-message', 'drips-its-body']
/** Of requests that nothing else ends, and of handshakes: three in a row are shorter than the silence after which a session is checked. */
const LIMIT_SECONDS = 4
const LIMIT = `${LIMIT_SECONDS}s`

const METHODS = ['GET', 'POST'] as const
const WIRES = ['http1', 'http2', 'http1-tls', 'http2-tls'] as const

interface Case extends Mode {
  readonly name: string
  readonly wire: (typeof WIRES)[number]
  readonly method: (typeof METHODS)[number]
  readonly fault: string
  readonly mode: string
  readonly end: End
  readonly upstream: CountingUpstream
}

/** Faults of a connection on which a request has been answered: the server closes it at the moment at which the next request arrives. */
const STALE: readonly (readonly [
  wire: 'http1' | 'http2',
  fault: string,
  method: string,
  retries: number,
  ends: string,
])[] = [
  ['http1', 'closes', 'GET', 0, '200 stale-0 3, sent 2'],
  ['http1', 'closes', 'POST', 0, '503 upstream call failed, sent 1'],
  ['http1', 'closes', 'POST', 1, '200 stale-2 3, sent 2'],
  ['http1', 'resets', 'GET', 0, '200 stale-3 3, sent 2'],
  ['http1', 'resets', 'POST', 0, '503 upstream call failed, sent 1'],
  ['http1', 'begins', 'GET', 0, '502 upstream answer invalid, sent 1'],
  ['http1', 'begins', 'GET', 1, '200 stale-6 3, sent 2'],
  ['http2', 'closes', 'GET', 0, '200 stale-7 3, sent 2'],
  ['http2', 'closes', 'POST', 0, '503 upstream call failed, sent 1'],
  ['http2', 'closes', 'POST', 1, '200 stale-9 3, sent 2'],
  ['http2', 'goes-away-before', 'POST', 0, '200 stale-10 3, sent 2'],
  ['http2', 'goes-away-after', 'POST', 0, '503 upstream call failed, sent 1'],
]

/** Faults before a request can be sent. */
const CONNECTING: Readonly<Record<string, { readonly serve: (peer: Accepted) => void; readonly ends: string }>> = {
  stalls: { serve: () => {}, ends: '504 upstream-timeout connect-timeout connect-timeout' },
  closes: { serve: (peer) => peer.socket.end(), ends: '503 upstream-failed handshake-failed handshake-failed' },
  resets: {
    serve: (peer) => void peer.socket.resetAndDestroy(),
    ends: '503 upstream-failed handshake-failed handshake-failed',
  },
  garbage: {
    serve: (peer) => peer.send('what?\r\n\r\n'),
    ends: '503 upstream-failed handshake-failed handshake-failed',
  },
  alert: {
    serve: (peer) => peer.send('\x15\x03\x03\0\x02\x02\x28'),
    ends: '503 upstream-failed handshake-failed handshake-failed',
  },
}

type CaseObjects = Pick<Case, 'name' | 'wire' | 'fault' | 'retries' | 'upstream'> & { readonly end?: End }

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
const servers = new AsyncDisposableStack()
const cases: Case[] = []
const bystanders: Promise<string>[] = []
const held: Accepted[] = []
/** In the order of the table. */
const staleUpstreams: CountingUpstream[] = []
/** Servers before which no request can be sent. */
const connecting: RawServer[] = []
/** Numbers of connections. */
const connected: Record<string, () => number> = {}
const stormed: Accepted[] = []
let gateway: TestGateway
let port: number

/** Enough requests in flight that a fifth of them are more retries than the cases make at the same time. */
const BYSTANDERS = 300
const AT_ONCE = 12
const WORKERS = 2
const NEVER_MS = 45_000

/** @param isFault whether request `n`, from 1, is not answered */
async function start(
  name: string,
  wire: Case['wire'],
  fault: string,
  isFault: (n: number) => boolean,
): Promise<CountingUpstream> {
  const plain = wire.startsWith('http1')
    ? await countingHttp1(name, (n) => (isFault(n) ? HTTP1_FAULTS[fault] : undefined))
    : await countingHttp2(name, (n) => {
        if (!isFault(n)) return undefined
        return (peer: FramePeer, stream: number) => HTTP2_FAULTS[fault]!(peer, stream, 'half')
      })
  const upstream = wire.endsWith('-tls') ? await behindTls(plain, wire === 'http1-tls' ? 'http/1.1' : 'h2') : plain
  servers.defer(() => upstream.close())
  return upstream
}

/** The objects of a case: its backend, and a route under its name. */
function caseYaml({ name, wire, fault, end, retries, upstream }: CaseObjects): string {
  const tls = wire.endsWith('-tls') && { tls: { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' } }
  const version = wire.startsWith('http1') ? 'HTTP1' : 'HTTP2'
  const http = { version, ...(end === 'timeout' && { requestTimeout: LIMIT }) }
  const traffic = {
    ...(ENDLESS.includes(fault) && { timeouts: { request: LIMIT } }),
    ...(retries > 0 && { retry: { attempts: retries } }),
  }
  return joinYaml(
    backendYaml(name, upstream.port),
    policyYaml(name, 'ProxyBackend', name, { backend: { http, ...tls } }),
    routeYaml(name, `/${name}`, name),
    policyYaml(`${name}-route`, 'HTTPRoute', name, { traffic }),
  )
}

/** A backend with TLS that can be asked twice. */
function connectingYaml(name: string, at: number, http: object = {}): string {
  const tls = { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' }
  return joinYaml(
    backendYaml(name, at),
    policyYaml(name, 'ProxyBackend', name, { backend: { tls, http, tcp: { connectTimeout: LIMIT } } }),
    routeYaml(name, `/${name}`, name),
    policyYaml(`${name}-route`, 'HTTPRoute', name, { traffic: { retry: { attempts: 1 } } }),
  )
}

async function connectingServer(serve: (peer: Accepted, index: number) => void): Promise<RawServer> {
  const server = await new RawServer(serve).start()
  servers.defer(() => server.close())
  connecting.push(server)
  return server
}

/** Looks without a step of a request, after which all of them wait for a time limit: also while other tests keep the cores busy. */
const STILL_LOOKS = 30

/** Waits for requests, without the time of their limits: it is skipped when nothing else happens. @param isDone counts those that are over */
async function withoutLimits<T>(requests: Promise<T>, isDone: () => number): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  requests.then(over, over)
  for (let before = -1, still = 0; !isOver; ) {
    await sleep(10)
    const steps =
      isDone() +
      cases.reduce((sum, { upstream }) => sum + upstream.bodies.length, 0) +
      connecting.reduce((sum, { connections }) => sum + connections, 0)
    still = steps === before ? still + 1 : 0
    before = steps
    if (still % STILL_LOOKS === STILL_LOOKS - 1) time.skip(LIMIT_SECONDS * 1000)
  }
  return requests
}

beforeAll(async () => {
  port = await freePort()
  for (const wire of WIRES) {
    for (const [fault, end] of Object.entries(wire.startsWith('http1') ? HTTP1_ENDS : HTTP2_ENDS)) {
      if (wire === 'http1-tls' && fault === 'resets-mid-body') continue
      for (const [mode, { retries, faults }] of Object.entries(MODES)) {
        // TLS has the same cases, but not with each method.
        for (const method of wire.endsWith('-tls') ? METHODS.slice(1) : METHODS) {
          const name = `${wire}-${fault}-${mode}-${method.toLowerCase()}`
          const upstream = await start(name, wire, fault, (n) => n <= faults)
          cases.push({ name, wire, fault, mode, method, end, retries, faults, upstream })
        }
      }
    }
  }
  const stale = await Promise.all(
    STALE.map(async ([wire, fault, , retries], i) => {
      const name = `stale-${i}`
      const upstream = await start(name, wire, fault, (n) => n === 2)
      staleUpstreams.push(upstream)
      return caseYaml({ name, wire, fault, retries, upstream })
    }),
  )
  const connectingObjects: string[] = []
  for (const [fault, { serve }] of Object.entries(CONNECTING)) {
    const server = await connectingServer(serve)
    connected[fault] = () => server.connections
    connectingObjects.push(connectingYaml(`connecting-${fault}`, server.port))
    for (const wire of ['http1-tls', 'http2-tls'] as const) {
      const name = `recovering-${wire}-${fault}`
      const good = await start(name, wire, '', () => false)
      const { port: at } = await connectingServer((peer, index) => {
        if (index === 0) return serve(peer)
        const inner = connect(good.port, '127.0.0.1')
        inner.on('error', () => peer.close())
        peer.socket.pipe(inner).pipe(peer.socket)
      })
      // Without a version it is negotiated.
      connectingObjects.push(connectingYaml(name, at, wire === 'http2-tls' ? { version: 'HTTP2' } : {}))
    }
  }
  const storming = await new RawServer(
    answering((_, __, peer) => {
      stormed.push(peer)
      return ''
    }),
  ).start()
  servers.defer(() => storming.close())
  const holding = await new RawServer((peer) => held.push(peer)).start()
  servers.defer(() => holding.close())
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      authoritiesYaml('trusted', CERTIFICATES.ca),
      backendYaml('held', holding.port),
      routeYaml('held', '/held', 'held'),
      ...cases.map(caseYaml),
      ...stale,
      ...connectingObjects,
      connectingYaml('connecting-refused', await freePort()),
      backendYaml('storm', storming.port),
      routeYaml('storm', '/storm', 'storm'),
      policyYaml('storm', 'HTTPRoute', 'storm', { traffic: { retry: { codes: [503] } } }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: WORKERS }))
  for (let i = 0; i < BYSTANDERS; i++) bystanders.push(ask(`held/${i}`).then((response) => response.text()))
  await eventually('the bystanders wait', () => held.length === BYSTANDERS)
})

afterAll(async () => {
  // A gateway that stops waits for its requests, and those end with their servers.
  await servers.disposeAsync()
  await stops.disposeAsync()
})

function ask(path: string, init?: RequestInit): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/${path}`, init)
}

/** What the client and the server saw of a request, such as `503 upstream-failed reset, sent 1`. */
async function outcome({ name, method, upstream }: Case): Promise<string> {
  const body = `body of ${name}`
  const text = await end(name, method === 'POST' ? { method, body } : { method })
  const { bodies } = upstream
  const sent = bodies.length
  expect(bodies, name).toEqual(Array(sent).fill(method === 'POST' ? body : ''))
  return `${text}, sent ${sent}`
}

async function end(name: string, init: RequestInit): Promise<string> {
  let response: Response
  let text: string
  try {
    response = await ask(name, { ...init, signal: AbortSignal.timeout(NEVER_MS) })
    text = await response.text()
  } catch (error) {
    // The connection may also be cut before the client has read the head.
    return (error as Error).name === 'TimeoutError' ? 'never ended' : 'cut'
  }
  if (response.status === 200) return text
  const id = response.headers.get('gatewright-decision')
  const records = (await (await fetch(`${gateway.url(15_000)}/decisions?id=${id}`)).json()) as {
    code?: string
    attempts: { failure?: string }[]
  }[]
  const { code, attempts } = records[0]!
  return `${response.status} ${code} ${attempts.map(({ failure }) => failure).join(' ')}`
}

/** The gateway resends requests that the server has not processed up to this number of times. */
const RESENT = 3

/** The failure of an attempt, and the response if no attempt is left, where they are not those of most ends. */
const ENDINGS: Partial<Record<End, { readonly failure?: string; readonly answer?: string }>> = {
  'not-processed': { failure: 'reset' },
  switched: { failure: 'protocol-error', answer: '502 upgrade-failed' },
  timeout: { answer: '504 upstream-timeout' },
  'protocol-error': { answer: '502 upstream-answer-invalid' },
  'not-http2': { answer: '502 upstream-answer-invalid' },
}

function expected({ name, end, retries, faults }: Case): string {
  if (end === 'cut') return 'cut, sent 1'
  const allowed = end === 'not-processed' ? Math.max(RESENT, retries) : retries
  if (faults <= allowed) return `${name} ${faults + 1}, sent ${faults + 1}`
  const { failure = end, answer = '503 upstream-failed' } = ENDINGS[end] ?? {}
  return `${answer} ${Array(allowed + 1)
    .fill(failure)
    .join(' ')}, sent ${allowed + 1}`
}

/** Runs a step for all, a limited number at the same time. */
async function forAll<Item>(
  items: readonly Item[],
  atOnce: number,
  step: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await step(item)
    }),
  )
}

test('every fault ends as documented, and its request is sent as often as allowed', async () => {
  const outcomes: Record<string, string> = {}
  const note = async (each: Case) => {
    outcomes[each.name] = await outcome(each)
  }
  const waits = ({ end, fault }: Case) => end === 'timeout' || ENDLESS.includes(fault)
  const served = cases.filter((each) => !waits(each))
  await forAll(served, AT_ONCE, note)
  const waiting = Promise.all(cases.filter(waits).map(note))
  await withoutLimits(waiting, () => Object.keys(outcomes).length)
  expect(outcomes).toEqual(Object.fromEntries(cases.map((each) => [each.name, expected(each)])))
})

test('after a fault the next request gets its own response', async () => {
  const healed = cases.filter(({ faults }) => faults === 1)
  const texts: Record<string, string> = {}
  const before = Object.fromEntries(healed.map(({ name, upstream }) => [name, upstream.bodies.length]))
  await forAll(healed, AT_ONCE, async ({ name }) => {
    texts[name] = await end(name, { method: 'POST', body: 'next' })
  })
  expect(texts).toEqual(Object.fromEntries(healed.map(({ name }) => [name, `${name} ${before[name]! + 1}`])))
})

test('a connection that cannot be established ends as documented, after as many attempts as allowed', async () => {
  const ends: Record<string, string> = { refused: '503 upstream-failed connection-refused connection-refused' }
  for (const [fault, row] of Object.entries(CONNECTING)) ends[fault] = row.ends
  const found: Record<string, string> = {}
  const asked = Object.keys(ends).map(async (fault) => {
    found[fault] = await end(`connecting-${fault}`, { method: 'POST', body: 'x' })
  })
  await withoutLimits(Promise.all(asked), () => Object.keys(found).length)
  expect(found).toEqual(ends)
  for (const [fault, connections] of Object.entries(connected)) expect(connections(), fault).toBe(2)
})

test.each(['http1-tls', 'http2-tls'])(
  'a retry gets a connection of its own, and succeeds when it does (%s)',
  async (wire) => {
    const names = Object.keys(CONNECTING).map((fault) => `recovering-${wire}-${fault}`)
    const texts: Record<string, string> = {}
    const asked = names.map(async (name) => {
      texts[name] = await end(name, { method: 'POST', body: 'x' })
    })
    await withoutLimits(Promise.all(asked), () => Object.keys(texts).length)
    expect(texts).toEqual(Object.fromEntries(names.map((name) => [name, `${name} 1`])))
  },
)

/** Idle connections of both workers; over HTTP/2 a connection outlives the failure of a request. */
function mayStay(faults: number, wire: Case['wire']): number {
  return faults === 1 || wire.startsWith('http2') ? WORKERS : 0
}

test('nothing is left: connections that failed are closed, and only the bystanders are in flight', async () => {
  await eventually('failed connections are closed', () => {
    expect(
      cases.filter(({ faults, wire, upstream }) => upstream.open() > mayStay(faults, wire)).map(({ name }) => name),
    ).toEqual([])
    return true
  })
  const inFlight = async () => {
    const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
    return Number(/^gatewright_requests_in_flight (\d+)$/m.exec(text)?.[1])
  }
  expect(await inFlight()).toBe(BYSTANDERS)
  releaseBystanders()
  expect(await Promise.all(bystanders)).toEqual(Array.from({ length: BYSTANDERS }, (_, i) => `held/${i}`))
  await eventually('nothing is in flight', async () => (await inFlight()) === 0)
  expect(gateway.output.stderr).not.toMatch(/\n\s+at /)
})

test.each(STALE.map((row, i) => [...row, i] as const))(
  'an idle connection of %s that the server %s when the next request (%s, %i retries) arrives: %s',
  async (_, __, method, ___, ends, i) => {
    const { bodies } = staleUpstreams[i]!
    const name = `stale-${i}`
    const client = await RawClient.connect(port)
    client.send(`GET /${name} HTTP/1.1\r\nHost: h\r\n\r\n`)
    const first = await client.until((text) => text.endsWith(`\r\n\r\n${name} 1`))
    const body = method === 'POST' ? 'again' : ''
    client.send(`${method} /${name} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    const all = await client.until((text) => /\r\n\r\n.+$/s.test(text.slice(first.length)))
    client.close()
    const [, status, text] = /^HTTP\/1.1 (\d+) .*\r\n\r\n(.*)$/s.exec(all.slice(first.length))!
    expect(`${status} ${text}, sent ${bodies.length - 1}`).toBe(ends)
    expect(bodies.slice(1)).toEqual(Array(bodies.length - 1).fill(body))
  },
)

function releaseBystanders(): void {
  for (const peer of held.splice(0)) {
    const id = /^GET \/(held\/\d+) /.exec(peer.text)![1]!
    peer.send(`HTTP/1.1 200 OK\r\ncontent-length: ${id.length}\r\n\r\n${id}`)
  }
}

test('of requests that fail in all workers at the same time a fifth is retried, or three', async () => {
  releaseBystanders()
  await Promise.all(bystanders)
  const count = 15
  const answers = Array.from({ length: count }, () => ask('storm'))
  const answer = (status: number) => {
    for (const peer of stormed.splice(0)) peer.send(`HTTP/1.1 ${status} x\r\ncontent-length: 0\r\n\r\n`)
  }
  await eventually('all have come', () => stormed.length === count)
  answer(503)
  await eventually('the retries have come', () => stormed.length === 3)
  answer(200)
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(3)
  expect(statuses.filter((status) => status === 503)).toHaveLength(count - 3)
  expect(stormed).toEqual([])
})
