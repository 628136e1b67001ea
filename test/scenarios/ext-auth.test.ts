import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { RawClient } from '#net/testing/raw-peers.ts'
import { gatewright } from '#test/support/command-line.ts'
import { envoyService } from '#test/support/envoy-definitions.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { GrpcCaller, startGrpcBackend, startGrpcService } from '#test/support/grpc-peers.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  joinYaml,
  listenersYaml,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

// External authorization in a running gateway, by servers of other implementations. Servers that misbehave are in grpc-callout-faults and http-callout-faults.

const AUTHORIZATION = envoyService('envoy/service/auth/v3/external_auth.proto', 'envoy.service.auth.v3.Authorization')

interface Check {
  readonly attributes: {
    readonly contextExtensions: Readonly<Record<string, string>>
    readonly request: {
      readonly http: { readonly path: string; readonly body: string; readonly headers: Record<string, string> }
    }
  }
}

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let objectsPath: string
let port: number
/** Another listener, because routes for HTTP and for gRPC do not share hosts. */
let rpcPort: number
const hungConnections: net.Socket[] = []
/** The questions to the gRPC server. */
const checks: Check[] = []
/** The questions to the HTTP server. */
const asked: { readonly method: string; readonly url: string; readonly body: string }[] = []

function check(question: Check) {
  checks.push(question)
  const { path, headers } = question.attributes.request.http
  if (path.includes('denied')) {
    const deniedResponse = {
      status: { code: 429 },
      headers: [{ header: { key: 'x-why', value: 'no' } }],
      body: 'not you',
    }
    return { status: { code: 7 }, deniedResponse }
  }
  if (path.includes('failing')) throw Object.assign(new Error('not now'), { code: status.UNAVAILABLE })
  const edits = [
    { header: { key: 'x-user', value: headers.authorization ?? 'nobody' } },
    { header: { key: 'x-target', value: 'green' } },
  ]
  return {
    status: { code: 0 },
    okResponse: { headers: edits, responseHeadersToAdd: [{ header: { key: 'x-checked', value: 'yes' } }] },
    dynamicMetadata: { fields: { tier: { stringValue: 'gold' } } },
  }
}

function answerHttp(request: IncomingMessage, response: ServerResponse): void {
  let body = ''
  request.on('data', (bytes: Buffer) => {
    body += bytes.toString()
  })
  request.on('end', () => {
    asked.push({ method: request.method!, url: request.url!, body })
    if (request.url!.startsWith('/http/denied')) return void response.writeHead(401, { 'x-why': 'no' }).end('who?')
    response.writeHead(200, { 'x-user': 'carol' }).end('{"tier":"silver"}')
  })
}

/** With a route at the listener for HTTP. */
const atHttp = (yaml: string) => yaml.replace('{ name: main }', '{ name: main, sectionName: http }')
const httpRouteYaml: typeof routeYaml = (...given) => atHttp(routeYaml(...given))

/** Two routes to the echo server whose policies ask an HTTP server that is not there. */
function absentYaml(name: string): string {
  return joinYaml(
    ...['FailClosed', 'FailOpen'].flatMap((failureMode) => {
      const route = `${name}-${failureMode.toLowerCase()}`
      const extAuth = { backendRef: backendRef(name), failureMode, http: {} }
      return [
        httpRouteYaml(route, `/${route}`, 'echo'),
        policyYaml(route, 'HTTPRoute', route, { traffic: { extAuth } }),
      ]
    }),
  )
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const authz = await startGrpcService(AUTHORIZATION, { check })
  stops.defer(authz.close)
  const secured = await startGrpcService(AUTHORIZATION, { check }, CERTIFICATES.server)
  stops.defer(secured.close)
  const talk = await startGrpcBackend(['test.Guarded'])
  stops.defer(talk.close)
  const web = http.createServer(answerHttp).listen(0, '127.0.0.1')
  await once(web, 'listening')
  stops.defer(() => void web.close())
  const hung = net
    .createServer((socket) => {
      hungConnections.push(socket)
      socket.on('error', () => {})
    })
    .listen(0, '127.0.0.1')
  await once(hung, 'listening')
  stops.defer(() => void hung.close())
  port = await freePort()
  rpcPort = await freePort()
  const objects = [
    listenersYaml('main', [
      `{ name: http, protocol: HTTP, port: ${port} }`,
      `{ name: rpc, protocol: HTTP, port: ${rpcPort} }`,
    ]),
    backendYaml('echo', echo.port),
    backendYaml('talk', talk.port),
    backendYaml('web', (web.address() as AddressInfo).port),
    backendYaml('hung', (hung.address() as AddressInfo).port),
    backendYaml('nobody', await freePort()),
    backendYaml('secured', secured.port),
    authoritiesYaml('trusted', CERTIFICATES.ca),
    policyYaml('trust', 'ProxyBackend', 'secured', {
      backend: { tls: { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' }, auth: { key: 'k3y' } },
    }),
    atHttp(serviceYaml('authz', [authz.port])),
    httpRouteYaml('grpc', '/grpc', 'echo'),
    policyYaml('grpc', 'HTTPRoute', 'grpc', {
      traffic: {
        extAuth: {
          backendRef: { name: 'authz', port: 80 },
          grpc: { contextExtensions: { tenant: 'blue' } },
          forwardBody: { maxSize: 1000 },
        },
        authorization: { action: 'Require', policy: { matchExpressions: ['extauthz.tier == "gold"'] } },
      },
    }),
    httpRouteYaml('secured', '/secured', 'echo'),
    policyYaml('secured', 'HTTPRoute', 'secured', {
      traffic: { extAuth: { backendRef: backendRef('secured'), grpc: {} } },
    }),
    httpRouteYaml('http', '/http', 'echo'),
    policyYaml('http', 'HTTPRoute', 'http', {
      traffic: {
        extAuth: {
          backendRef: backendRef('web'),
          http: { allowedResponseHeaders: ['x-user'], responseMetadata: { tier: 'json(response.body).tier' } },
          forwardBody: { maxSize: 1000 },
        },
        transformation: { request: { set: [{ name: 'x-tier', value: 'extauthz.tier' }] } },
      },
    }),
    httpRouteYaml('cached', '/cached', 'echo'),
    policyYaml('cached', 'HTTPRoute', 'cached', {
      traffic: {
        extAuth: {
          backendRef: { name: 'authz', port: 80 },
          grpc: {},
          cache: { key: ['request.headers["authorization"]'], ttl: '1h' },
        },
      },
    }),
    httpRouteYaml('backend', '/backend', 'asking'),
    backendYaml('asking', echo.port),
    policyYaml('asking', 'ProxyBackend', 'asking', {
      backend: { extAuth: { backendRef: { name: 'authz', port: 80 }, grpc: {} } },
    }),
    httpRouteYaml('hung', '/hung', 'echo'),
    policyYaml('hung', 'HTTPRoute', 'hung', { traffic: { extAuth: { backendRef: backendRef('hung'), grpc: {} } } }),
    absentYaml('nobody'),
    // Before routing: the server's header selects the route.
    `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: by-header }
spec:
  parentRefs: [{ name: main, sectionName: http }]
  rules:
    - matches: [{ path: { value: /early }, headers: [{ name: x-target, value: green }] }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: echo }]
`,
    policyYaml('early', 'Gateway', 'main', {
      traffic: {
        phase: 'PreRouting',
        extAuth: {
          conditional: [
            {
              condition: 'request.path.startsWith("/early")',
              policy: { backendRef: { name: 'authz', port: 80 }, grpc: {} },
            },
          ],
        },
      },
    }),
    `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: talk }
spec:
  parentRefs: [{ name: main, sectionName: rpc }]
  rules:
    - matches: [{ method: { service: test.Guarded } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: talk }]
`,
    policyYaml('talk', 'GRPCRoute', 'talk', {
      traffic: { extAuth: { backendRef: backendRef('web'), http: { path: '"/http/denied"' } } },
    }),
  ]
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(...objects), 'gone.yaml': absentYaml('gone') })
  stops.defer(folder.remove)
  objectsPath = join(folder.path, 'all.yaml')
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

const url = (path: string) => `http://127.0.0.1:${port}${path}`
const get = (path: string, headers: Record<string, string> = {}) => fetch(url(path), { headers })
const echoed = async (response: Response) => (await response.json()) as Echo

test('a gRPC server of another implementation allows: its headers replace those of the client', async () => {
  const forged = { authorization: 'alice', 'x-user': 'root', x_user: 'root' }
  const response = await fetch(url('/grpc/a?b=c'), { method: 'POST', headers: forged, body: 'the body' })
  expect([response.status, response.headers.get('x-checked')]).toEqual([200, 'yes'])
  const { headers, body } = await echoed(response)
  expect(headers).toMatchObject({ 'x-user': 'alice', authorization: 'alice' })
  expect(headers).not.toHaveProperty('x_user')
  expect(body, 'the body reaches the backend unchanged').toBe('the body')
  expect(checks.at(-1)!.attributes).toMatchObject({
    contextExtensions: { tenant: 'blue' },
    request: { http: { path: '/grpc/a?b=c', body: 'the body' } },
  })
})

test('a gRPC server denies: the client gets its answer', async () => {
  const response = await get('/grpc/denied')
  expect([response.status, response.headers.get('x-why'), await response.text()]).toEqual([429, 'no', 'not you'])
  expect((await get('/grpc/failing')).status).toBe(403)
})

test('a body that is too large is refused, and nobody is asked', async () => {
  const before = checks.length
  const response = await fetch(url('/grpc/a'), { method: 'POST', body: 'x'.repeat(1001) })
  expect(response.status).toBe(413)
  const streamed = new ReadableStream({
    start(controller) {
      for (let i = 0; i < 11; i++) controller.enqueue(new Uint8Array(100))
      controller.close()
    },
  })
  const chunked = await fetch(url('/grpc/a'), { method: 'POST', body: streamed, duplex: 'half' } as RequestInit)
  expect(chunked.status).toBe(413)
  expect(checks.length).toBe(before)
})

test('a server behind TLS and a credential is asked with the policies that are attached to it', async () => {
  expect((await get('/secured/a', { authorization: 'bob' })).status).toBe(200)
  expect(checks.at(-1)!.attributes.request.http.headers.authorization, 'of the client').toBe('bob')
})

test('an HTTP server allows and denies', async () => {
  const response = await fetch(url('/http/a?b=c'), { method: 'PUT', headers: { 'x-user': 'root' }, body: 'the body' })
  const { headers, body } = await echoed(response)
  expect(headers).toMatchObject({ 'x-user': 'carol', 'x-tier': 'silver' })
  expect(body).toBe('the body')
  expect(asked.at(-1)).toEqual({ method: 'PUT', url: '/http/a?b=c', body: 'the body' })
  const denied = await get('/http/denied')
  expect([denied.status, denied.headers.get('x-why'), await denied.text()]).toEqual([401, 'no', 'who?'])
})

test('a gRPC client that is denied gets a gRPC status', async () => {
  const caller = new GrpcCaller(`127.0.0.1:${rpcPort}`, 'test.Guarded')
  const { code, details } = await caller.ask('say', 'hello')
  caller.client.close()
  expect([code, details]).toEqual([status.UNAUTHENTICATED, 'who?'])
})

test('before routing, headers of the server select the route', async () => {
  expect((await get('/early')).status).toBe(200)
  expect((await get('/early/denied')).status).toBe(429)
  expect((await get('/nowhere')).status).toBe(404)
})

verifies('backend.extAuth/applies', 'a backend asks for its own requests', async () => {
  expect((await echoed(await get('/backend/a', { authorization: 'dan' }))).headers['x-user']).toBe('dan')
  expect((await get('/backend/denied')).status).toBe(429)
})

test('explain shows the questions, sends nothing, and goes on as if they were allowed', async () => {
  const before = [checks.length, asked.length]
  const explain = async (...words: string[]) => {
    const files = ['-f', objectsPath, '-H', 'authorization: Bearer s3cret', ...words]
    return (await gatewright(['explain', ...files])).stdout
  }
  const grpc = await explain('-H', 'x-a: ü', url('/cached?a=b'))
  expect(
    grpc,
  ).toMatch(`extAuth would ask default/authz (not sent without --call; what follows assumes that it allows the request)
  gRPC call of /envoy.service.auth.v3.Authorization/Check, a message of `)
  expect(grpc).toContain(`
          :path: "/cached?a=b"
          :scheme: "http"
          host: "127.0.0.1:${port}"
          authorization: <redacted>
          x-a: "ü"
`)
  expect(grpc).toMatch(/post-routing +extAuth +proceed/)
  const plain = await explain('POST', '-d', 'the body', url('/http/a'))
  expect(
    plain,
  ).toContain(`extAuth would ask default/web (not sent without --call; what follows assumes that it allows the request)
  POST /http/a HTTP/1.1
  authorization: <redacted>
  x-envoy-auth-partial-body: false

  the body
`)
  expect(plain).toMatch(/request to the backend, over HTTP\/1\.1/)
  expect(`${grpc}${plain}`).not.toContain('s3cret')
  expect([checks.length, asked.length]).toEqual(before)
})

test.each([
  ['an ambiguous path', 'GET /grpc/a%2fb HTTP/1.1\r\nhost: a\r\n', 'path-ambiguous'],
  ['a Connection field', 'GET /grpc/a HTTP/1.1\r\nhost: a\r\nconnection: x-tier\r\n', 'connection-invalid'],
])('%s that hides something from the server is refused', async (_, head, code) => {
  const client = await RawClient.connect(port)
  client.send(`${head}\r\n`)
  const text = await client.until((received) => received.includes('\r\n\r\n'))
  client.close()
  expect(text).toMatch(/^HTTP\/1\.1 400 /)
  const id = /gatewright-decision: (\S+)/.exec(text)![1]
  const record = await fetch(`${gateway.url(15_000)}/decisions?id=${id}`)
  expect(await record.text()).toContain(`"code": "${code}"`)
})

test('cached decisions are not asked again', async () => {
  const before = checks.length
  for (let i = 0; i < 5; i++) {
    const { headers } = await echoed(await get(`/cached/${i}`, { authorization: 'eve' }))
    expect(headers['x-user']).toBe('eve')
  }
  expect(checks.length - before).toBe(1)
})

test.each(['nobody', 'gone'])('a server that is not there (%s) is a failure of the server', async (name) => {
  expect((await get(`/${name}-failclosed`)).status).toBe(403)
  expect((await get(`/${name}-failopen`)).status).toBe(200)
})

test('metrics count questions by their outcome', async () => {
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  for (const outcome of ['OK', 'UNAVAILABLE']) {
    const labels = `{purpose="authorization",backend="default/authz",outcome="${outcome}"}`
    expect(metrics).toContain(`gatewright_call_duration_seconds_count${labels}`)
  }
})

test('a client that leaves cancels the question', async () => {
  const client = await RawClient.connect(port)
  client.send('GET /hung HTTP/1.1\r\nhost: a\r\n\r\n')
  await eventually('the server is asked', () => hungConnections.length > 0)
  client.socket.resetAndDestroy()
  const outcome = /backend="default\/hung",outcome="cancelled"/
  const metrics = async () => (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  await eventually('it is cancelled', async () => outcome.test(await metrics()))
  for (const socket of hungConnections) socket.destroy()
})

test('the record of a decision names the server, its time and its verdict', async () => {
  const response = await get('/http/denied')
  const id = response.headers.get('gatewright-decision')
  const records = await (await fetch(`${gateway.url(15_000)}/decisions?id=${id}`)).json()
  const verdict = { verdict: 'denied', cached: false, status: '401', detail: 'the authorization server answered 401' }
  const times = { startMs: expect.any(Number), durationMs: expect.any(Number) }
  expect(records).toMatchObject([{ callouts: [{ policy: 'extAuth', backend: 'default/web', ...times, ...verdict }] }])
})
