import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { type GrpcBackend, GrpcCaller, startGrpcBackend } from '#test/support/grpc-peers.ts'
import { backendYaml, createObjectsFolder, joinYaml, listenersYaml } from '#test/support/objects-folder.ts'

/** Filters of single `backendRef`s in a running gateway. */

interface Seen {
  readonly url: string
  readonly host: string
  /** Values of `x-mark`. */
  readonly marks: string
}

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
let rpc: GrpcBackend
let rpcPort: number
let seen: Seen[] = []
let copies: Seen[] = []
/** Statuses of the next responses; then 200. */
let statuses: number[] = []

beforeEach(() => {
  seen = []
  copies = []
  statuses = []
})

async function serve(note: (seen: Seen) => number): Promise<number> {
  const server = createServer((request, response) => {
    response.statusCode = note(seenOf(request))
    response.setHeader('x-own', 'server')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function seenOf({ url, headers }: IncomingMessage): Seen {
  return { url: url!, host: headers.host!, marks: String(headers['x-mark']) }
}

const refOf = (name: string, ...filters: object[]) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name, filters })
const mark = (value: string) => ({
  type: 'RequestHeaderModifier',
  requestHeaderModifier: { add: [{ name: 'x-mark', value }] },
})
const prefixed = (replacePrefixMatch: string) => ({ type: 'ReplacePrefixMatch', replacePrefixMatch })

const RULES: Readonly<Record<string, object>> = {
  '/modified': {
    filters: [mark('rule')],
    backendRefs: [
      refOf('one', mark('first'), {
        type: 'ResponseHeaderModifier',
        responseHeaderModifier: { set: [{ name: 'x-own', value: 'first' }] },
      }),
      { ...refOf('one', mark('second')), weight: 0 },
    ],
  },
  '/shared': { backendRefs: [refOf('one', mark('first')), refOf('one', mark('second'))] },
  '/rewritten': {
    backendRefs: [
      refOf('one', { type: 'URLRewrite', urlRewrite: { hostname: 'inner.test', path: prefixed('/inner') } }),
    ],
  },
  '/redirected': {
    backendRefs: [refOf('one', { type: 'RequestRedirect', requestRedirect: { path: prefixed('/elsewhere') } })],
  },
  '/copied': {
    retry: { codes: [503], attempts: 2 },
    backendRefs: [
      refOf('one', mark('own'), { type: 'RequestMirror', requestMirror: { backendRef: refOf('shadow') } }),
      { ...refOf('one'), weight: 0 },
    ],
  },
  '/unsupported': { backendRefs: [refOf('one', mark('first'), { type: 'CORS', cors: {} })] },
  '/twice-rewritten': {
    filters: [{ type: 'URLRewrite', urlRewrite: { path: prefixed('/outer') } }],
    backendRefs: [refOf('one', { type: 'URLRewrite', urlRewrite: { path: prefixed('/inner') } })],
  },
}

function routeYaml(kind: 'HTTPRoute' | 'GRPCRoute', listener: string, rules: readonly object[]): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: ${kind}
metadata: { name: ${listener} }
spec: ${JSON.stringify({ parentRefs: [{ name: 'main', sectionName: listener }], rules })}
`
}

beforeAll(async () => {
  const one = await serve((request) => {
    seen.push(request)
    return statuses.shift() ?? 200
  })
  const shadow = await serve((request) => {
    copies.push(request)
    return 200
  })
  rpc = await startGrpcBackend(['test.Echo'])
  stops.defer(() => rpc.close())
  port = await freePort()
  rpcPort = await freePort()
  const rules = Object.entries(RULES).map(([value, rule]) => ({
    matches: [{ path: { type: 'PathPrefix', value } }],
    ...rule,
  }))
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      listenersYaml('main', [
        `{ name: http, protocol: HTTP, port: ${port} }`,
        `{ name: rpc, protocol: HTTP, port: ${rpcPort} }`,
      ]),
      backendYaml('one', one),
      backendYaml('shadow', shadow),
      backendYaml('rpc', rpc.port),
      routeYaml('HTTPRoute', 'http', rules),
      routeYaml('GRPCRoute', 'rpc', [{ backendRefs: [refOf('rpc', mark('call'))] }]),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

async function ask(path: string) {
  const response = await fetch(gateway.url(port) + path, { redirect: 'manual' })
  const { status, headers } = response
  return { status, own: headers.get('x-own'), location: headers.get('location') }
}

test('header modifiers of a backendRef run after those of its rule', async () => {
  expect(await ask('/modified')).toMatchObject({ status: 200, own: 'first' })
  expect(seen.map(({ marks }) => marks)).toEqual(['rule, first'])
})

test('only the filters of the chosen backendRef run', async () => {
  await eventually('both are chosen', async () => {
    await ask('/shared')
    return new Set(seen.map(({ marks }) => marks)).size === 2
  })
  expect([...new Set(seen.map(({ marks }) => marks))].sort()).toEqual(['first', 'second'])
})

test('a rewrite of path and host', async () => {
  await ask('/rewritten/x?y=1')
  expect(seen).toEqual([{ url: '/inner/x?y=1', host: 'inner.test', marks: 'undefined' }])
})

test('a redirect answers', async () => {
  const { host } = new URL(gateway.url(port))
  expect(await ask('/redirected/x')).toMatchObject({ status: 302, location: `http://${host}/elsewhere/x` })
  expect(seen).toEqual([])
})

test('each attempt begins with the request of the rule, and only one copy is sent', async () => {
  statuses = [503, 503]
  expect((await ask('/copied')).status).toBe(200)
  expect(seen.map(({ marks }) => marks)).toEqual(['own', 'own', 'own'])
  await eventually('the copy arrives', () => copies.length > 0)
  // The copy is made before the filters of the backendRef change the request.
  expect(copies.map(({ marks }) => marks)).toEqual(['undefined'])
})

test('filters that a backendRef cannot have refuse its share', async () => {
  expect((await ask('/unsupported')).status).toBe(500)
  expect((await ask('/twice-rewritten')).status).toBe(500)
  expect(seen).toEqual([])
})

test('gRPC calls', async () => {
  const caller = new GrpcCaller(`127.0.0.1:${rpcPort}`, 'test.Echo')
  stops.defer(() => caller.client.close())
  await caller.ask('say', 'hello')
  expect(rpc.seen()?.get('x-mark')).toEqual(['call'])
})
