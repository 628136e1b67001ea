import { afterAll, beforeAll, expect, test } from 'vitest'
import { RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, joinYaml, listenersYaml, routeYaml, serviceYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/**
 * What the gateway refuses by a bound of its own, and what a client does not send, is no failure of an endpoint (decision B96). Each
 * service has two endpoints: of one all connections are taken, the other answers. Were the first one evicted by the first failure,
 * there would be no second one.
 */

const CONNECTIONS = 'gatewright.dev/max-connections'
const WAITING = 'gatewright.dev/max-waiting-requests'
/** Each is the worse of two endpoints, which every fourth request is for. */
const ASKED = 80

const stops = new AsyncDisposableStack()
const clients: RawClient[] = []
let port: number
let relayPort: number
/** Connections to the endpoint that never answers. */
let taken = 0

const annotated = (yaml: string, annotations: Readonly<Record<string, string>>) =>
  yaml.replace(/metadata: \{ name: (\S+) \}/, `metadata: { name: $1, annotations: ${JSON.stringify(annotations)} }`)

const relayRoute = `
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: { name: relayed }
spec:
  parentRefs: [{ name: main, sectionName: tcp }]
  rules: [{ backendRefs: [{ name: relayed, port: 80 }] }]
`

beforeAll(async () => {
  const silent = async () => {
    const server = await new RawServer((peer) => {
      taken++
      peer.socket.on('end', () => peer.socket.end())
    }).start()
    stops.defer(() => server.close())
    return server.port
  }
  // It does not wait for the body.
  const prompt = await new RawServer(async (peer) => {
    await peer.until((text) => text.includes('\r\n\r\n')).catch(() => '')
    peer.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  }).start()
  stops.defer(() => prompt.close())
  const backend = { health: { eviction: { duration: '60s' } } }
  const pair = async (name: string, annotations: Readonly<Record<string, string>>) =>
    joinYaml(
      annotated(serviceYaml(name, [await silent(), prompt.port]), annotations),
      policyYaml(name, 'Service', name, { backend }),
    )
  const inTime = (name: string) =>
    policyYaml(`${name}-time`, 'HTTPRoute', name, { traffic: { timeouts: { request: '100ms' } } })
  port = await freePort()
  relayPort = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      listenersYaml('main', [
        `{ name: http, protocol: HTTP, port: ${port} }`,
        `{ name: tcp, protocol: TCP, port: ${relayPort} }`,
      ]),
      await pair('full', { [CONNECTIONS]: '1', [WAITING]: '0' }),
      await pair('late', { [CONNECTIONS]: '1' }),
      routeYaml('late-in-time', '/late/in-time', 'late').replace(/group.*name: late/, 'name: late, port: 80'),
      inTime('late-in-time'),
      await pair('dawdling', {}),
      inTime('dawdling'),
      await pair('relayed', { [CONNECTIONS]: '2' }),
      relayRoute,
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  stops.defer(() => {
    for (const client of clients) client.close()
  })
})

afterAll(() => stops.disposeAsync())

/** Has the only connection of the silent endpoint taken by a request that stays. */
async function occupy(at: number, request: string): Promise<void> {
  const before = taken
  await eventually('the silent endpoint is busy', async () => {
    const client = await RawClient.connect(at)
    clients.push(client)
    client.send(request)
    await Promise.race([client.untilClosed(), new Promise((resolve) => setTimeout(resolve, 50))])
    return taken > before
  })
}

/** Asks until two were not served: the first one has not evicted the endpoint. */
async function untilTwoFail(ask: () => Promise<string>, served: string): Promise<string[]> {
  const failed: string[] = []
  for (let i = 0; i < ASKED && failed.length < 2; i++) {
    const answer = await ask()
    if (answer !== served) failed.push(answer)
  }
  return failed
}

const send = (path: string) => async () => {
  const response = await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', body: 'x' })
  return `${response.status} ${await response.text()}`
}

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'
const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx`

test('an endpoint is not evicted for requests that found no connection free, and no place to wait', async () => {
  await occupy(port, post('/full'))
  expect(await untilTwoFail(send('full'), '200 ')).toEqual(
    Array(2).fill(expect.stringMatching(/^503 upstream overloaded: .*the limit of queued requests \(0\) is reached/)),
  )
})

test('an endpoint is not evicted for requests whose time was up while they waited for a connection', async () => {
  await occupy(port, post('/late'))
  expect(await untilTwoFail(send('late/in-time'), '200 ')).toEqual(Array(2).fill('504 request timeout'))
})

test('an endpoint is not evicted for clients that do not send their request in time', async () => {
  const dawdle = async () => {
    const client = await RawClient.connect(port)
    client.send('POST /dawdling HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nx')
    const answer = await client.until((text) => text.includes('\r\n\r\n'))
    client.close()
    return answer.slice(9, 12)
  }
  expect(await untilTwoFail(dawdle, '200')).toEqual(['504', '504'])
})

test('an endpoint is not evicted for relayed connections beyond its bound', async () => {
  for (let i = 0; i < 2; i++) await occupy(relayPort, GET)
  const relay = async () => {
    const client = await RawClient.connect(relayPort).catch(() => undefined)
    client?.send(GET)
    client?.socket.end()
    return (await client?.untilEnd())?.slice(9, 12) ?? ''
  }
  expect(await untilTwoFail(relay, '200')).toEqual(['', ''])
})
