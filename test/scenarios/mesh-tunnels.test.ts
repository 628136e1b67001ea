import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import http2, { type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { stringify } from 'yaml'
import type { ApiObject } from '#api/object.ts'
import { Translator } from '#control/translator.ts'
import { everybody, startServer } from '#deliver/testing.ts'
import { ProxyInstance } from '#instance/proxy-instance.ts'
import { type FakeCa, startFakeCa } from '#mesh/testing.ts'
import { issueMaterial, type MeshPeer, type MeshPeerOptions, relay, startMeshPeer } from '#net/testing/mesh-peer.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { echoWebSocket } from '#test/support/echo-websocket.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { QUIET_EVENTS } from '#test/support/instance.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { verifies } from '#test/support/verifies.ts'
import { startWorkerHere } from '#test/support/worker-here.ts'
import { readSessionKeys } from '#workers/sealer.ts'

// A proxy in a mesh, as its controller configures it, and pods of the mesh on loopback addresses that no other test uses: pods accept
// tunnels on port 15008.

const TUNNEL_PORT = 15_008
const IDENTITY = 'spiffe://cluster.local/ns/default/sa/cart'
const PROXY = 'spiffe://cluster.local/ns/default/sa/main'
const AMBIENT = { 'ambient.istio.io/redirection': 'enabled' }

let lastAddress = 10
/** A loopback address of its own for each pod. */
const newAddress = () => `127.15.8.${++lastAddress}`

interface Pod {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly peer: MeshPeer
  /** Requests that its server got. */
  readonly requests: string[]
  object(annotations?: object): ApiObject
}

interface PodOptions extends Pick<MeshPeerOptions, 'serve'> {
  readonly identity?: string
  readonly server?: Server
}

async function startPod(
  ca: FakeCa,
  name: string,
  { identity = IDENTITY, server, serve }: PodOptions = {},
): Promise<Pod> {
  const address = newAddress()
  const requests: string[] = []
  const own = http.createServer((request, response) => {
    requests.push(request.url!)
    request.pipe(response.writeHead(200, { 'x-pod': name }))
  })
  own.on('upgrade', echoWebSocket)
  const used = server ?? own
  used.listen(0, address)
  await new Promise((resolve) => used.once('listening', resolve))
  const material = await issueMaterial(ca.authority, identity)
  const peer = await startMeshPeer({ material, host: address, port: TUNNEL_PORT, ...(serve && { serve }) })
  onTestFinished(async () => {
    await peer[Symbol.asyncDispose]()
    own.closeAllConnections()
    used.close()
  })
  return {
    ...{ name, address, peer, requests },
    port: (used.address() as AddressInfo).port,
    object: (annotations = AMBIENT) =>
      admitObject({
        kind: 'Pod',
        metadata: { name, annotations },
        spec: { serviceAccountName: 'cart' },
        status: { phase: 'Running', podIP: address },
      }),
  }
}

const gatewayRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }

function gatewayObjects(port: number): ApiObject[] {
  const parametersRef = { group: 'gatewright.dev', kind: 'ProxyParameters', name: 'own' }
  const listeners = [{ name: 'http', port, protocol: 'HTTP' }]
  return [
    admitObject({ kind: 'ProxyParameters', metadata: { name: 'own' }, spec: { mesh: {} } }),
    admitObject({
      kind: 'Gateway',
      metadata: { name: 'main' },
      spec: { gatewayClassName: 'gatewright', listeners, infrastructure: { parametersRef } },
    }),
  ]
}

/** Service `cart` with these pods, and a route to it. */
function serviceObjects(pods: readonly Pod[], port: object = {}, rule: object = {}): ApiObject[] {
  const labels = { 'kubernetes.io/service-name': 'cart' }
  return [
    admitObject({ kind: 'Service', metadata: { name: 'cart' }, spec: { ports: [{ port: 80, ...port }] } }),
    ...pods.map(({ name, address, port }) =>
      admitObject({
        kind: 'EndpointSlice',
        metadata: { name, labels },
        addressType: 'IPv4',
        ports: [{ port, protocol: 'TCP' }],
        endpoints: [{ addresses: [address] }],
      }),
    ),
    admitObject({
      kind: 'HTTPRoute',
      metadata: { name: 'cart' },
      spec: { parentRefs: [{ name: 'main' }], rules: [{ backendRefs: [{ name: 'cart', port: 80 }], ...rule }] },
    }),
  ]
}

async function startProxy(ca: FakeCa, objects: readonly ApiObject[]) {
  const port = await freePort()
  const folder = temporaryFolder()
  const files = { rootsFile: join(folder, 'roots.pem'), tokenFile: join(folder, 'token') }
  writeFileSync(files.tokenFile, 'token')
  writeFileSync(files.rootsFile, ca.roots)
  const translator = new Translator()
  const first = translator.apply({ set: [...gatewayObjects(port), ...objects], removed: [] })
  const controller = await startServer(first.set, { authorise: everybody })
  const local = { host: '127.0.0.1', port: 0 }
  const log = join(folder, 'access.log')
  const proxy = await ProxyInstance.start(
    {
      ...{ workers: 1, bind: '127.0.0.1', admin: local, metrics: local, readiness: local, state: undefined },
      ...{ logFormat: 'text', logFile: log, transport: 'auto', bodyMemoryBytes: 2 ** 26 },
      shutdown: { minMs: 0, maxMs: 0 },
      sessionKeys: readSessionKeys({}),
      startThread: (start) =>
        startWorkerHere(start, {
          environment: {},
          standardOutput: { descriptor: 1, isPipe: false, follow: () => false, reopen: () => {}, close: () => {} },
          lineWaitMs: 2,
        }),
      ...{ controller: { url: controller.url }, identity: 'pod-1' },
      mesh: {
        caUrl: new URL(ca.url),
        trustDomain: 'cluster.local',
        workload: { namespace: 'default', serviceAccount: 'main' },
        ...files,
      },
    },
    QUIET_EVENTS,
  )
  onTestFinished(() => proxy.close())
  const url = `http://127.0.0.1:${port}`
  const apply = (set: readonly ApiObject[], removed: readonly ApiObject[] = []) => {
    const change = translator.apply({ set, removed })
    controller.edit(change.set, change.removed)
  }
  await eventually('ready', async () => {
    const response = await fetch(`http://127.0.0.1:${proxy.ports.readiness}/healthz/ready`)
    if (!response.ok) throw new Error(await response.text())
    return true
  })
  return {
    ...{ port, url, apply },
    get: (path = '/', init: RequestInit = {}) => fetch(`${url}${path}`, init),
    metrics: async () => (await fetch(`http://127.0.0.1:${proxy.ports.metrics}/metrics`)).text(),
    log: () => readFileSync(log, 'utf8'),
  }
}

verifies('parameters.mesh/mutual-tls', 'pods of the mesh are reached through tunnels with mutual TLS', async () => {
  await using ca = await startFakeCa()
  const [pod, stranger] = [
    await startPod(ca, 'cart-1'),
    await startPod(ca, 'cart-2', { identity: 'spiffe://cluster.local/ns/default/sa/other' }),
  ]
  const proxy = await startProxy(ca, [...serviceObjects([pod]), pod.object()])
  const response = await proxy.get('/hello', { method: 'POST', body: 'body' })
  expect([response.status, response.headers.get('x-pod'), await response.text()]).toEqual([200, 'cart-1', 'body'])
  expect(pod.peer.asked).toEqual([`${pod.address}:${pod.port}`])
  expect(pod.peer.clients).toEqual([PROXY])
  expect(await proxy.metrics()).toMatch(/upstream_connect_duration_seconds_count\{[^}]*transport="hbone"[^}]*\} 1/)

  proxy.apply([...serviceObjects([stranger]), stranger.object()])
  await eventually('the other pod is tried, and not trusted', async () => (await proxy.get()).status === 503)
  await eventually('it is in the log', () => proxy.log().includes('certificate-name'))
  expect([stranger.requests, stranger.peer.asked]).toEqual([[], []])
})

test('a pod that leaves the mesh, joins it, or is replaced is followed, and no request fails', async () => {
  await using ca = await startFakeCa()
  const [first, second] = [await startPod(ca, 'cart-1'), await startPod(ca, 'cart-2')]
  const proxy = await startProxy(ca, [...serviceObjects([first]), first.object()])
  const statuses: number[] = []
  let isOver = false
  const load = async () => {
    while (!isOver) {
      const response = await proxy.get()
      statuses.push(response.status)
      await response.text()
    }
  }
  const loads = Promise.all([load(), load(), load()])
  const served = async (pod: Pod) => {
    const { length } = pod.requests
    await eventually(`${pod.name} serves`, () => pod.requests.length > length + 10)
  }
  await served(first)
  proxy.apply([...serviceObjects([second]), second.object({})], serviceObjects([first]).slice(1, 2))
  await served(second)
  expect(second.peer.asked).toEqual([])
  proxy.apply([second.object()])
  await eventually('it joins', () => second.peer.asked.length > 0)
  await served(second)
  proxy.apply([second.object({})])
  await served(second)
  isOver = true
  await loads
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('a request whose tunnel a pod refuses is retried at another pod, and the pod is evicted', async () => {
  await using ca = await startFakeCa()
  const refuse = (stream: ServerHttp2Stream) => stream.respond({ ':status': 503 }, { endStream: true })
  const [bad, good] = [await startPod(ca, 'cart-1', { serve: refuse }), await startPod(ca, 'cart-2')]
  const health = admitObject({
    kind: 'ProxyPolicy',
    metadata: { name: 'health' },
    spec: {
      targetRefs: [gatewayRef],
      traffic: { retry: { attempts: 2 } },
      backend: { health: { eviction: { consecutiveFailures: 1, duration: '60s' } } },
    },
  })
  const proxy = await startProxy(ca, [...serviceObjects([bad, good]), bad.object(), good.object(), health])
  for (let n = 0; n < 20; n++) expect((await proxy.get()).status).toBe(200)
  expect(bad.peer.asked.length).toBe(1)
  expect(good.requests.length).toBe(20)
})

test('one tunnel that a pod resets fails its own request only', async () => {
  await using ca = await startFakeCa()
  let resets = 0
  const serve: MeshPeerOptions['serve'] = (stream, headers) => {
    if (resets++ > 0) return relay(stream, headers)
    stream.respond({ ':status': 200 })
    stream.once('data', () => stream.close(http2.constants.NGHTTP2_CONNECT_ERROR))
  }
  const pod = await startPod(ca, 'cart-1', { serve })
  const proxy = await startProxy(ca, [...serviceObjects([pod]), pod.object()])
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async () => (await proxy.get('/', { method: 'POST', body: 'x' })).status),
  )
  expect(statuses.toSorted()).toEqual([...Array(7).fill(200), 503])
  expect(pod.peer.clients.length).toBe(1)
})

test('large bodies in both directions, and WebSockets', async () => {
  await using ca = await startFakeCa()
  const pod = await startPod(ca, 'cart-1')
  const proxy = await startProxy(ca, [...serviceObjects([pod]), pod.object()])
  const body = Buffer.alloc(20_000_000, 'abcdefghijklmnop')
  const response = await proxy.get('/', { method: 'POST', body })
  expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true)

  const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/chat`)
  await new Promise((resolve) => socket.once('open', resolve))
  const echoed = new Promise((resolve) => socket.once('message', resolve))
  socket.send('through the tunnel')
  expect(String(await echoed)).toBe('through the tunnel')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.close()
  await closed
})

test('gRPC', async () => {
  await using ca = await startFakeCa()
  const server = http2.createServer()
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-path': headers[':path'] }))
    stream.pipe(stream)
  })
  const pod = await startPod(ca, 'cart-1', { server: server as unknown as Server })
  const h2c = { appProtocol: 'kubernetes.io/h2c' }
  const proxy = await startProxy(ca, [...serviceObjects([pod], h2c), pod.object()])
  const session = http2.connect(proxy.url)
  onTestFinished(() => session.destroy())
  const call = session.request({ ':method': 'POST', ':path': '/shop.Cart/Get', 'content-type': 'application/grpc' })
  const trailers = new Promise<http2.IncomingHttpHeaders>((resolve) => call.once('trailers', resolve))
  call.end(Buffer.from([0, 0, 0, 0, 2, 8, 1]))
  const pieces: Buffer[] = []
  call.on('data', (piece: Buffer) => pieces.push(piece))
  expect(await trailers).toMatchObject({ 'grpc-status': '0', 'x-path': '/shop.Cart/Get' })
  expect(Buffer.concat(pieces)).toEqual(Buffer.from([0, 0, 0, 0, 2, 8, 1]))
  expect(pod.peer.asked.length).toBe(1)
})

test('relayed connections', async () => {
  await using ca = await startFakeCa()
  const greeting = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.write('hello\n')
    socket.on('end', () => socket.end('bye\n'))
    socket.resume()
  })
  const pod = await startPod(ca, 'cart-1', { server: greeting })
  const port = await freePort()
  const parametersRef = { group: 'gatewright.dev', kind: 'ProxyParameters', name: 'own' }
  const relaying = admitObject({
    kind: 'Gateway',
    metadata: { name: 'main' },
    spec: {
      gatewayClassName: 'gatewright',
      listeners: [{ name: 'tcp', port, protocol: 'TCP' }],
      infrastructure: { parametersRef },
    },
  })
  const route = admitObject({
    kind: 'TCPRoute',
    metadata: { name: 'cart' },
    spec: { parentRefs: [{ name: 'main' }], rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }] },
  })
  const proxy = await startProxy(ca, [...serviceObjects([pod]), pod.object()])
  proxy.apply([relaying, route])
  const socket = await eventually('the listener is open', async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  })
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  await eventually('the server sends first', () => text === 'hello\n')
  socket.end()
  await once(socket, 'end')
  expect([text, pod.peer.asked]).toEqual(['hello\nbye\n', [`${pod.address}:${pod.port}`]])
})

test('a gateway without a CA refuses requests for pods of the mesh, and says why', async () => {
  await using ca = await startFakeCa()
  const pod = await startPod(ca, 'cart-1')
  const port = await freePort()
  const objects = [...gatewayObjects(port), ...serviceObjects([pod]), pod.object()]
  const folder = await createObjectsFolder({
    'objects.yaml': objects.map(({ origin: _, ...object }) => stringify(object)).join('---\n'),
  })
  onTestFinished(() => folder.remove())
  await using gateway = await startGateway({ files: [folder.path], workers: 1 })
  const response = await fetch(gateway.url(port))
  expect([response.status, pod.requests, pod.peer.clients]).toEqual([503, [], []])
  await eventually('it is in the log', () => gateway.output.stdout.includes(`mesh-certificate-missing`))
})
