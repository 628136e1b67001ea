import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '#test/support/gateway-process.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const MIB = 1024 * 1024
const PROMPT = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'x'.repeat(32 * MIB - 100) }],
})

const stops = new AsyncDisposableStack()
let gateway: GatewayProcess
let port: number
/** Lets the provider answer. */
const released = Promise.withResolvers<void>()

const backendYaml = (at: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec: { ai: { provider: { providerOne: {}, host: 127.0.0.1, port: ${at} } } }
`

beforeAll(async () => {
  const provider = createServer((request, response) => {
    request.resume()
    void released.promise.then(() => response.end('{"choices":[]}'))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void provider.close())
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml((provider.address() as AddressInfo).port),
      routeYaml('llm', '/v1', 'llm'),
      policyYaml('large', 'Gateway', 'main', { frontend: { http: { maxBufferSize: '32Mi' } } }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGatewayProcess({
      files: [folder.path],
      workers: 1,
      environment: { GATEWRIGHT_BODY_MEMORY: '100Mi' },
    }),
  )
})

afterAll(() => stops.disposeAsync())

const post = async (): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', body: PROMPT })
  await response.text()
  return response.status
}

test('more prompts of 32 MiB than fit get 503, and the worker lives', async () => {
  const statuses = Array.from({ length: 10 }, post)
  // Those that do not fit are refused while the provider is slow.
  expect(await Promise.race(statuses)).toBe(503)
  released.resolve()
  const all = await Promise.all(statuses)
  expect(new Set(all)).toEqual(new Set([200, 503]))
  expect(await post()).toBe(200)
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  expect(metrics).toContain('gatewright_worker_replacements_total{cause="died"} 0')
})
