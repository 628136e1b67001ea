import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
} from '#test/support/objects-folder.ts'

// A preflight belongs to the rule of the request that it announces, and never reaches a backend.

const ORIGIN = 'https://app.example'
const stops = new AsyncDisposableStack()
const received: string[] = []
let origin: string
let folder: ObjectsFolder

const routes = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: a }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { value: /hello }, method: GET }, { path: { value: /hello }, method: POST }]
      filters: [{ type: CORS, cors: { allowOrigins: ["${ORIGIN}"], allowMethods: [GET, POST] } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: web }]
    - matches: [{ path: { value: /tenant }, headers: [{ name: x-tenant, value: a }] }]
      filters: [{ type: CORS, cors: { allowOrigins: ["${ORIGIN}"], allowHeaders: [x-tenant] } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: web }]
    - matches: [{ path: { value: /plain }, method: POST }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: web }]
`

beforeAll(async () => {
  const upstream = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`)
    response.end('ok')
  })
  await new Promise<void>((listening) => upstream.listen(0, '127.0.0.1', listening))
  stops.defer(() => void upstream.close())
  const address = upstream.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('web', address.port), routes),
  })
  stops.defer(() => folder.remove())
  const gateway = await startGateway({ files: [folder.path] })
  stops.use(gateway)
  origin = gateway.url(port)
})

afterAll(() => stops.disposeAsync())

test.each([
  ['/hello', 'POST', undefined, 200, ORIGIN],
  ['/hello', 'PUT', undefined, 404, null],
  ['/hello', 'GET, POST', undefined, 404, null],
  ['/tenant', 'GET', 'x-tenant', 200, ORIGIN],
  ['/tenant', 'GET', undefined, 404, null],
  ['/plain', 'POST', undefined, 404, null],
])('preflight of %s, %s, %s: %d', async (path, method, fields, status, allowed) => {
  const headers: Record<string, string> = { origin: ORIGIN, 'access-control-request-method': method }
  if (fields !== undefined) headers['access-control-request-headers'] = fields
  const response = await fetch(origin + path, { method: 'OPTIONS', headers })
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([status, allowed])
  const flags = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const { stdout } = await gatewright(['explain', '-f', folder.path, ...flags, 'OPTIONS', origin + path])
  expect(stdout).toContain(`${status}`)
  expect(stdout.includes(`access-control-allow-origin: ${ORIGIN}`)).toBe(allowed !== null)
})

test('the requests reach the backend, the preflights do not', async () => {
  const response = await fetch(`${origin}/hello`, { method: 'POST', headers: { origin: ORIGIN } })
  expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
  expect(received).toEqual(['POST /hello'])
})
