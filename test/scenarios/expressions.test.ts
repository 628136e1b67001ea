import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadPlan } from '#cli/load-plan.ts'
import { FileStore } from '#store/files.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

const LIMIT = 1024
const stops = new AsyncDisposableStack()
let folder: ObjectsFolder
let gateway: TestGateway
let port: number

const SECRET_AND_POD = `
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { ann: 'key-of-ann' }
---
apiVersion: v1
kind: Pod
metadata: { name: cart-1, namespace: shop }
spec: { serviceAccountName: carts }
status: { phase: Running, podIPs: [{ ip: 127.0.0.1 }] }
`

/** Says what arrived; `/.../large` answers with more than the limit. */
async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const hash = createHash('sha256')
  for await (const piece of incoming) hash.update(piece as Buffer)
  response.setHeader('x-hash', hash.digest('hex'))
  response.setHeader('x-saw', incoming.headers['x-start'] ?? 'nothing')
  response.end(incoming.url?.endsWith('large') ? LARGE : 'small')
}

const LARGE = Buffer.from(Array.from({ length: 200_000 }, (_, i) => 97 + (i % 26)))

const set = (name: string, value: string) => ({ set: [{ name, value }] })
const start = (message: string) =>
  `string(size(${message}.bodyPrefix)) + " " + string(${message}.bodyPrefix).substring(0, 3)`
/** More steps than an expression may take. */
const COSTLY = 'string(lists.range(100000).exists(x, lists.range(100000).exists(y, request.path == "/x")))'

beforeAll(async () => {
  const web = createServer((incoming, response) => void answer(incoming, response))
  stops.defer(() => void web.close())
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const { port: webPort } = web.address() as AddressInfo
  port = await freePort()
  const prefixes = { request: set('x-start', start('request')), response: set('x-end', start('response')) }
  const attributes = {
    add: [
      { name: 'took', expression: 'proxy.upstreamDuration' },
      { name: 'self', expression: 'flatten({"pod": env.podName, "space": env.namespace, "gateway": env.gateway})' },
      { name: 'caller', expression: 'flatten(source.unverifiedWorkload)' },
      { name: 'answer', expression: 'flatten({"code": response.code, "end": request.endTime > request.startTime})' },
    ],
  }
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('web', webPort),
      backendYaml('strict', webPort),
      routeYaml('prefix', '/prefix', 'web'),
      routeYaml('both', '/both', 'strict'),
      routeYaml('costly', '/costly', 'web'),
      policyYaml('costly', 'HTTPRoute', 'costly', { traffic: { transformation: { response: set('x-cost', COSTLY) } } }),
      routeYaml('strict', '/strict', 'strict'),
      routeYaml('keys', '/keys', 'web'),
      policyYaml('keys', 'HTTPRoute', 'keys', {
        traffic: {
          apiKeyAuthentication: {
            secretRef: { name: 'keys' },
            location: { expression: 'json(base64.decode(request.headers["x-card"])).key' },
          },
        },
      }),
      routeYaml('cart', '/cart', 'web'),
      policyYaml('cart', 'HTTPRoute', 'cart', {
        traffic: {
          authorization: {
            action: 'Require',
            policy: { matchExpressions: ['source.unverifiedWorkload.serviceAccount == "carts"'] },
          },
        },
      }),
      SECRET_AND_POD,
      policyYaml('prefix', 'HTTPRoute', 'prefix', { traffic: { transformation: prefixes } }),
      policyYaml('both', 'HTTPRoute', 'both', { traffic: { transformation: { request: prefixes.request } } }),
      policyYaml('strict', 'ProxyBackend', 'strict', {
        backend: { transformation: { request: set('x-start', 'string(size(request.body))') } },
      }),
      policyYaml('all', 'Gateway', 'main', {
        frontend: { http: { maxBufferSize: `${LIMIT}` }, accessLog: { attributes } },
      }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGateway({
      files: [folder.path],
      workers: 1,
      environment: { GATEWRIGHT_LOG_FORMAT: 'json', POD_NAME: 'pod-7', NAMESPACE: 'infra', GATEWAY: 'edge' },
    }),
  )
})

afterAll(() => stops.disposeAsync())

/** As one piece with its length, or in chunks. */
function send(path: string, body: Buffer, isChunked: boolean): Promise<Response> {
  const pieces = isChunked ? new Blob([new Uint8Array(body)]).stream() : body
  return fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: pieces, duplex: 'half' } as RequestInit)
}

const hashOf = (body: Buffer) => createHash('sha256').update(body).digest('hex')

for (const isChunked of [false, true]) {
  const how = isChunked ? 'in chunks' : 'with its length'
  for (const size of [0, 10, LIMIT, LIMIT + 1, 150_000]) {
    verifies(
      'frontend.http/maxBufferSize',
      `a body of ${size} bytes ${how}: its beginning is read, all of it goes on`,
      async () => {
        const body = LARGE.subarray(0, size)
        const response = await send('/prefix/large', body, isChunked)
        expect(response.status).toBe(200)
        const known = Math.min(size, LIMIT)
        if (size > 0) expect(response.headers.get('x-saw')).toBe(`${known} abc`)
        expect(response.headers.get('x-hash')).toBe(hashOf(body))
        expect(response.headers.get('x-end')).toBe(`${LIMIT} abc`)
        expect(hashOf(Buffer.from(await response.arrayBuffer()))).toBe(hashOf(LARGE))
      },
    )
  }

  test(`a policy of the backend reads a body ${how}; one that is too large is refused`, async () => {
    const fits = await send('/strict/small', LARGE.subarray(0, LIMIT), isChunked)
    expect([fits.status, fits.headers.get('x-saw')]).toEqual([200, String(LIMIT)])
    expect((await send('/strict/small', LARGE.subarray(0, LIMIT + 1), isChunked)).status).toBe(413)
  })

  test(`one policy reads the beginning of a body ${how}, a later one all of it: refused`, async () => {
    expect((await send('/both/small', LARGE.subarray(0, LIMIT), isChunked)).status).toBe(200)
    expect((await send('/both/small', LARGE.subarray(0, LIMIT + 1), isChunked)).status).toBe(413)
  })
}

test('a response whose expressions exceed the limit is replaced by a refusal', async () => {
  const response = await send('/costly/small', Buffer.of(), false)
  expect([response.status, await response.text()]).toEqual([502, 'expression limit exceeded'])
})

test('connections go on after large bodies', async () => {
  for (let i = 0; i < 5; i++) {
    const response = await send('/prefix/small', LARGE, true)
    expect([await response.text(), response.headers.get('x-end')]).toEqual(['small', '5 sma'])
  }
})

verifies(
  ['frontend.accessLog/attributes', 'logTracingAttributes/add'],
  'a log sees durations, the gateway itself, and members of flattened values',
  async () => {
    await send('/prefix/logged', LARGE.subarray(0, 10), false)
    const line = await eventually('the line is written', () =>
      gateway.output.stdout.split('\n').find((text) => text.includes('/prefix/logged')),
    )
    expect(JSON.parse(line!)).toMatchObject({
      took: expect.stringMatching(/^\d+(\.\d+)?s$/),
      'self.pod': 'pod-7',
      'self.space': 'infra',
      'self.gateway': 'edge',
      'caller.name': 'cart-1',
      'caller.namespace': 'shop',
      'caller.serviceAccount': 'carts',
      'answer.code': 200,
      'answer.end': true,
    })
  },
)

verifies('location/expression', 'a credential is where an expression finds it', async () => {
  const card = (key: string) => Buffer.from(JSON.stringify({ key })).toString('base64')
  const ask = async (headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${port}/keys/small`, { headers })).status
  expect(await ask({ 'x-card': card('key-of-ann') })).toBe(200)
  expect(await ask({ 'x-card': card('other') })).toBe(401)
  expect(await ask({ 'x-card': 'no card' })).toBe(401)
  expect(await ask({})).toBe(401)
})

test('callers are pods by their addresses, as long as there is such a pod', async () => {
  expect((await send('/cart/small', Buffer.of(), false)).status).toBe(200)
  const text = await readFile(`${folder.path}/all.yaml`, 'utf8')
  await folder.write('all.yaml', text.replace('phase: Running', 'phase: Succeeded'))
  await eventually('the pod is gone', async () => (await send('/cart/small', Buffer.of(), false)).status === 403)
  await folder.write('all.yaml', text)
  await eventually('it is back', async () => (await send('/cart/small', Buffer.of(), false)).status === 200)
})

test('lint misses nothing in all of it', () => {
  const { findings } = loadPlan(new FileStore([folder.path]))
  expect(findings.map(({ code }) => code)).toEqual(['credential-not-removed'])
})
