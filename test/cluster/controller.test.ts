import { expect, onTestFinished, test } from 'vitest'
import { ask } from '#admin/testing.ts'
import { InstanceLog } from '#cli/instance-log.ts'
import type { ApiAccess } from '#cluster/api-access.ts'
import { DEFAULT_NAMES } from '#control/context/controller.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { Controller } from '#instance/controller.ts'
import { StateFolder } from '#instance/state-folder.ts'
import { ApplicationLog } from '#observe/log/application-log.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { connectToTestServer } from './connect-to-test-server.ts'
import { serveLeases } from './serve-leases.ts'

const ANY = { host: '127.0.0.1', port: 0 }
const GATEWAY_API = '/apis/gateway.networking.k8s.io/v1'

/** A controller that starts; `lines` is its log. */
function starting(access: ApiAccess) {
  const lines: string[] = []
  const folder = temporaryFolder()
  const log = new InstanceLog(
    new ApplicationLog({ format: 'text', levels: { others: 'info' } }, (line) => {
      lines.push(line)
      return true
    }),
  )
  const state = new StateFolder(folder, true, (...line) => log.message('store', ...line))
  const controller = new Controller(
    {
      access,
      names: DEFAULT_NAMES,
      namespaces: [],
      ...{ admin: ANY, metrics: ANY, readiness: ANY, delivery: ANY, state },
      ...{ namespace: 'gatewright-system', service: 'gatewright-controller', hosts: ['127.0.0.1'] },
      certificate: { lifeMs: 86_400_000 },
      settings: { ...defaultSettings('1.2.3'), version: '1.2.3' },
      ...{ identity: 'a', replicaHost: undefined },
    },
    log,
  )
  onTestFinished(() => controller.close())
  const started = controller.start()
  /** The ports of the servers for operators. */
  const ports = () =>
    eventually('open servers', () => {
      const { admin, metrics, readiness } = controller.addresses
      return { admin: Number(new URL(admin).port), metrics, readiness }
    })
  return { controller, started, lines, ports, state }
}

test('without its API server, it says address, credential and error, tries again, and can be stopped', async () => {
  const port = await freePort()
  const { controller, started, lines, ports } = starting({
    server: new URL(`http://127.0.0.1:${port}`),
    tls: {},
    headers: {},
    credential: 'the token in /t',
  })
  const { readiness } = await ports()
  const cause = `http://127.0.0.1:${port} cannot be read: connection refused; is it running? (credential: the token in /t)`
  const said = () => lines.filter((line) => line.includes(`${cause}; next attempt in `))
  await eventually('two attempts', () => said().length > 1)
  const ready = await ask(readiness, '/readyz')
  expect([ready.status, ready.body]).toEqual([503, expect.stringContaining(`no certificate for proxies yet: ${cause}`)])
  expect((await ask(readiness, '/livez')).status).toBe(200)
  await controller.close()
  await started
})

test('operators see objects, findings, plan and numbers, and change the levels of its log', async () => {
  const { server, client } = await connectToTestServer()
  await serveLeases({ server, client })
  const access = {
    server: new URL(server.url),
    tls: { ca: server.ca },
    headers: { authorization: 'Bearer test-token' },
  }
  const named = (name: string) => ({ metadata: { name, namespace: 'default' } })
  await client.create('/api/v1/namespaces', { kind: 'Namespace', metadata: { name: 'gatewright-system' } })
  await client.create(`${GATEWAY_API}/namespaces/default/gateways`, {
    kind: 'Gateway',
    ...named('main'),
    spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  })
  const backendRefs = [{ name: 'absent', port: 80 }]
  await client.create(`${GATEWAY_API}/namespaces/default/httproutes`, {
    kind: 'HTTPRoute',
    ...named('shop'),
    spec: { parentRefs: [{ name: 'main' }], rules: [{ backendRefs }] },
  })
  const { started, ports, state, lines } = starting(access)
  await started
  const { admin, metrics, readiness } = await ports()
  await eventually('a ready controller', async () => (await ask(readiness, '/readyz')).status === 200)
  const status = await eventually('a status', async () => {
    const report = JSON.parse((await ask(admin, '/status')).body)
    const route = report.objects.find(({ origin }: { origin: { kind: string } }) => origin.kind === 'HTTPRoute')
    return route.status === undefined ? undefined : { ...report, route }
  })
  expect(status).toMatchObject({
    notReady: [],
    proxies: [],
    workers: [],
    route: { findings: [{ code: 'backend-not-found' }], status: { parents: [{ parentRef: { name: 'main' } }] } },
  })
  const plan = JSON.parse((await ask(admin, '/plan')).body)
  expect(plan.items.map(({ key }: { key: string }) => key)).toContain('HTTPRoute/default/shop/0')
  expect((await ask(admin, '/decisions')).status).toBe(404)
  expect((await ask(admin, '/')).body).toContain('in force in 0 proxies')
  const text = await eventually('written statuses', async () => {
    const { body } = await ask(metrics, '/metrics')
    return body.includes('gatewright_write_queue_length{queue="statuses"} 0') ? body : undefined
  })
  expect(text).toMatch(/gatewright_api_requests_total\{verb="update",resource="httproutes\/status",code="200"\} \d/)
  expect(text).toMatch(/gatewright_api_requests_total\{verb="get",resource="secrets",code="404"\} \d/)
  expect(text).toMatch(/gatewright_reconciliation_duration_seconds_count\{part="translation",outcome="success"\} \d/)
  const token = state.read('admin-token', (content) => content.trim())
  const change = { method: 'POST', headers: { authorization: `Bearer ${token}` } }
  expect((await ask(admin, '/log_levels?levels=debug', { method: 'POST' })).status).toBe(401)
  expect((await ask(admin, '/log_levels?levels=warn,deliver=debug', change)).body).toContain('warn,deliver=debug')
  expect(lines.at(-1)).toContain('the levels of the log have changed')
})
