import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Instance } from '#instance/instance.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { PROXY_WORKER, startInstance } from '#test/support/instance.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** A worker whose memory for bodies is set so high that their JSON fills its heap while the backend is silent. */

const HEAP_MB = 64
const REQUESTS = 300
/** 90 KB, of which each request keeps 2 MB. */
const BODY = `[${'{},'.repeat(30_000)}1]`

const stops = new AsyncDisposableStack()
let instance: Instance
let port: number
/** Requests that the backend has not answered. */
const held: ServerResponse[] = []
let onHeld = () => {}
const replaced: string[] = []
const readiness: string[] = []

beforeAll(async () => {
  const web = createServer((incoming, response) => {
    incoming.resume()
    if (incoming.url !== '/kept') return void response.end('yes')
    held.push(response)
    onHeld()
  })
  stops.defer(() => void web.close())
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('web', (web.address() as AddressInfo).port),
      routeYaml('plain', '/', 'web'),
      routeYaml('kept', '/kept', 'web'),
      policyYaml('kept', 'HTTPRoute', 'kept', {
        traffic: { transformation: { request: { metadata: { body: 'json(request.body)' } } } },
      }),
    ),
  })
  stops.defer(folder.remove)
  instance = await startInstance(
    folder,
    1,
    {
      workerReplaced: (_, __, cause) => replaced.push(cause),
      readiness: (reasons) => readiness.push(reasons.join()),
    },
    PROXY_WORKER,
    {
      bodyMemoryBytes: 2 ** 30,
      startThread: (start) =>
        new Worker(PROXY_WORKER, { workerData: start, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } }),
    },
  )
  stops.defer(() => instance.close())
})

afterAll(() => stops.disposeAsync())

const ask = async (path: string, body?: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, body === undefined ? {} : { method: 'POST', body })
  return { status: response.status, text: await response.text() }
}

const isReady = async () => {
  const response = await fetch(`http://127.0.0.1:${instance.ports.readiness}/healthz/ready`)
  return { status: response.status, text: (await response.text()).trimEnd() }
}

const OVERLOADED = { status: 503, text: 'gateway overloaded' }
const NOT_READY = 'worker w1 refuses requests: its heap is nearly full'

test('a worker whose heap is nearly full refuses requests until it is free again, and survives', async () => {
  const asked: Promise<{ status: number }>[] = []
  let refused = false
  // Each is on its way before the next one comes, as from clients that do not know of each other.
  while (!refused) {
    const isHeld = new Promise<void>((resolve) => {
      onHeld = resolve
    })
    const answer = ask('/kept', BODY)
    asked.push(answer)
    refused = await Promise.race([answer.then(() => true), isHeld.then(() => false)])
  }
  const kept = held.length
  expect(kept).toBeGreaterThan(5)
  for (let sent = asked.length; sent < REQUESTS; sent++) asked.push(ask('/kept', BODY))
  await Promise.all(asked.slice(kept))
  expect(await ask('/')).toEqual(OVERLOADED)
  expect(await isReady()).toEqual({ status: 503, text: `not ready: ${NOT_READY}` })
  const metrics = await (await fetch(`http://127.0.0.1:${instance.ports.metrics}/metrics`)).text()
  expect(metrics).toContain('gatewright_heap_full{worker="w1"} 1\n')

  for (const response of held) response.end('yes')
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(kept)
  expect(statuses.filter((status) => status === 503)).toHaveLength(REQUESTS - kept)
  await eventually('the worker serves again', async () => (await ask('/')).status === 200)
  expect(await isReady()).toEqual({ status: 200, text: 'ready' })
  expect(readiness.slice(-2)).toEqual([NOT_READY, ''])
  expect(replaced).toEqual([])
})
