import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { askOverAndOver, askOverSessions, type Client } from '#test/support/ask-over-and-over.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import type { StartGateway, TestGateway } from '#test/support/gateway-options.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  listenersYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

const time = new PassingTime()
afterAll(() => time[Symbol.dispose]())

test('SIGTERM: no new connections, requests in flight are finished, exit code 0', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('all', '/', 'echo')),
  })
  stops.defer(folder.remove)
  const gateway = await startGatewayProcess({ files: [folder.path], workers: 2, drains: true })
  const idle = connect({ host: '127.0.0.1', port })
  const idleClosed = new Promise((resolve) => idle.on('close', resolve))
  const slow = fetch(`http://127.0.0.1:${port}/?delay=700`)
  await eventually('the slow request is under way', async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/`)
    return ready.status === 200 || undefined
  })
  const closed = gateway.close()
  const response = await slow
  expect(response.status).toBe(200)
  expect(response.headers.get('connection')).toBe('close')
  await idleClosed
  expect(await closed).toBe(0)
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})

/** A Gateway `main` with ProxyParameters `main`. */
function ownGatewayYaml(port: number): string {
  return listenersYaml(
    'main',
    [`{ name: http, protocol: HTTP, port: ${port} }`],
    '  infrastructure: { parametersRef: { group: gatewright.dev, kind: ProxyParameters, name: main } }\n',
  )
}

/** ProxyParameters `main`. */
function shutdownYaml(min: number, max: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyParameters
metadata: { name: main }
spec: { shutdown: { min: ${min}, max: ${max} } }
`
}

/** Waits until a change of the parameters has arrived in the plan. */
function planSays(gateway: TestGateway, shutdown: { readonly min: number; readonly max: number }): Promise<boolean> {
  return eventually('the plan has the changed parameters', async () => {
    const answer = await fetch(`${gateway.url(15_000)}/config_dump`)
    const plan = (await answer.json()) as { items: { key: string; shutdown?: unknown }[] }
    expect(plan.items.find(({ key }) => key === 'Gateway/default/main')?.shutdown).toEqual(shutdown)
    return true
  })
}

interface Rig {
  readonly folder: ObjectsFolder
  readonly gateway: TestGateway
  readonly port: number
}

/** A gateway before an echo, whose parameters say nothing of use yet. */
async function startRig(
  stops: AsyncDisposableStack,
  environment: Record<string, string> = {},
  start: StartGateway = startGateway,
): Promise<Rig> {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      ownGatewayYaml(port),
      backendYaml('echo', echo.port),
      policyYaml('http1', 'ProxyBackend', 'echo', { backend: { http: { version: 'HTTP1' } } }),
      routeYaml('all', '/', 'echo'),
    ),
    'parameters.yaml': shutdownYaml(0, 600),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await start({ files: [folder.path], workers: 2, drains: true, environment }))
  return { folder, gateway, port }
}

/** Longer than the clients need on a busy machine. */
const MIN_SECONDS = 20

/** Stops a gateway under load: clients are sent elsewhere while balancers notice, and no request fails. */
async function stopUnderLoad({ gateway, port }: Rig): Promise<void> {
  const url = `http://127.0.0.1:${port}/`
  let over = false
  const isOver = () => over
  const [clients, sessions] = [6, 2].map((count) =>
    Array.from({ length: count }, (): Client => ({ statuses: [], closes: 0 })),
  )
  const all = [...clients!, ...sessions!]
  const loads = Promise.all([
    ...clients!.map((client) => askOverAndOver(url, isOver, client)),
    ...sessions!.map((session) => askOverSessions(url, isOver, session)),
  ])
  await Promise.race([loads, eventually('all are served', () => all.every(({ statuses }) => statuses.length > 5))])
  const ready = gateway.url(15_021)
  expect((await fetch(`${ready}/healthz/ready`)).status).toBe(200)

  const closed = gateway.close()
  await eventually('readiness is off', async () => {
    const { status } = await fetch(`${ready}/healthz/ready`)
    return status === 503 || undefined
  })
  // Meanwhile a balancer may notice.
  const areSentAway = () => clients!.every(({ closes }) => closes > 1) && sessions!.every(({ closes }) => closes > 0)
  await Promise.race([loads, eventually('all are sent away', areSentAway)])
  const served = all.map(({ statuses }) => statuses.length)
  const comeBack = () => all.every(({ statuses }, i) => statuses.length > served[i]! + 1)
  await Promise.race([loads, eventually('all come back and are served', comeBack)])
  over = true
  await loads
  for (const { statuses } of all) expect(new Set(statuses)).toEqual(new Set([200]))
  // The rest of the minimum.
  time.skip(MIN_SECONDS * 1000)
  expect(await closed).toBe(0)
}

verifies('parameters.shutdown/min-wait', 'SIGTERM under load, with parameters that changed meanwhile', async () => {
  await using stops = new AsyncDisposableStack()
  const rig = await startRig(stops)
  await rig.folder.write('parameters.yaml', shutdownYaml(MIN_SECONDS, 60))
  await planSays(rig.gateway, { min: MIN_SECONDS, max: 60 })
  await stopUnderLoad(rig)
})

test('SIGTERM under load, with a minimum from the environment, which is stronger than the parameters', async () => {
  await using stops = new AsyncDisposableStack()
  await stopUnderLoad(await startRig(stops, { CONNECTION_MIN_TERMINATION_DEADLINE: `${MIN_SECONDS}s` }))
})

verifies(
  'parameters.shutdown/max-wait',
  'connections left after the maximum are aborted, on every listener',
  async () => {
    await using stops = new AsyncDisposableStack()
    const { folder, gateway, port } = await startRig(stops)
    const endless = await fetch(`http://127.0.0.1:${port}/?stream=10000`)

    // The socket of the first request is given up; it goes on all the same.
    const next = await freePort()
    const all = await readFile(join(folder.path, 'all.yaml'), 'utf8')
    await folder.write('all.yaml', all.replace(`port: ${port} `, `port: ${next} `))
    await folder.write('parameters.yaml', shutdownYaml(0, 2))
    await planSays(gateway, { min: 0, max: 2 })
    const another = await eventually('the new socket is open', () => fetch(`http://127.0.0.1:${next}/?stream=10000`))

    const bodies = [endless, another].map((response) => response.text().catch(() => 'cut'))
    const closed = gateway.close()
    let isOver = false
    void closed.then(() => {
      isOver = true
    })
    await eventually('the gateway has ended', () => {
      // Faster than by itself, and in steps: after the maximum the gateway has a time to end.
      time.skip(100)
      return isOver
    })
    expect(await closed).toBe(0)
    expect(await Promise.all(bodies)).toEqual(['cut', 'cut'])
    // Both have ended in order on our side: a thread that is ended says nothing.
    const lines = gateway.output.stdout.split('\n').filter((line) => line.includes('stream=10000'))
    expect(lines.map((line) => /error="[^"]+"/.exec(line)?.[0])).toEqual(
      Array(2).fill('error="cut off: the maximum of the shutdown was reached"'),
    )
    expect(gateway.output.stderr).toContain(
      '\twarn\trequests were cut off, because the maximum of the shutdown was reached requests=2\n',
    )
  },
)

/** A client that sends its next request when the last one is answered, and `pauseMs` have passed. */
function askOnOneConnection(port: number, pauseMs: number): Promise<{ answered: number; lost: number }> {
  return new Promise((resolve) => {
    const client = connect({ host: '127.0.0.1', port })
    let received = ''
    let answered = 0
    let waiting = false
    let asked = false
    const ask = () => {
      if (asked || client.destroyed || client.readableEnded) return
      waiting = true
      received = ''
      client.write('GET / HTTP/1.1\r\nhost: h\r\n\r\n')
    }
    client.on('connect', ask).on('error', () => {})
    client.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1')
      const [, head, length] = /^(.*?content-length: (\d+).*?\r\n)\r\n/is.exec(received) ?? []
      if (head === undefined || received.length < head.length + 2 + Number(length)) return
      waiting = false
      answered++
      asked = /connection: close/i.test(head)
      if (pauseMs === 0) ask()
      else setTimeout(ask, pauseMs)
    })
    client.on('close', () => resolve({ answered, lost: waiting ? 1 : 0 }))
  })
}

test('a stop without a minimum loses no request of clients with keep-alive connections', async () => {
  await using stops = new AsyncDisposableStack()
  const { gateway, port } = await startRig(stops, { CONNECTION_MIN_TERMINATION_DEADLINE: '0s' }, startGatewayProcess)
  await sleep(100)
  const clients = Array.from({ length: 60 }, (_, i) => askOnOneConnection(port, i % 3 === 0 ? 0 : 5 * (i % 10)))
  await sleep(500)
  expect(await gateway.close()).toBe(0)
  const results = await Promise.all(clients)
  expect(results.reduce((sum, { lost }) => sum + lost, 0)).toBe(0)
  expect(results.every(({ answered }) => answered > 0)).toBe(true)
})
