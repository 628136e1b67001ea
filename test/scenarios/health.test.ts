import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, serviceYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

/** A condition that nothing of these backends meets. */
const NEVER = 'response.code == 418'
const HALF_A_HEAD = 'HTTP/1.1 200 OK\r\ncontent-le'

const stops = new AsyncDisposableStack()
let port: number
/** The endpoints that heads of requests came to, in order. */
let asked: string[] = []

/** Endpoints of which nobody ever gets an answer: what they do with a head. */
const DEAD: Readonly<Record<string, (peer: RawClient) => void>> = {
  closing: (peer) => peer.socket.end(),
  resetting: (peer) => peer.socket.resetAndDestroy(),
  half: (peer) => peer.socket.end(HALF_A_HEAD),
  garbage: (peer) => peer.send('this is not HTTP\r\n\r\n'),
  silent: () => {},
  silent2: () => {},
}

/** Whether a condition is written, the names of services say. */
const CONDITIONS = { own: { unhealthyCondition: NEVER }, default: {} }

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
      const backend = { health, http: { requestTimeout: '100ms' } }
      return [serviceYaml(service, [dead, good.port]), policyYaml(service, 'Service', service, { backend })]
    }),
  )
  const left = { health: { eviction: { duration: '60s' } } }
  objects.push(
    serviceYaml('left', [ports.silent!, ports.silent2!]),
    policyYaml('left', 'Service', 'left', { backend: left }),
  )
  // Both endpoints are evicted by their first failure; a retry goes to the one that was not tried.
  objects.push(
    serviceYaml('hopeless', [ports.closing!, ports.resetting!]),
    policyYaml('hopeless', 'Service', 'hopeless', { backend: left }),
    policyYaml('hopeless-route', 'HTTPRoute', 'hopeless', { traffic: { retry: { attempts: 1 } } }),
  )
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(gatewayYaml(port), ...objects) })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
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
  'an endpoint that gives no answer is evicted by the first request, whatever the condition says',
  async () => {
    for (const condition of Object.keys(CONDITIONS)) {
      for (const name of ['refused', ...Object.keys(DEAD)]) {
        const found = await statuses(`${name}-${condition}`, 30)
        const failed = found.filter((status) => status !== 200)
        expect(failed, `${name}-${condition}`).toEqual([name.startsWith('silent') ? 504 : 503])
      }
    }
  },
)

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
  for (let i = 0; i < 10; i++) await leave()
  // Both are still drawn.
  asked = []
  for (let i = 0; i < 60 && new Set(asked).size < 2; i++) await leave()
  expect(new Set(asked)).toEqual(new Set(['silent', 'silent2']))
})

test('when all endpoints are evicted each attempt of a request goes to another one', async () => {
  for (let i = 0; i < 10; i++) {
    asked = []
    expect(await statuses('hopeless', 1)).toEqual([503])
    expect(new Set(asked)).toEqual(new Set(['closing', 'resetting']))
    expect(asked).toHaveLength(2)
  }
})
