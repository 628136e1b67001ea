import { pipeline } from 'node:stream/promises'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '#examples/upstreams/listen.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Policies that decide by the body see its content, whatever its content coding; the backend gets the bytes of the client. */

const stops = new AsyncDisposableStack()
let port: number

const NAMES_DANGER = 'json(request.body).name == "danger"'
const SERVER = { backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'absent' } }

const TRAFFIC = {
  deny: { authorization: { action: 'Deny', policy: { matchExpressions: [NAMES_DANGER] } } },
  prefix: {
    authorization: { action: 'Deny', policy: { matchExpressions: ['string(request.bodyPrefix).contains("danger")'] } },
  },
  direct: { directResponse: { conditional: [{ condition: NAMES_DANGER, policy: { status: 403 } }] } },
  asked: { extAuth: { conditional: [{ condition: NAMES_DANGER, policy: { ...SERVER, grpc: {} } }] } },
  processed: { extProc: { conditional: [{ condition: NAMES_DANGER, policy: SERVER }] } },
  limited: { rateLimit: { local: [{ requests: 1, unit: 'Hours', key: 'string(json(request.body).name)' }] } },
}

beforeAll(async () => {
  const mirror = await listen({ port: 0, name: 'mirror' }, () => async (request, response) => {
    response.setHeader('x-coding', request.headers['content-encoding'] ?? 'none')
    await pipeline(request, response)
  })
  stops.defer(mirror.close)
  port = await freePort()
  const parts = Object.entries(TRAFFIC).flatMap(([name, traffic]) => [
    routeYaml(name, `/${name}`, 'mirror'),
    policyYaml(name, 'HTTPRoute', name, { traffic }),
  ])
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('mirror', mirror.port),
      routeYaml('free', '/free', 'mirror'),
      policyYaml('sizes', 'Gateway', 'main', { frontend: { http: { maxBufferSize: '64Ki' } } }),
      ...parts,
    ),
  })
  stops.defer(objects.remove)
  const gateway = await startGateway({ files: [objects.path] })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

async function post(path: string, coding: string, body: Uint8Array<ArrayBuffer> | string) {
  const headers = { 'content-encoding': coding }
  const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', headers, body })
  return {
    status: answer.status,
    coding: answer.headers.get('x-coding'),
    bytes: Buffer.from(await answer.arrayBuffer()),
  }
}

const named = (name: string) => JSON.stringify({ name })

const CODINGS = [
  ['gzip', gzipSync],
  ['X-GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const

test.each(CODINGS)('%s: a rule sees the content', async (coding, compress) => {
  for (const path of ['deny', 'prefix']) {
    expect((await post(path, coding, compress(named('danger')))).status).toBe(403)
    const sent = compress(named('harmless'))
    expect(await post(path, coding, sent)).toEqual({ status: 200, coding, bytes: sent })
  }
})

test.each(['direct', 'asked'])('%s: a condition sees the content', async (path) => {
  expect((await post(path, 'gzip', gzipSync(named('danger')))).status).toBe(403)
  const sent = gzipSync(named('harmless'))
  expect(await post(path, 'gzip', sent)).toEqual({ status: 200, coding: 'gzip', bytes: sent })
})

test('a condition of a processing server sees the content', async () => {
  expect((await post('processed', 'gzip', gzipSync(named('danger')))).status).toBeGreaterThanOrEqual(500)
  expect((await post('processed', 'gzip', gzipSync(named('harmless')))).status).toBe(200)
})

test('codings of one content count as one for a limit', async () => {
  const statuses: number[] = []
  for (const [coding, compress] of CODINGS) statuses.push((await post('limited', coding, compress(named('a')))).status)
  expect(statuses).toEqual([200, 429, 429, 429, 429])
})

test.each([
  ['an unknown coding', 'other', named('danger'), 415],
  ['two codings', 'gzip, gzip', gzipSync(gzipSync(named('danger'))), 415],
  ['no such coding', 'gzip', named('danger'), 400],
  ['a content over the limit', 'gzip', gzipSync(named('x'.repeat(70_000))), 413],
])('%s is refused where the body decides', async (_, coding, body, status) => {
  for (const path of ['deny', 'prefix', 'direct', 'asked', 'processed', 'limited']) {
    expect((await post(path, coding, body)).status, path).toBe(status)
  }
  expect((await post('free', coding, body)).status).toBe(200)
})
