import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { StatusReport } from '#admin/status-report.ts'
import type { TrafficRates } from '#cli/top/traffic-rates.ts'
import { startEcho } from '#examples/upstreams/echo.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

const GATEWRIGHT = join(import.meta.dirname, '..', '..', 'bin', 'gatewright')

test('status and top show a running gateway, on the terminal and to scripts', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      backendYaml('down', await freePort()),
      routeYaml('shop', '/shop', 'echo'),
      routeYaml('old', '/old', 'down'),
    ),
  })
  stops.defer(folder.remove)
  const gateway = await startGateway({ files: [folder.path], workers: 2 })
  stops.use(gateway)
  const admin = ['--admin', gateway.url(15_000)]
  const call = async (path: string) => await (await fetch(`http://127.0.0.1:${port}${path}`)).text()

  const status = await gatewright(['status', ...admin])
  expect([status.code, status.stderr]).toEqual([0, ''])
  expect(status.stdout).toMatch(/^ready\nversion \S+, plan \d+ in force in 2 of 2 workers \(w1, w2\)\n/)
  expect(status.stdout).toContain(`  default/main/http at 127.0.0.1:${port}\n`)
  const report = JSON.parse((await gatewright(['status', '-o', 'json', ...admin])).stdout) as StatusReport
  expect(report).toMatchObject({ notReady: [], workers: [{ name: 'w1' }, { name: 'w2' }] })
  expect((await fetch(`${gateway.url(15_021)}/healthz/ready`)).status).toBe(200)

  // The variable that `run` reads names the server, too; the option takes precedence.
  const there = { GATEWRIGHT_ADMIN_ADDR: new URL(gateway.url(15_000)).host }
  for (const words of [['status'], ['mcp', 'sessions'], ['top', '--once', '--interval', '0.1']]) {
    expect(await gatewright(words, there)).toMatchObject({ code: 0, stderr: '' })
    expect(await gatewright([...words, ...admin], { GATEWRIGHT_ADMIN_ADDR: 'nowhere' })).toMatchObject({ code: 0 })
  }
  expect((await gatewright(['why', 'no-such-id'], there)).stderr).toContain('no worker has a record')
  expect(await gatewright(['status'], { GATEWRIGHT_ADMIN_ADDR: 'nowhere' })).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'gatewright: GATEWRIGHT_ADMIN_ADDR is nowhere; it must be an IP address and a port, such as 127.0.0.1:15000\n',
  })

  let isOver = false
  const measured = gatewright(['top', '--once', '--interval', '0.5', '-o', 'json', ...admin]).finally(() => {
    isOver = true
  })
  while (!isOver) await Promise.all(['/shop/a', '/old/a', '/none'].map(call))
  const { code, stdout } = await measured
  const rates = JSON.parse(stdout) as TrafficRates
  expect(code).toBe(0)
  const row = (kind: 'routes' | 'backends', wanted: string) => rates[kind].find(({ name }) => name === wanted)
  expect(row('routes', 'default/shop')).toMatchObject({ errorRatio: 0, clientErrorRatio: 0 })
  expect(row('routes', 'default/shop')!.perSecond).toBeGreaterThan(0)
  expect(row('routes', 'default/shop')!.p99Ms).toBeGreaterThanOrEqual(row('routes', 'default/shop')!.p50Ms!)
  expect(row('routes', 'default/old')).toMatchObject({ errorRatio: 1 })
  expect(row('backends', 'default/down')).toMatchObject({ errorRatio: 1 })
  expect(row('routes', '')).toMatchObject({ clientErrorRatio: 1 })

  const child = spawn(GATEWRIGHT, ['top', '--interval', '0.1', ...admin], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [shown, complaints] = ['', '']
  child.stdout.on('data', (text) => {
    shown += text
  })
  child.stderr.on('data', (text) => {
    complaints += text
  })
  const ended = once(child, 'close')
  await eventually('two measurements are shown', () => shown.split('BACKEND').length > 2)
  expect(shown).toMatch(/^\d\d:\d\d:\d\d {2}\d.* req\/s, \d+ in flight\nROUTE {2,}req\/s/)
  expect(shown, 'no control sequences without a terminal').not.toContain('\u001b')

  const wrong = await gatewright(['top', '--interval', 'x', ...admin])
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    'gatewright: --interval x must be a number of seconds from 0.1 to 3600\n',
  ])
  await gateway.close()
  for (const command of ['status', 'top']) {
    expect(await gatewright([command, ...admin])).toEqual({
      code: 1,
      stdout: '',
      stderr: `gatewright: no gateway responds at ${gateway.url(15_000)}/; --admin is the address of its admin server\n`,
    })
  }

  const nobody = await gatewright(['status'], there)
  expect([nobody.code, nobody.stderr]).toEqual([
    1,
    `gatewright: no gateway responds at ${gateway.url(15_000)}/; GATEWRIGHT_ADMIN_ADDR is the address of its admin server\n`,
  ])

  // A running `top` waits for a gateway that is restarted.
  await eventually('it waits', () => complaints !== '')
  shown = ''
  const again = { GATEWRIGHT_ADMIN_ADDR: new URL(gateway.url(15_000)).host }
  stops.use(await startGateway({ files: [folder.path], workers: 1, environment: again }))
  await eventually('it shows the new gateway', () => shown.includes('BACKEND'))
  child.kill('SIGINT')
  expect((await ended)[0]).toBe(0)
  expect(complaints).toBe(
    `gatewright: no gateway responds at ${gateway.url(15_000)}/; --admin is the address of its admin server; waiting until it responds again
gatewright: the gateway responds again
`,
  )
})

test('a gateway whose only listener has no certificate is not ready, and status, page and readiness agree', async () => {
  await using stops = new AsyncDisposableStack()
  const folder = await createObjectsFolder({
    'gateway.yaml': `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: main }
spec:
  gatewayClassName: gatewright
  listeners:
    - name: https
      port: ${await freePort()}
      protocol: HTTPS
      tls: { certificateRefs: [{ name: missing }] }
`,
  })
  stops.defer(folder.remove)
  const gateway = await startGateway({ files: [folder.path], workers: 1 })
  stops.use(gateway)
  const response = await fetch(`${gateway.url(15_021)}/healthz/ready`)
  const text = await response.text()
  expect(response.status).toBe(503)
  const { code, stdout } = await gatewright(['status', '--admin', gateway.url(15_000)])
  expect([code, stdout.split('\n')[0]]).toEqual([1, text.trim()])
  expect(stdout).toContain('every TLS handshake is refused (certificate-missing)')
})
