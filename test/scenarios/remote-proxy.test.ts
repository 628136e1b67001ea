import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import { startControlLoop } from '#control/loop.ts'
import { Translator } from '#control/translator.ts'
import { PlanServer } from '#deliver/plan-server.ts'
import { ServedProxies } from '#instance/served-proxies.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'

// `gatewright proxy` in a process of its own, with a controller whose objects this test changes.

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())

const named = (kind: string, name: string, spec: object): ApiObject =>
  admitObject({ kind, metadata: { name, namespace: 'default' }, spec })

const controller = new PlanServer({
  host: '127.0.0.1',
  port: 0,
  authorise: async (metadata) => {
    if (metadata.get('authorization') !== undefined) return { status: 'unauthenticated', message: 'no token expected' }
    return { gateway: 'Gateway/default/main', identity: 'default/main-1' }
  },
  changed: (proxy) => proxies.changed(proxy),
  left: (proxy) => proxies.left(proxy),
  reportBug: (error) => {
    throw error
  },
})
stops.defer(() => proxies.close())
const translator = new Translator({ addresses: BEHIND_SERVICES })
const statuses = new Map<string, string>()
const loop = startControlLoop({
  translator,
  plans: controller,
  publishStatuses: ({ written }) => {
    for (const { kind, name, status } of written) statuses.set(`${kind} ${name}`, JSON.stringify(status))
  },
})
const proxies = new ServedProxies({ reports: loop, version: () => translator.version, refused: () => {} })
function put(...set: readonly ApiObject[]): void {
  loop.apply({ set, removed: [] })
}

let url: string
let readiness: string
let ports: { readonly served: number; readonly ofProxy: number }
let admin: number
let metrics: string
/** Its state is in a folder below it. */
const folder = mkdtempSync(join(tmpdir(), 'gatewright-test-'))
stops.defer(() => rmSync(folder, { recursive: true }))
let log = ''
let proxy: ReturnType<typeof spawn>
/** Starts the proxy, the first time and after it was killed. */
let start: () => void

beforeAll(async () => {
  const upstream = createServer((request, response) => response.end(`upstream ${request.url}`)).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  stops.defer(() => void upstream.close())
  const { port: upstreamPort } = upstream.address() as { port: number }
  const [port, ready] = [await freePort(), await freePort()]
  ports = { served: port, ofProxy: ready }
  url = `http://127.0.0.1:${port}`
  readiness = `http://127.0.0.1:${ready}/healthz/ready`
  put(gateway(port), named('ProxyBackend', 'b', { static: { host: '127.0.0.1', port: upstreamPort } }), route('/a'))
  const controllerPort = await controller.listen()
  stops.defer(() => controller.close())
  const words = ['proxy', '--controller', `http://127.0.0.1:${controllerPort}`, '--workers', '1']
  const [adminPort, metricsPort] = [await freePort(), await freePort()]
  admin = adminPort
  metrics = `http://127.0.0.1:${metricsPort}/metrics`
  const env = {
    ...process.env,
    ...{ GATEWRIGHT_ADMIN_ADDR: `127.0.0.1:${admin}`, GATEWRIGHT_STATS_ADDR: `127.0.0.1:${metricsPort}` },
    GATEWRIGHT_READINESS_ADDR: `127.0.0.1:${ready}`,
    ...{ SESSION_KEY: 'ab'.repeat(32), GATEWRIGHT_GATEWAY_UID: 'uid-of-main' },
  }
  start = () => {
    const started = spawn(join(import.meta.dirname, '..', '..', 'bin', 'gatewright'), words, { cwd: folder, env })
    proxy = started
    started.stderr!.on('data', (piece) => {
      log += piece
    })
    const ended = once(started, 'exit')
    stops.defer(async () => {
      started.kill()
      await ended
    })
  }
  start()
})

function gateway(...ports: readonly number[]): ApiObject {
  const listeners = ports.map((port) => ({ name: `http-${port}`, port, protocol: 'HTTP' }))
  return named('Gateway', 'main', { gatewayClassName: 'gatewright', listeners })
}

function route(path: string): ApiObject {
  return named('HTTPRoute', 'r', {
    parentRefs: [{ name: 'main' }],
    rules: [
      {
        matches: [{ path: { type: 'PathPrefix', value: path } }],
        backendRefs: [{ group: 'gatewright.dev', kind: 'ProxyBackend', name: 'b' }],
      },
    ],
  })
}

async function ask(path: string): Promise<string> {
  const response = await fetch(`${url}${path}`)
  return `${response.status} ${await response.text()}`
}

const saysReady = () => fetch(readiness).then(async (answer) => `${answer.status} ${await answer.text()}`)

test('the proxy is ready when it runs the plan of its controller, and takes its edits', async () => {
  expect(await eventually('not ready', saysReady)).toMatch(/^503 not ready: the plan of the controller at http/)
  controller.open()
  await eventually('ready', async () => ((await saysReady()).startsWith('200') ? true : undefined))
  expect(await ask('/a')).toBe('200 upstream /a')
  expect((await ask('/b')).slice(0, 3)).toBe('404')
  put(route('/b'))
  await eventually('the edit', async () => ((await ask('/b')).startsWith('200') ? true : undefined))
  expect((await ask('/a')).slice(0, 3)).toBe('404')
  const [served] = [...controller.proxies]
  const reported = await eventually('the report', () => (served?.inForce === translator.version ? served : undefined))
  expect(reported).toMatchObject({ gateway: 'Gateway/default/main', isCurrent: true, refusals: [] })
})

test('its log levels change with the token in its state folder', async () => {
  const token = readFileSync(join(folder, '.gatewright', 'admin-token'), 'utf8').trim()
  const change = (authorization: string) =>
    fetch(`http://127.0.0.1:${admin}/log_levels?levels=info`, { method: 'POST', headers: { authorization } })
  expect((await change('Bearer other')).status).toBe(401)
  expect((await change(`Bearer ${token}`)).status).toBe(200)
})

const says = (object: string, text: string) =>
  eventually(`${object} says ${text}`, () => (statuses.get(object)?.includes(text) ? true : undefined))

test('a port that the proxy cannot bind is in the status of its Gateway until it is mended', async () => {
  await says('Gateway main', '"type":"Programmed","status":"True"')
  const { served, ofProxy } = ports
  put(gateway(served, ofProxy))
  await says('Gateway main', '"type":"Programmed","status":"False","reason":"ListenersNotValid"')
  await says('Gateway main', '"reason":"PortUnavailable"')
  await says('Gateway main', '(proxy default/main-1)')
  expect(await ask('/b')).toBe('200 upstream /b')
  expect((await fetch(readiness)).status).toBe(200)
  expect(proxies.counts()).toEqual([
    { gateway: 'Gateway/default/main', current: 1, behind: 0, waiting: 0, refusals: 1 },
  ])
  put(gateway(served))
  await says('Gateway main', '"type":"Programmed","status":"True"')
})

test('a proxy stays ready while no listener of its Gateway can be used, so that nothing restarts it', async () => {
  const { served } = ports
  const udp = { name: 'udp', port: served, protocol: 'UDP' }
  put(named('Gateway', 'main', { gatewayClassName: 'gatewright', listeners: [udp] }))
  const refusesConnections = () =>
    ask('/b').then(
      () => undefined,
      () => true,
    )
  await eventually('the listener is closed', refusesConnections)
  expect((await fetch(readiness)).status).toBe(200)
  put(gateway(served))
  await says('Gateway main', '"type":"Programmed","status":"True"')
  expect(await ask('/b')).toBe('200 upstream /b')
})

test('what only the proxy finds out about a policy is in the status of the policy until it is mended', async () => {
  const policy = (traffic: object) =>
    named('ProxyPolicy', 'p', {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'r' }],
      traffic,
    })
  const remote = { jwksPath: '/none', backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'b' } }
  const providers = [{ issuer: 'https://issuer.test', jwks: { remote } }]
  put(policy({ jwtAuthentication: { providers } }))
  await says('ProxyPolicy p', '"reason":"PartiallyValid"')
  await says('ProxyPolicy p', '(proxy default/main-1)')
  expect((await ask('/b')).slice(0, 3), 'it protects meanwhile').toBe('401')
  expect(statuses.get('Gateway main')).toContain('"type":"Programmed","status":"True"')
  put(policy({ csrf: {} }))
  await says('ProxyPolicy p', '"reason":"Valid"')
  expect(await ask('/b')).toBe('200 upstream /b')
})

test('without its controller, it serves on', async () => {
  const file = join(folder, '.gatewright', 'plan')
  const begin = Date.now()
  await eventually('a plan that is kept', () => (existsSync(file) && statSync(file).mtimeMs > begin ? true : undefined))
  await controller.close()
  await eventually('the loss', () => (log.includes('controller') && log.includes('warn') ? true : undefined))
  expect(await ask('/b')).toBe('200 upstream /b')
  expect(
    await eventually('the note', async () => ((await saysReady()) === '200 ready' ? undefined : saysReady())),
  ).toMatch(/^200 ready; the controller last confirmed the plan at 20/)
})

test('a proxy that is killed, and starts without its controller, serves the plan that it kept', async () => {
  const ended = once(proxy, 'exit')
  proxy.kill('SIGKILL')
  await ended
  log = ''
  start()
  await eventually('ready', async () => ((await saysReady()).startsWith('200') ? true : undefined))
  expect(await ask('/b')).toBe('200 upstream /b')
  expect(await saysReady()).toMatch(/^200 ready; the controller last confirmed the plan at 20/)
  expect(log).toContain('serving the plan that was kept before the restart')
  const [, age] = /^gatewright_plan_age_seconds ([0-9.]+)$/m.exec(await (await fetch(metrics)).text())!
  expect(Number(age)).toBeGreaterThan(0)
})
