import { once } from 'node:events'
import http, { type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { envoyService } from '#test/support/envoy-definitions.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { startGrpcService } from '#test/support/grpc-peers.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// The filter ExternalAuth of route rules in a running gateway, with servers of other implementations.

const AUTHORIZATION = envoyService('envoy/service/auth/v3/external_auth.proto', 'envoy.service.auth.v3.Authorization')

const stops = new AsyncDisposableStack()
let folder: ObjectsFolder
let gateway: TestGateway
let port: number
const asked: { readonly method: string; readonly url: string; readonly headers: IncomingHttpHeaders }[] = []
const checkedHeaders: Record<string, string>[] = []

function check({
  attributes,
}: {
  attributes: { request: { http: { path: string; headers: Record<string, string> } } }
}) {
  const { path, headers } = attributes.request.http
  checkedHeaders.push(headers)
  if (path.includes('denied')) return { status: { code: 7 } }
  return { status: { code: 0 }, okResponse: { headers: [{ header: { key: 'x-user', value: 'dave' } }] } }
}

const proxyBackend = (name: string, more: object = {}) => ({
  group: 'gatewright.dev',
  kind: 'ProxyBackend',
  name,
  ...more,
})

const rule = (path: string, externalAuth: object) => ({
  matches: [{ path: { value: path } }],
  filters: [{ type: 'ExternalAuth', externalAuth }],
  backendRefs: [proxyBackend('echo')],
})

const httpAuth = (backendRef: object, more: object = {}) => ({ protocol: 'HTTP', backendRef, http: {}, ...more })

const GRANT = `
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: { name: routes, namespace: other }
spec:
  from: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: default }]
  to: [{ group: gatewright.dev, kind: ProxyBackend }]
`

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const authz = await startGrpcService(AUTHORIZATION, { check })
  stops.defer(authz.close)
  const web = http
    .createServer(({ method, url, headers }, response) => {
      asked.push({ method: method!, url: url!, headers })
      response
        .writeHead(url!.includes('denied') ? 401 : 200, { 'x-user': 'carol', 'content-type': 'text/plain' })
        .end('!')
    })
    .listen(0, '127.0.0.1')
  await once(web, 'listening')
  stops.defer(() => void web.close())
  const webPort = (web.address() as AddressInfo).port
  port = await freePort()
  const rules = [
    rule('/http', httpAuth(proxyBackend('web'), { http: { path: '/verify' } })),
    rule('/grpc', { protocol: 'GRPC', backendRef: proxyBackend('authz'), grpc: { allowedHeaders: ['x-a'] } }),
    rule('/other', httpAuth(proxyBackend('web', { namespace: 'other' }))),
    rule('/missing', httpAuth(proxyBackend('nothing'))),
    { matches: [{ path: { value: '/plain' } }], backendRefs: [proxyBackend('echo')] },
  ]
  const route = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: guarded }
spec: { parentRefs: [{ name: main }], rules: ${JSON.stringify(rules)} }
`
  const objects = [
    gatewayYaml(port),
    backendYaml('echo', echo.port),
    backendYaml('web', webPort),
    backendYaml('web', webPort).replace('name: web', 'name: web, namespace: other'),
    backendYaml('authz', authz.port),
    route,
    // The filter of a rule takes precedence over it.
    policyYaml('all', 'HTTPRoute', 'guarded', {
      traffic: { extAuth: { backendRef: proxyBackend('authz'), grpc: {} } },
    }),
  ]
  folder = await createObjectsFolder({ 'all.yaml': joinYaml(...objects) })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

const send = (path: string, more: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, more)
const echoed = async (response: Response) => (await response.json()) as Echo

test('an HTTP server allows and denies', async () => {
  const headers = { authorization: 'Bearer x', cookie: 'a=1', 'content-type': 'application/json', 'x-user': 'root' }
  const allowed = await echoed(await send('/http/a?b=c', { method: 'POST', headers, body: '{}' }))
  expect(allowed.headers).toMatchObject({ 'x-user': 'carol', 'content-type': 'application/json' })
  expect(allowed.body).toBe('{}')
  expect(asked.at(-1)).toMatchObject({
    method: 'POST',
    url: '/verify/http/a?b=c',
    headers: { host: `127.0.0.1:${port}`, authorization: 'Bearer x', 'content-length': '0' },
  })
  expect(asked.at(-1)!.headers).not.toHaveProperty('cookie')
  const denied = await send('/http/denied')
  expect([denied.status, await denied.text()]).toEqual([401, '!'])
})

test('a gRPC server allows and denies', async () => {
  const headers = { authorization: 'Bearer x', 'x-a': '1', 'x-user': 'root' }
  expect((await echoed(await send('/grpc/a', { headers }))).headers).toMatchObject({ 'x-user': 'dave' })
  expect(checkedHeaders.at(-1)).toEqual({ 'x-a': '1' })
  expect((await send('/grpc/denied')).status).toBe(403)
})

test('a reference that cannot be used refuses the requests of its rule; a ReferenceGrant opens it', async () => {
  for (const path of ['/missing/a', '/other/a']) {
    const refused = await send(path)
    expect([refused.status, await refused.text()]).toEqual([403, 'external authorization failed'])
  }
  expect((await send('/plain')).status, 'other rules').toBe(200)
  const statuses = await fetch(`${gateway.url(15000)}/status`, { headers: { accept: 'application/json' } })
  expect(await statuses.text()).toContain('no ReferenceGrant permits ProxyBackend other/web')
  await folder.write('grant.yaml', GRANT)
  await eventually('the grant', async () => (await send('/other/a')).status === 200)
  expect((await send('/missing/a')).status).toBe(403)
})
