import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, joinYaml, listenersYaml, routeYaml, serviceYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

/** Of requests to an endpoint that does not respond. */
const SILENT_LIMIT_MS = 2000
/** A condition that nothing of these backends meets. */
const NEVER = 'response.code == 418'
const HALF_A_HEAD = 'HTTP/1.1 200 OK\r\ncontent-le'

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let port: number
let relayPort: number
/** The endpoints that heads of requests came to, in order. */
let asked: string[] = []

/** Endpoints that never respond, by their reaction to a request head. */
const DEAD: Readonly<Record<string, (peer: RawClient) => void>> = {
  closing: (peer) => peer.socket.end(),
  resetting: (peer) => peer.socket.resetAndDestroy(),
  half: (peer) => peer.socket.end(HALF_A_HEAD),
  garbage: (peer) => peer.send('this is not HTTP\r\n\r\n'),
  silent: () => {},
}

/** What clients get, where it is not 503. */
const STATUSES: Readonly<Record<string, number>> = { silent: 504, closing: 502, half: 502, garbage: 502 }

/** Endpoints whose answers break off behind the head. */
const CUT: Readonly<Record<string, string>> = {
  short: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab',
  chunk: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab',
}
/** Waits for the whole answer. */
const GATHERED = { transformation: { response: { body: 'response.body' } } }

const PROMPT = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
const STREAM = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n'
const CHUNK =
  'data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'

const TCP_ROUTE = `
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: { name: relayed }
spec:
  parentRefs: [{ name: main, sectionName: tcp }]
  rules: [{ backendRefs: [{ name: relayed, port: 80 }] }]
`

/** LLM providers at these ports, each in a group of its own. */
const providersYaml = (at: readonly number[]) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec:
  ai:
    groups:
${at.map((port, i) => `      - providers: [{ name: p${i}, providerOne: {}, host: 127.0.0.1, port: ${port} }]\n`).join('')}`

/** Whether a condition is written, the names of services say. */
const CONDITIONS = { own: { unhealthyCondition: NEVER }, default: {} }

let running: TestGateway

beforeEach(() => {
  asked = []
})

beforeAll(async () => {
  port = await freePort()
  const serve = async (name: string, deed: (peer: RawClient) => void) => {
    const server = await new RawServer(async (peer) => {
      await peer.until((text) => text.includes('\r\n\r\n')).catch(() => '')
      asked.push(name)
      deed(peer)
    }).start()
    stops.defer(() => server.close())
    return server.port
  }
  const good = await new RawServer(answering(() => 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood')).start()
  stops.defer(() => good.close())
  const ports: Record<string, number> = { refused: await freePort() }
  for (const [name, deed] of Object.entries(DEAD)) ports[name] = await serve(name, deed)
  const objects = Object.entries(CONDITIONS).flatMap(([condition, spec]) =>
    Object.entries(ports).flatMap(([name, dead]) => {
      const service = `${name}-${condition}`
      const health = { ...spec, eviction: { duration: '60s' } }
      // Only requests to silent endpoints have a limit, which the good endpoint meets on a busy machine.
      const backend = { health, ...(name === 'silent' && { http: { requestTimeout: `${SILENT_LIMIT_MS}ms` } }) }
      return [serviceYaml(service, [dead, good.port]), policyYaml(service, 'Service', service, { backend })]
    }),
  )
  const left = { health: { eviction: { duration: '60s' } } }
  for (const [name, text] of Object.entries(CUT)) {
    const cut = await serve(name, (peer) => peer.socket.end(text))
    for (const how of ['streamed', 'gathered']) {
      const service = `${name}-${how}`
      objects.push(serviceYaml(service, [cut, good.port]), policyYaml(service, 'Service', service, { backend: left }))
      if (how === 'gathered') objects.push(policyYaml(`${service}-whole`, 'HTTPRoute', service, { traffic: GATHERED }))
    }
  }
  const cutting = await serve('cutting', (peer) => peer.socket.end(Object.values(CUT)[0]!))
  for (const [service, condition] of Object.entries({
    counted: { consecutiveFailures: 3 },
    weighed: { healthThreshold: 30 },
  })) {
    const health = { eviction: { duration: '60s', ...condition } }
    objects.push(
      serviceYaml(service, [cutting, good.port]),
      policyYaml(service, 'Service', service, { backend: { health } }),
    )
  }
  const statuses = [500, 200, 500, 200, 500, 500]
  const mixed = await serve('mixed', (peer) =>
    peer.socket.end(`HTTP/1.1 ${statuses.shift() ?? 200} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`),
  )
  objects.push(
    serviceYaml('mixed', [mixed]),
    policyYaml('mixed', 'Service', 'mixed', {
      backend: { health: { eviction: { duration: '60s', consecutiveFailures: 2 } } },
    }),
  )
  const upgrading = await serve('upgrading', (peer) => {
    peer.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    setTimeout(() => peer.socket.resetAndDestroy(), 20)
  })
  objects.push(
    serviceYaml('upgraded', [upgrading, good.port]),
    policyYaml('upgraded', 'Service', 'upgraded', { backend: left }),
  )
  objects.push(
    serviceYaml('left', [ports.silent!, await serve('prompt', (peer) => peer.send(PROMPT))]),
    policyYaml('left', 'Service', 'left', { backend: left }),
  )
  // Both endpoints are evicted by their first failure; a retry goes to the one that was not tried.
  objects.push(
    serviceYaml('hopeless', [ports.closing!, ports.resetting!]),
    policyYaml('hopeless', 'Service', 'hopeless', { backend: left }),
    policyYaml('hopeless-route', 'HTTPRoute', 'hopeless', { traffic: { retry: { attempts: 1 } } }),
  )
  objects.push(
    serviceYaml('relayed', [ports.refused!, good.port]),
    policyYaml('relayed', 'Service', 'relayed', { backend: left }),
    TCP_ROUTE,
  )
  const begun = await serve('begun', (peer) => peer.socket.end(`${STREAM}${CHUNK}`))
  const next = await serve('next', (peer) => peer.socket.end(`${STREAM}${CHUNK}data: [DONE]\n\n`))
  objects.push(
    providersYaml([begun, next]),
    routeYaml('models', '/v1', 'models'),
    policyYaml('models', 'ProxyBackend', 'models', { backend: left }),
  )
  relayPort = await freePort()
  const gateway = listenersYaml('main', [
    `{ name: http, protocol: HTTP, port: ${port} }`,
    `{ name: tcp, protocol: TCP, port: ${relayPort} }`,
  ])
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(gateway, ...objects) })
  stops.defer(folder.remove)
  running = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

/** POST, which no pool sends again by itself. */
async function statuses(path: string, count: number): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < count; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', body: 'x' })
    await response.text()
    found.push(response.status)
  }
  return found
}

verifies(
  ['health/unset-connection-failure', 'health/evicted-gets-no-traffic'],
  'an endpoint that does not respond is evicted by the first request, regardless of the condition',
  async () => {
    const names = ['refused', ...Object.keys(DEAD)]
    const all = Object.keys(CONDITIONS).flatMap((condition) => names.map((name) => `${name}-${condition}`))
    const failed: Record<string, number[]> = {}
    const waiting = () => asked.filter((name) => name === 'silent').length
    const requests = all.map(async (each) => {
      failed[each] = (await statuses(each, 30)).filter((status) => status !== 200)
    })
    await eventually('all others are served', () => {
      expect([waiting(), Object.keys(failed).length]).toEqual([2, all.length - 2])
      return true
    })
    time.skip(SILENT_LIMIT_MS)
    await Promise.all(requests)
    expect(failed).toEqual(Object.fromEntries(all.map((each) => [each, [STATUSES[each.split('-')[0]!] ?? 503]])))
  },
)

test.each(Object.keys(CUT))('an endpoint whose answer breaks off (%s) is evicted', async (name) => {
  for (const [how, broken] of [
    ['streamed', 'broken'],
    ['gathered', '503'],
  ]) {
    const found: string[] = []
    for (let i = 0; i < 30; i++) {
      const response = await fetch(`http://127.0.0.1:${port}/${name}-${how}`, { method: 'POST', body: 'x' })
      const whole = await response.text().then(
        () => true,
        () => false,
      )
      found.push(whole ? String(response.status) : 'broken')
    }
    expect(
      found.filter((one) => one !== '200'),
      how,
    ).toEqual([broken])
  }
})

test.each([
  ['failures in a row', 'counted', 3],
  // 1, 0.7, 0.49, 0.343, 0.2401: one sample each
  ['unhealthy, once each', 'weighed', 4],
])('answers that break off count as %s, though their heads are healthy', async (_, service, expected) => {
  let broken = 0
  for (let i = 0; i < 120; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/${service}`, { method: 'POST', body: 'x' })
    await response.text().catch(() => broken++)
  }
  expect(broken).toBe(expected)
})

test('a complete healthy answer ends a row of failures, an unhealthy one continues it', async () => {
  const evictions = () =>
    running.output.stderr.split('\n').filter((line) => /an endpoint is evicted.*default\/mixed/.test(line)).length
  for (let i = 0; i < 5; i++) await (await fetch(`http://127.0.0.1:${port}/mixed`)).text()
  expect(evictions()).toBe(0)
  await (await fetch(`http://127.0.0.1:${port}/mixed`)).text()
  await eventually('the eviction', () => evictions() === 1)
})

test('the end of an upgraded connection does not affect the health of the endpoint', async () => {
  for (let i = 0; i < 60 && asked.length < 3; i++) {
    const client = await RawClient.connect(port)
    client.send('GET /upgraded HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    await client.until((text) => text.includes('\r\n\r\n'))
    if (client.text.includes(' 101 ')) await client.untilClosed()
    else client.close()
  }
  expect(asked).toEqual(['upgrading', 'upgrading', 'upgrading'])
})

/** Clients that leave before there is an answer. */
const LEAVING: Readonly<Record<string, string>> = {
  'after the request': 'POST /left HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx',
  'in the body': 'POST /left HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nx',
  'in a chunk': 'POST /left HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
}

test.each(Object.keys(LEAVING))('a client that leaves %s says nothing about the endpoint', async (when) => {
  const leave = async () => {
    const { length } = asked
    const client = await RawClient.connect(port)
    client.send(LEAVING[when]!)
    await eventually('a head came', () => asked.length > length)
    client.close()
  }
  // Each time one of the two endpoints is chosen.
  for (let i = 0; i < 60 && asked.filter((name) => name === 'silent').length < 5; i++) await leave()
  expect(asked).toContain('silent')
  // It is still in service.
  asked = []
  for (let i = 0; i < 60 && !asked.includes('silent'); i++) await leave()
  expect(asked).toContain('silent')
})

test('when all endpoints are evicted, each attempt of a request uses another one', async () => {
  for (let i = 0; i < 10; i++) {
    asked = []
    // The endpoint that was tried last decides: one ends the connection, the other resets it.
    expect([502, 503]).toContain((await statuses('hopeless', 1))[0])
    expect(new Set(asked)).toEqual(new Set(['closing', 'resetting']))
    expect(asked).toHaveLength(2)
  }
})

test('an endpoint that refuses a relayed connection is evicted', async () => {
  const answers: string[] = []
  for (let i = 0; i < 30; i++) {
    // The reset that tells of the refusal may come before the client knows that it is connected.
    const client = await RawClient.connect(relayPort).catch(() => undefined)
    client?.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    client?.socket.end()
    answers.push((await client?.untilEnd())?.slice(-4) ?? '')
  }
  expect(answers.filter((answer) => answer !== 'good').length).toBeLessThanOrEqual(1)
  expect(answers).toContain('')
})

test('a provider whose stream broke off is evicted, and the next group serves', async () => {
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })
  const headers = { 'content-type': 'application/json' }
  for (const name of ['begun', 'next', 'next']) {
    asked = []
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', body, headers })
    expect(response.status).toBe(200)
    await response.text()
    expect(asked).toEqual([name])
  }
})
