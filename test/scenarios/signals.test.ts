import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '#test/support/gateway-process.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'

const ROOT = join(import.meta.dirname, '..', '..')
let stops = new AsyncDisposableStack()
afterEach(async () => {
  await stops.disposeAsync()
  stops = new AsyncDisposableStack()
})

function temporaryFolder(kept = stops): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-signals-'))
  kept.defer(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Objects of a gateway with an echo behind it. */
async function serveEcho(kept = stops) {
  const echo = await startEcho({ port: 0 })
  kept.defer(echo.close)
  const port = await freePort()
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('all', '/', 'echo')),
  })
  kept.defer(objects.remove)
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
    await response.text()
    return response.status
  }
  return { objects, ask }
}

describe('a process without a terminal', () => {
  const kept = new AsyncDisposableStack()
  let gateway: GatewayProcess
  let log: string
  let ask: (path: string) => Promise<number>
  beforeAll(async () => {
    const { objects, ...echo } = await serveEcho(kept)
    ask = echo.ask
    log = join(temporaryFolder(kept), 'access.log')
    gateway = await startGatewayProcess({ files: [objects.path], environment: { GATEWRIGHT_ACCESS_LOG: log } })
    kept.use(gateway)
  })
  afterAll(() => kept.disposeAsync())

  test('SIGHUP reloads the files and reopens the access log', async () => {
    const lines = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [])
    expect(await ask('/before')).toBe(200)
    await eventually('the line', () => lines(log).some((line) => line.includes('/before')))
    renameSync(log, `${log}.1`)
    gateway.process.kill('SIGHUP')
    await eventually('it says so', () =>
      gateway.output.stderr.includes('reloading the files and reopening the access log'),
    )
    expect(await ask('/after')).toBe(200)
    await eventually('the line', () => lines(log).some((line) => line.includes('/after')))
    expect(lines(`${log}.1`).filter((line) => line.includes('/after'))).toEqual([])
    expect(gateway.process.exitCode).toBe(null)
  })

  test('SIGUSR1 opens no debugger', async () => {
    gateway.process.kill('SIGUSR1')
    for (let i = 0; i < 10; i++) expect(await ask('/')).toBe(200)
    expect(gateway.output.stderr).not.toContain('Debugger')
    await expect(fetch('http://127.0.0.1:9229/json')).rejects.toThrow()
  })

  test('the gateway continues when standard error is closed', async () => {
    gateway.process.stderr?.destroy()
    for (let i = 0; i < 3; i++) gateway.process.kill('SIGHUP')
    for (let i = 0; i < 10; i++) expect(await ask('/')).toBe(200)
    expect(gateway.process.exitCode).toBe(null)
  })
})

test('a renamed access log is noticed without a signal', async () => {
  const { objects, ask } = await serveEcho()
  const log = join(temporaryFolder(), 'access.log')
  const time = stops.use(new PassingTime())
  stops.use(await startGateway({ files: [objects.path], workers: 1, environment: { GATEWRIGHT_ACCESS_LOG: log } }))
  await ask('/before')
  await eventually('the line', () => existsSync(log) && readFileSync(log, 'utf8').includes('/before'))
  renameSync(log, `${log}.1`)
  await eventually('a line in a file of its own', async () => {
    await ask('/after')
    time.skip(1000)
    return existsSync(log) && readFileSync(log, 'utf8').includes('/after')
  })
})

test('a full disk is reported once and counted, and requests continue', async () => {
  const { objects, ask } = await serveEcho()
  const environment = { GATEWRIGHT_ACCESS_LOG: '/dev/full' }
  const gateway = await startGateway({ files: [objects.path], workers: 1, environment })
  stops.use(gateway)
  for (let i = 0; i < 20; i++) expect(await ask(`/${i}`)).toBe(200)
  const told = () =>
    gateway.output.stderr.split('\n').filter((line) => line.includes('the access log cannot be written'))
  await eventually('it is told', () => told().length > 0)
  expect(await ask('/more')).toBe(200)
  expect(told()).toEqual([
    expect.stringMatching(
      /\terror\tthe access log cannot be written; lines are queued in memory, and dropped when the queue is full cause="\/dev\/full: ENOSPC"$/,
    ),
  ])
  expect(await gateway.close()).toBe(0)
})

test('without a reader of standard output the gateway continues, drops the access log and reports it once', async () => {
  const { objects, ask } = await serveEcho()
  const gateway = stops.use(await startGatewayProcess({ files: [objects.path], workers: 1 }))
  gateway.process.stdout?.destroy()
  for (let i = 0; i < 3; i++) {
    expect(await ask(`/${i}`)).toBe(200)
    await eventually('it is reported', () => gateway.output.stderr.includes('its lines are dropped'))
  }
  expect(await gateway.close()).toBe(0)
  const reports = gateway.output.stderr.split('\n').filter((line) => line.includes('access log'))
  expect(reports).toEqual([
    expect.stringMatching(/\terror\tthe access log has no reader any more; its lines are dropped cause=EPIPE$/),
    expect.stringMatching(/\terror\tthe access log is incomplete lost=3$/),
  ])
})

test('a file of the access log that cannot be opened is a usage error', async () => {
  const { objects } = await serveEcho()
  const environment = { GATEWRIGHT_ACCESS_LOG: '/no/such/folder/log' }
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  await expect(startGateway({ files: [objects.path], workers: 1, environment })).rejects.toThrow('ended with code 2')
  expect(said.mock.calls.join('\n')).toMatch(/GATEWRIGHT_ACCESS_LOG.*ENOENT/s)
})

test('a debugger that the environment opens is warned of', async () => {
  const { objects } = await serveEcho()
  const environment = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }
  const gateway = await startGatewayProcess({ files: [objects.path], workers: 1, environment })
  stops.use(gateway)
  expect(gateway.output.stderr).toMatch(
    /\twarn\tthe debugger of the runtime is open; anyone who can connect to it can read every secret host=127\.0\.0\.1:\d+/,
  )
})

test('the gateway stops in order when its terminal is closed', async () => {
  const { objects, ask } = await serveEcho()
  const state = temporaryFolder()
  const note = join(state, 'gateway.json')
  const command = `exec ${ROOT}/bin/gatewright run -f ${objects.path} --workers 1 --state ${state}`
  // `script` gives its command a terminal of its own, which is closed when it dies.
  const terminal: ChildProcess = spawn('script', ['-qfc', command, '/dev/null'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {
      ...process.env,
      SHELL: '/bin/sh',
      GATEWRIGHT_ADMIN_ADDR: '127.0.0.1:0',
      GATEWRIGHT_STATS_ADDR: '127.0.0.1:0',
      GATEWRIGHT_READINESS_ADDR: '127.0.0.1:0',
      GATEWRIGHT_API_ADDR: 'off',
      TERMINATION_GRACE_PERIOD_SECONDS: '0',
    },
  })
  stops.defer(() => void terminal.kill('SIGKILL'))
  await eventually('it runs', () => existsSync(note))
  const { pid } = JSON.parse(readFileSync(note, 'utf8')) as { pid: number }
  stops.defer(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  process.kill(pid, 'SIGHUP')
  expect(await ask('/'), 'its terminal is there: SIGHUP reloads').toBe(200)
  terminal.kill('SIGKILL')
  await eventually('it has ended', () => !isAlive(pid))
  expect(existsSync(note), 'in order').toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
