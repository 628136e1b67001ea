import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { frameMessage } from '#net/grpc/message-frame.ts'
import { type FramePeer, FrameServer } from '#net/testing/frame-server.ts'
import { callCounts } from '#test/support/call-counts.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { GRPC_FAULTS, SHUT_WINDOW } from '#test/support/grpc-faults.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { tookAll } from '#test/support/pour.ts'
import { refusalOf } from '#test/support/refusal-of.ts'

// gRPC servers that the gateway asks in the middle of a request, and that misbehave.

interface Callout {
  /** A message that allows the request. */
  readonly yes: Uint8Array
  policy(backend: string, failureMode: string): object
  readonly refusal: readonly [status: number, text: string, code: string]
}

const refTo = (name: string) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name })

const CALLOUTS: Readonly<Record<string, Callout>> = {
  authorization: {
    yes: new Uint8Array(0),
    policy: (backend, failureMode) => ({ extAuth: { backendRef: refTo(backend), failureMode, grpc: {} } }),
    refusal: [403, 'external authorization failed', 'ext-auth-denied'],
  },
  'rate-limit': {
    // `overall_code: OK`
    yes: Uint8Array.of(8, 1),
    policy: (backend, failureMode) => {
      const descriptors = [{ entries: [{ name: 'path', expression: 'request.path' }] }]
      return { rateLimit: { global: { backendRef: refTo(backend), failureMode, domain: 'd', descriptors } } }
    },
    refusal: [500, 'rate limit failed', 'rate-limit-failed'],
  },
}

const FAULTS = [...Object.keys(GRPC_FAULTS), 'shut-window', 'nobody-listens']
const MODES = ['FailClosed', 'FailOpen'] as const

const stops = new AsyncDisposableStack()
const servers: { readonly name: string; readonly server: FrameServer }[] = []
let gateway: TestGateway
let port: number

async function startFault(name: string, fault: string, yes: Uint8Array): Promise<number> {
  if (fault === 'nobody-listens') return freePort()
  const framed = Buffer.from(frameMessage(yes)).toString('latin1')
  const serve = (peer: FramePeer) => {
    if (fault === 'shut-window') return SHUT_WINDOW(peer)
    peer.settings()
    peer.onRequest = (stream) => GRPC_FAULTS[fault]!(peer, stream, framed)
  }
  const server = await new FrameServer(serve).start()
  servers.push({ name, server })
  stops.defer(() => server.close())
  return server.destination.port
}

/** A bad server, and two routes whose policies ask it: one fails closed, the other open. */
async function faultYaml(callout: string, fault: string): Promise<string> {
  const { yes, policy } = CALLOUTS[callout]!
  const name = `${callout}-${fault}`
  return joinYaml(
    backendYaml(name, await startFault(name, fault, yes)),
    policyYaml(`${name}-limit`, 'ProxyBackend', name, { backend: { http: { requestTimeout: '400ms' } } }),
    ...MODES.flatMap((mode) => {
      const route = `${name}-${mode.toLowerCase()}`
      return [
        routeYaml(route, `/${name}/${mode}`, 'echo'),
        policyYaml(route, 'HTTPRoute', route, { traffic: policy(name, mode) }),
      ]
    }),
  )
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  const objects = [gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('plain', '/plain', 'echo')]
  for (const callout of Object.keys(CALLOUTS)) {
    for (const fault of FAULTS) objects.push(await faultYaml(callout, fault))
  }
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(...objects) })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)

const ROWS = Object.keys(CALLOUTS).flatMap((callout) => FAULTS.map((fault) => [callout, fault] as const))

test.concurrent.each(ROWS)(
  '%s: a server that %s: the failure mode decides in time, and others are served',
  async (callout, fault) => {
    const [closed, open, other] = await Promise.all([
      get(`/${callout}-${fault}/FailClosed`),
      get(`/${callout}-${fault}/FailOpen`),
      get('/plain'),
    ])
    expect(await refusalOf(gateway, closed)).toEqual(CALLOUTS[callout]!.refusal)
    expect([open.status, other.status]).toEqual([200, 200])
  },
)

test('every call is over, and counted once', async () => {
  const all = Object.fromEntries(ROWS.map(([callout, fault]) => [`${callout} default/${callout}-${fault}`, 2]))
  await eventually('all calls are over', async () => {
    const counts = await callCounts(gateway)
    expect(counts).toEqual(all)
    return true
  })
})

test('metrics name the cause', async () => {
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  for (const [fault, outcome] of Object.entries({ stalls: 'timeout', resets: 'reset', 'http-503': '5xx' })) {
    expect(metrics).toContain(`{purpose="authorization",backend="default/authorization-${fault}",outcome="${outcome}"}`)
  }
})

test('no server keeps more than one connection, and none was read to its end', async () => {
  await eventually('connections are closed', () => {
    const open = servers.map(({ name, server }) => [
      name,
      server.peers.filter(({ socket }) => !socket.destroyed).length,
    ])
    expect(open.filter(([, count]) => Number(count) > 1)).toEqual([])
    return true
  })
  const whole = servers.filter(({ server }) => server.peers.some(({ socket }) => tookAll(socket)))
  expect(whole.map(({ name }) => name)).toEqual([])
})
