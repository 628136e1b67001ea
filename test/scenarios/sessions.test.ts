import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { type GrpcBackend, GrpcCaller, startGrpcBackend } from '#test/support/grpc-peers.ts'
import {
  createObjectsFolder,
  joinYaml,
  listenersYaml,
  type ObjectsFolder,
  serviceYaml,
} from '#test/support/objects-folder.ts'

/** Persistent sessions of route rules in a gateway with two workers, which share the key of sessions. */

const KEY = '0123456789abcdef'.repeat(4)
const ENDPOINTS = ['one', 'two', 'three']

const stops = new AsyncDisposableStack()
let folder: ObjectsFolder
let port: number
let rpcPort: number
let ports: Record<string, number>
const rpcBackends: GrpcBackend[] = []

const service = (name: string) => ({ name, port: 80 })

function routeYaml(name: string, backendRefs: readonly object[], sessionPersistence: object): string {
  const matches = [{ path: { type: 'PathPrefix', value: `/${name}` } }]
  const spec = {
    parentRefs: [{ name: 'main', sectionName: 'http' }],
    rules: [{ matches, backendRefs, sessionPersistence }],
  }
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec: ${JSON.stringify(spec)}
`
}

/** `serviceYaml` without its route. */
const endpointsYaml = (name: string, at: readonly number[]) =>
  serviceYaml(name, at).split('---').slice(0, -1).join('---')

function splitYaml(weights: readonly [blue: number, green: number]): string {
  const refs = [
    { ...service('blue'), weight: weights[0] },
    { ...service('green'), weight: weights[1] },
  ]
  return routeYaml('split', refs, { sessionName: 'split' })
}

function grpcYaml(): string {
  const rule = { backendRefs: [service('rpc')], sessionPersistence: { type: 'Header', sessionName: 'x-stay' } }
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: rpc }
spec: ${JSON.stringify({ parentRefs: [{ name: 'main', sectionName: 'rpc' }], rules: [rule] })}
`
}

beforeAll(async () => {
  ports = {}
  for (const name of ENDPOINTS) {
    const echo = await startEcho({ port: 0, name })
    stops.defer(echo.close)
    ports[name] = echo.port
  }
  for (let i = 0; i < 3; i++) {
    const rpc = await startGrpcBackend(['test.Echo'])
    stops.defer(() => rpc.close())
    rpcBackends.push(rpc)
  }
  port = await freePort()
  rpcPort = await freePort()
  folder = await createObjectsFolder({
    'gateway.yaml': joinYaml(
      listenersYaml('main', [
        `{ name: http, protocol: HTTP, port: ${port} }`,
        `{ name: rpc, protocol: HTTP, port: ${rpcPort} }`,
      ]),
      routeYaml('cookie', [service('shop')], { sessionName: 'stay' }),
      routeYaml('other', [service('shop')], { sessionName: 'stay' }),
      routeYaml('header', [service('shop')], { type: 'Header', sessionName: 'x-stay' }),
      endpointsYaml('blue', [ports.one!]),
      endpointsYaml('green', [ports.two!]),
      endpointsYaml(
        'rpc',
        rpcBackends.map((rpc) => rpc.port),
      ).replace('port: 80 }', 'port: 80, appProtocol: kubernetes.io/h2c }'),
      grpcYaml(),
    ),
    'shop.yaml': endpointsYaml('shop', Object.values(ports)),
    'split.yaml': splitYaml([1, 1]),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 2, environment: { SESSION_KEY: KEY } }))
})

afterAll(() => stops.disposeAsync())

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close', ...headers } })

interface Visit {
  /** The endpoint that answered. */
  readonly name: string
  readonly seen: Echo
  /** The session cookie that the response sets. */
  readonly cookie: string | undefined
  readonly attributes: string
}

async function visit(path: string, cookie?: string): Promise<Visit> {
  const response = await ask(path, cookie === undefined ? {} : { cookie })
  expect(response.status).toBe(200)
  const seen = (await response.json()) as Echo
  const [set, ...attributes] = (response.headers.get('set-cookie') ?? '').split('; ')
  return { name: seen.name, seen, cookie: set === '' ? undefined : set, attributes: attributes.join('; ') }
}

/** The endpoints that answer requests with this session. */
async function namesOf(path: string, cookie: string, count = 20): Promise<string[]> {
  const names = new Set<string>()
  for (let i = 0; i < count; i++) names.add((await visit(path, `a=b; ${cookie}`)).name)
  return [...names]
}

test('with a cookie, all requests go to the endpoint that answered first, in all workers', async () => {
  const first = await visit('/cookie')
  expect(first.attributes).toBe('Path=/cookie; HttpOnly; SameSite=Strict')
  expect(await namesOf('/cookie', first.cookie!)).toEqual([first.name])
  const second = await visit('/cookie', `a=b; ${first.cookie}`)
  expect([second.cookie, second.seen.headers.cookie]).toEqual([undefined, 'a=b'])
  const names = new Set<string>()
  await eventually('clients without a session reach every endpoint', async () => {
    names.add((await visit('/cookie')).name)
    return names.size === ENDPOINTS.length
  })
})

test('rules do not share sessions, and nobody makes one', async () => {
  const { cookie } = await visit('/cookie')
  expect((await visit('/other', cookie)).cookie).toBeDefined()
  expect((await visit('/cookie', `${cookie}x`)).cookie).toBeDefined()
})

test('with a header', async () => {
  const first = await ask('/header')
  const session = first.headers.get('x-stay')!
  const { name } = (await first.json()) as Echo
  for (let i = 0; i < 20; i++) {
    const response = await ask('/header', { 'x-stay': session })
    const seen = (await response.json()) as Echo
    expect([seen.name, seen.headers['x-stay'], response.headers.get('x-stay')]).toEqual([name, undefined, null])
  }
})

test('a session stays with its backend even when the weight becomes 0; new ones follow the weights', async () => {
  const green = await eventually('a session with green', async () => {
    const { name, cookie } = await visit('/split')
    return name === 'two' ? cookie : undefined
  })
  await folder.write('split.yaml', splitYaml([1, 0]))
  await eventually('the weights are in force', async () => {
    const names = await Promise.all(Array.from({ length: 10 }, async () => (await visit('/split')).name))
    return names.every((name) => name === 'one')
  })
  expect(await namesOf('/split', green)).toEqual(['two'])
})

test('gRPC calls', async () => {
  const caller = new GrpcCaller(`127.0.0.1:${rpcPort}`, 'test.Echo')
  stops.defer(() => caller.client.close())
  const first = await caller.ask('say', 'hello')
  const session = first.head?.get('x-stay')[0]
  expect(session).toBeTypeOf('string')
  const before = rpcBackends.map((rpc) => rpc.seen())
  for (let i = 0; i < 10; i++) await caller.ask('say', 'again', { metadata: { 'x-stay': session as string } })
  expect(rpcBackends.filter((rpc, i) => rpc.seen() !== before[i])).toHaveLength(1)
})

test('explain reads a session', async () => {
  const { cookie, name } = await visit('/cookie')
  const { stdout } = await gatewright(
    ['explain', '-f', folder.path, '-H', `cookie: ${cookie}`, `http://127.0.0.1:${port}/cookie`],
    { SESSION_KEY: KEY },
  )
  expect(stdout).toContain(`the session leads to 127.0.0.1:${ports[name]} of default/shop`)
  expect(stdout).toContain('sessionPersistence')
})

// Last, because the Service changes.
test('without its endpoint, a session moves to another one and stays there', async () => {
  const { cookie, name } = await visit('/cookie')
  const left = Object.entries(ports).filter(([other]) => other !== name)
  await folder.write(
    'shop.yaml',
    endpointsYaml(
      'shop',
      left.map(([, port]) => port),
    ),
  )
  const moved = await eventually('the session has moved', async () => {
    const next = await visit('/cookie', cookie)
    return next.name === name ? undefined : next
  })
  expect(await namesOf('/cookie', moved.cookie!)).toEqual([moved.name])
})
