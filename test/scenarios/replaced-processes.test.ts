import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askOverAndOver, askOverSessions, type Client } from '#test/support/ask-over-and-over.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { environmentOf, type GatewayOptions, runWords } from '#test/support/gateway-options.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** Streams last as long as an upgrade, which takes long on a busy machine. */
const PATIENT = { TERMINATION_GRACE_PERIOD_SECONDS: '3600' }

interface Backend extends AsyncDisposable {
  readonly port: number
  /** The answers to requests for `/events`, which have begun. */
  readonly streams: http.ServerResponse[]
}

async function startBackend(): Promise<Backend> {
  const streams: http.ServerResponse[] = []
  const server = http.createServer((request, response) => {
    if (request.url !== '/events') return void response.end('ok')
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: begin\n\n')
    streams.push(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    streams,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Rig extends AsyncDisposable {
  readonly url: string
  readonly folder: ObjectsFolder
  readonly options: GatewayOptions
  /** Of the gateway that has the state folder. */
  readonly pid: number
  /** The log of all processes. */
  readonly log: string
  readonly backend: Backend
  /** Of a server for operators, by its default port. */
  operatorUrl(port: number): string
}

/** A gateway in a process that others may replace. */
async function startRig(more: Partial<GatewayOptions> = {}): Promise<Rig> {
  await using stops = new AsyncDisposableStack()
  const backend = stops.use(await startBackend())
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('all', backend.port), routeYaml('all', '/', 'all')),
  })
  stops.defer(folder.remove)
  const stateFolder = mkdtempSync(join(tmpdir(), 'gatewright-state-'))
  stops.defer(() => rm(stateFolder, { recursive: true, force: true }))
  const options = { files: [folder.path], stateFolder, workers: 2, environment: PATIENT, drains: true, ...more }
  const pidNow = () => JSON.parse(readFileSync(join(stateFolder, 'gateway.json'), 'utf8')).pid as number
  const gateway = await startGatewayProcess(options)
  // The output of the first process is open until the last one ends.
  stops.defer(async () => void (await gateway.close()))
  stops.defer(() => {
    if (existsSync(join(stateFolder, 'gateway.json'))) process.kill(pidNow(), 'SIGTERM')
  })
  const owned = stops.move()
  return {
    url: `http://127.0.0.1:${port}`,
    backend,
    operatorUrl: (port) => gateway.url(port),
    folder,
    options,
    get pid() {
      return pidNow()
    },
    get log() {
      return gateway.output.stderr
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function replace(rig: Rig, change: Partial<GatewayOptions> = {}): Promise<Ended> {
  const options = { ...rig.options, ...change }
  const words = runWords({ ...options, arguments: ['--replace'] }, options.stateFolder)
  return new Promise((resolve) => {
    execFile(
      join(ROOT, 'bin', 'gatewright'),
      words,
      { cwd: ROOT, env: environmentOf(options) },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('no request fails while processes replace each other', async () => {
  await using rig = await startRig()
  const clients: Client[] = []
  let isOver = false
  const ask = (loop: (client: Client) => Promise<void>) => {
    const client: Client = { statuses: [], closes: 0 }
    clients.push(client)
    return loop(client)
  }
  const done = Promise.all([
    ask((client) => askOverAndOver(rig.url, () => isOver, client, false)),
    ask((client) => askOverAndOver(rig.url, () => isOver, client)),
    ask((client) => askOverSessions(rig.url, () => isOver, client)),
    ask((client) => askOverAndOver(`${rig.operatorUrl(15_021)}/healthz/ready`, () => isOver, client, false)),
  ])
  // An error in a client ends the test at once.
  const upgrades = async () => {
    const pids = [rig.pid]
    for (let upgrade = 0; upgrade < 3; upgrade++) {
      const before = clients.map(({ statuses }) => statuses.length)
      const events = await fetch(`${rig.url}/events`)
      // Sockets of three threads are for one, and the other way round.
      const ended = await replace(rig, { workers: [1, 3, 2][upgrade % 3]! })
      expect(ended).toEqual({
        code: 0,
        stdout: expect.stringContaining(`has replaced process ${pids.at(-1)}`),
        stderr: '',
      })
      pids.push(rig.pid)
      rig.backend.streams.pop()!.end('data: end\n\n')
      expect(await events.text()).toBe('data: begin\n\ndata: end\n\n')
      await eventually('every client has been served by the new process', () =>
        clients.every(({ statuses }, i) => statuses.length > before[i]! + 20),
      )
    }
    expect(new Set(pids).size).toBe(pids.length)
    await eventually('all others have ended', () => pids.slice(0, -1).every((pid) => !isAlive(pid)))
    isOver = true
  }
  try {
    await Promise.all([done, upgrades()])
  } finally {
    // A gateway ends with its last stream.
    isOver = true
    for (const stream of rig.backend.streams) stream.destroy()
  }
  expect(clients.map(({ statuses }) => statuses.filter((status) => status !== 200))).toEqual([[], [], [], []])
})

/** Programs and configurations that cannot take the place of a gateway. */
const FAILING: readonly (readonly [
  string,
  (taken: {
    readonly port: number
    readonly folder: string
  }) => Promise<Partial<GatewayOptions>> | Partial<GatewayOptions>,
  string,
])[] = [
  [
    'a server for operators has no port',
    ({ port }) => ({ environment: { ...PATIENT, GATEWRIGHT_STATS_ADDR: `127.0.0.1:${port}` } }),
    'is in use; the metrics server needs it',
  ],
  [
    'no listener has a port',
    ({ port, folder }) => {
      writeFileSync(join(folder, 'gateway.yaml'), gatewayYaml(port))
      return { files: [folder] }
    },
    'is in use by another process',
  ],
  [
    'it ends',
    ({ folder }) => {
      const crash = join(folder, 'crash.cjs')
      writeFileSync(crash, 'if (process.env.GATEWRIGHT_PREDECESSOR) process.exit(7)')
      return { environment: { ...PATIENT, NODE_OPTIONS: `--require ${crash}` } }
    },
    'the new process ended with code 7',
  ],
]

test('a process that cannot serve leaves the old one serving, with its state', async () => {
  await using rig = await startRig()
  await using other = await startBackend()
  const { pid } = rig
  for (const [why, change, cause] of FAILING) {
    const folder = mkdtempSync(join(tmpdir(), 'gatewright-test-'))
    const ended = await replace(rig, await change({ port: other.port, folder }))
    await rm(folder, { recursive: true })
    expect(ended, why).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(cause) })
    expect((await fetch(rig.url)).status).toBe(200)
    expect((await fetch(`${rig.operatorUrl(15_021)}/healthz/ready`)).status).toBe(200)
    expect(rig.pid).toBe(pid)
  }
  expect(await replace(rig)).toMatchObject({ code: 0 })
  expect(rig.pid).not.toBe(pid)
})

test('the new process opens and closes sockets as its own objects say', async () => {
  await using rig = await startRig()
  const [port, before] = [await freePort(), rig.pid]
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('all', rig.backend.port), routeYaml('all', '/', 'all')),
  })
  expect(await replace(rig, { files: [folder.path] })).toMatchObject({ code: 0 })
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200)
  await eventually('the old process has ended', () => !isAlive(before))
  await expect(fetch(rig.url)).rejects.toThrow()
  await folder.remove()
})

test('systemd learns which process is the service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-test-'))
  const sent = join(folder, 'sent')
  writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> "${sent}"\n`)
  chmodSync(join(folder, 'systemd-notify'), 0o755)
  const PATH = `${folder}:${process.env.PATH}`
  await using rig = await startRig({ environment: { ...PATIENT, PATH, NOTIFY_SOCKET: '/run/systemd/notify' } })
  const before = rig.pid
  // An administrator calls the command outside of the service.
  expect(await replace(rig, { environment: { ...PATIENT, PATH } })).toMatchObject({ code: 0 })
  const told = ['READY=1', `MAINPID=${rig.pid}`, 'READY=1'].map((state) => `/run/systemd/notify ${state}\n`).join('')
  await eventually('systemd has been told', () => readFileSync(sent, 'utf8') === told)
  await eventually('the old process has ended', () => !isAlive(before))
  expect(readFileSync(sent, 'utf8')).toBe(told)
  await rm(folder, { recursive: true })
})

test('only the owner can ask, and without a gateway to replace one starts', async () => {
  await using rig = await startRig({ arguments: ['--replace'] })
  expect(rig.log).toContain('no gateway to replace uses the state folder')
  expect(statSync(join(rig.options.stateFolder!, 'replace.sock')).mode & 0o777).toBe(0o600)
})
