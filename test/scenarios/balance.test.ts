import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, serviceYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Load balancing between two endpoints in a gateway with two workers. */

/** Times to the response. Without requests in flight, the endpoint that holds responses is the better one by far. */
const HOLDING_MS = 20
const OTHER_MS = 60
const HELD = 100
const BATCH = 10

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
/** Responses that the holding endpoint has begun and does not end. */
const held: ServerResponse[] = []
const asked = { holding: 0, other: 0 }

async function startEndpoint(deed: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(deed)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const holding = await startEndpoint((request, response) => {
    asked.holding++
    if (request.url === '/balanced/hold') {
      response.write('begun')
      held.push(response)
    } else setTimeout(() => response.end(), HOLDING_MS)
  })
  const other = await startEndpoint((_, response) => {
    asked.other++
    setTimeout(() => response.end(), OTHER_MS)
  })
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      serviceYaml('balanced', [holding, other]),
      policyYaml('balanced', 'Service', 'balanced', { backend: { http: { version: 'HTTP1' } } }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

function get(session: ClientHttp2Session, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    session.request({ ':path': path }).on('end', resolve).on('error', reject).resume().end()
  })
}

function hold(session: ClientHttp2Session): void {
  const stream = session.request({ ':path': '/balanced/hold' })
  stream.on('error', () => {})
  stream.resume().end()
}

interface Decision {
  readonly worker: string
  readonly target: string
}

/** A connection to each of the two workers. */
async function sessionOfEachWorker(): Promise<[ClientHttp2Session, ClientHttp2Session]> {
  const found = new Map<string, ClientHttp2Session>()
  for (let i = 0; found.size < 2; i++) {
    const session = connect(`http://127.0.0.1:${port}`)
    stops.defer(() => session.destroy())
    await get(session, `/balanced/${i}`)
    const response = await fetch(`${gateway.url(15_000)}/decisions`)
    const records = (await response.json()) as readonly Decision[]
    const record = records.find(({ target }) => target === `/balanced/${i}`)
    if (record !== undefined && !found.has(record.worker)) found.set(record.worker, session)
  }
  return [...found.values()] as [ClientHttp2Session, ClientHttp2Session]
}

/** Sends 80 requests, eight at a time. @returns how many of them came to the holding endpoint */
async function countOnHolding(session: ClientHttp2Session): Promise<number> {
  const before = asked.holding
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 8 }, () => get(session, '/balanced/now')))
  return asked.holding - before
}

test('responses that one worker still receives count in the choice of both workers', async () => {
  const [one, other] = await sessionOfEachWorker()
  // The requests that come to the other endpoint end.
  while (held.length < HELD) {
    const expected = asked.holding + asked.other + BATCH
    for (let i = 0; i < BATCH; i++) hold(one)
    await eventually('they came to the endpoints', () => asked.holding + asked.other === expected)
  }
  // It is chosen only when both draws are the same: 20 are expected of 80, and 60 if its responses did not count.
  expect(await countOnHolding(other)).toBeLessThan(40)
  expect(await countOnHolding(one)).toBeLessThan(40)
})
