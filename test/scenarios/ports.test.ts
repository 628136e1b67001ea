import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  listenersYaml,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'

const WITHOUT_CERTIFICATE = '{ name: https, protocol: HTTPS, port: 8443 }'
const NO_CERTIFICATE =
  'listener default/main/https: it has no usable certificate, so every TLS handshake is refused (certificate-missing)'

/** How often a port in use is tried. */
const REOPEN_MS = 2000

test('a port in use stops only its listener, is reported, and is opened as soon as it is free', async () => {
  using time = new PassingTime()
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen({ host: '127.0.0.1', port: 0 }, resolve))
  const taken = (holder.address() as { port: number }).port
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port).replace(
        '    - { name: http',
        `    - { name: taken, protocol: HTTP, port: ${taken} }\n    - { name: http`,
      ),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo'),
    ),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))

  expect(gateway.output.stderr).toContain(
    `a listener cannot accept connections url=http://127.0.0.1:${taken} listener=default/main/taken cause="127.0.0.1:${taken} is in use`,
  )
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  const status = (await (await fetch(`${gateway.url(15000)}/status`)).json()) as {
    objects: {
      origin: { kind: string }
      status?: { listeners?: { name: string; conditions: { type: string; status: string; reason: string }[] }[] }
    }[]
  }
  const listeners = status.objects.find(({ origin }) => origin.kind === 'Gateway')?.status?.listeners ?? []
  const programmed = listeners.map(({ name, conditions }) => [
    name,
    conditions.find(({ type }) => type === 'Programmed')?.status,
  ])
  expect(programmed).toEqual([
    ['taken', 'False'],
    ['http', 'True'],
  ])

  await new Promise<void>((resolve) => holder.close(() => resolve()))
  await eventually('the freed port serves', async () => {
    time.skipTimers(REOPEN_MS)
    const response = await fetch(`http://127.0.0.1:${taken}/`)
    return response.status === 200 || undefined
  })
})

test('a gateway without an open port is not ready, reports the reason, and becomes ready with one', async () => {
  using time = new PassingTime()
  await using stops = new AsyncDisposableStack()
  const holder = createServer()
  stops.defer(() => void holder.close())
  await new Promise<void>((resolve) => holder.listen({ host: '127.0.0.1', port: 0 }, resolve))
  const taken = (holder.address() as { port: number }).port
  const folder = await createObjectsFolder({})
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  const health = async (path: string) => {
    const response = await fetch(`${gateway.url(15_021)}/healthz/${path}`)
    return [response.status, await response.text()]
  }
  const readiness = (status: number, text: string) =>
    eventually(text, async () => (await health('ready')).join(' ') === `${status} ${text}\n` || undefined)
  expect(await health('ready')).toEqual([503, 'not ready: no Gateway exists\n'])
  expect(gateway.output.stderr).toMatch(/\twarn\trunning, but not ready .* cause="no Gateway exists"\n/)

  await folder.write('all.yaml', listenersYaml('main', [WITHOUT_CERTIFICATE]))
  await readiness(503, `not ready: ${NO_CERTIFICATE}`)
  await folder.write('all.yaml', gatewayYaml(taken))
  await readiness(503, `not ready: listener default/main/http: 127.0.0.1:${taken} is in use by another process`)
  expect(await health('live')).toEqual([200, 'live\n'])
  await new Promise((resolve) => holder.close(resolve))
  await eventually('ready', async () => {
    time.skipTimers(REOPEN_MS)
    return (await health('ready')).join(' ') === '200 ready\n'
  })
  await folder.write('all.yaml', '')
  await readiness(503, 'not ready: no Gateway exists')
  expect(gateway.output.stderr).toMatch(/\tinfo\tready\n(?:.*\n)*.*\twarn\tnot ready cause="no Gateway exists"\n/)
})

test('a gateway does not become ready while it is unknown what to protect, and one that was ready stays ready', async () => {
  await using stops = new AsyncDisposableStack()
  const port = await freePort()
  const folder = await createObjectsFolder({ 'all.yaml': gatewayYaml(port), 'policies.yaml': 'a: [' })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  const readiness = async () => {
    const response = await fetch(`${gateway.url(15_021)}/healthz/ready`)
    return `${response.status} ${await response.text()}`
  }
  expect(await readiness()).toMatch(/^503 not ready: .*policies\.yaml:1:5: error: no version of this file was valid/)

  await folder.write('policies.yaml', '')
  await eventually('it is ready', async () => (await readiness()) === '200 ready\n' || undefined)
  await folder.write('more.yaml', 'a: [')
  await eventually('the new file is read', () => gateway.output.stderr.includes('more.yaml') || undefined)
  await folder.write('all.yaml', listenersYaml('main', [WITHOUT_CERTIFICATE]))
  const noCertificate = `503 not ready: ${NO_CERTIFICATE}\n`
  await eventually('its listeners count alone', async () => (await readiness()) === noCertificate || undefined)
  await folder.write('all.yaml', gatewayYaml(port))
  await eventually('it is ready again', async () => (await readiness()) === '200 ready\n' || undefined)
})

test('two Gateways on one port each get an address from the pool', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      gatewayYaml(port).replace('name: main', 'name: other'),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo'),
    ),
  })
  stops.defer(folder.remove)
  stops.use(
    await startGateway({
      files: [folder.path],
      workers: 1,
      arguments: ['--address-pool', '127.31.0.0/24'],
    }),
  )
  expect((await fetch(`http://127.31.0.1:${port}/`)).status).toBe(200)
  expect((await fetch(`http://127.31.0.2:${port}/`)).status, 'no route is attached to the other').toBe(404)
})

test('an admin port in use is one line and exit code 1', async () => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen({ host: '127.0.0.1', port: 0 }, resolve))
  const taken = (holder.address() as { port: number }).port
  const folder = await createObjectsFolder({ 'gateway.yaml': gatewayYaml(await freePort()) })
  const started = startGateway({
    files: [folder.path],
    workers: 1,
    environment: { GATEWRIGHT_ADMIN_ADDR: `127.0.0.1:${taken}` },
  })
  await expect(started).rejects.toThrow(new RegExp(`ended with code 1:[^]*127\\.0\\.0\\.1:${taken} is in use`))
  await folder.remove()
  holder.close()
})
