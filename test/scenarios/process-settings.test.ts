import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import type { GatewayOptions, TestGateway } from '#test/support/gateway-options.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { createObjectsFolder, joinYaml, listenersYaml, type ObjectsFolder } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { verifies } from '#test/support/verifies.ts'

let stops = new AsyncDisposableStack()
afterEach(async () => {
  await stops.disposeAsync()
  stops = new AsyncDisposableStack()
})

const parametersYaml = (spec: object) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyParameters
metadata: { name: here }
spec: ${JSON.stringify(spec)}
`

async function start(
  spec: object,
  options: Partial<GatewayOptions> = {},
  startWith: (options: GatewayOptions) => Promise<TestGateway> = startGateway,
): Promise<{ gateway: TestGateway; folder: ObjectsFolder; port: number }> {
  const port = await freePort()
  const reference =
    '  infrastructure: { parametersRef: { group: gatewright.dev, kind: ProxyParameters, name: here } }\n'
  const gatewayYaml = listenersYaml('main', [`{ name: http, protocol: HTTP, port: ${port} }`], reference)
  const answer = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: all }
spec: { parentRefs: [{ name: main }], rules: [{}] }
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: answer }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: all }]
  traffic: { transformation: { response: { set: [{ name: x-pod, value: env.podName }] } }, directResponse: { status: 200 } }
`
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml, answer),
    'parameters.yaml': parametersYaml(spec),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startWith({ files: [folder.path], workers: 1, ...options }))
  return { gateway, folder, port }
}

verifies(
  ['parameters.logging/format', 'parameters.env/set'],
  'a gateway logs as configured in its ProxyParameters, and has their variables in all threads',
  async () => {
    const spec = { logging: { format: 'json', level: 'debug' }, env: [{ name: 'POD_NAME', value: 'pod-7' }] }
    // Only in a process does a worker have a thread of its own.
    const { gateway, port } = await start(spec, {}, startGatewayProcess)
    const response = await fetch(gateway.url(port))
    expect(response.headers.get('x-pod')).toBe('pod-7')
    const lines = gateway.output.stderr
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { message: string })
    expect(lines.map(({ message }) => message)).toContain('plan in force')
    await eventually('the access log is JSON', () => gateway.output.stdout.startsWith('{"level":"info"') || undefined)
  },
)

test('warnings of the runtime are log messages, in every thread', async () => {
  // Each thread warns as soon as it listens for warnings.
  const warn = `process.on('newListener', (name) => name === 'warning' && setImmediate(() => process.emitWarning('it is old')))`
  const preload = `--import data:text/javascript,${encodeURIComponent(warn)}`
  const environment = { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${preload}` }
  const { gateway } = await start({}, { environment }, startGatewayProcess)
  const warnings = () => gateway.output.stderr.split('\n').filter((line) => line.includes('it is old'))
  await eventually('every thread has warned', () => warnings().length >= 2)
  expect(
    warnings()
      .map((line) => line.slice(line.indexOf('\t') + 1))
      .sort(),
  ).toEqual([
    'warn\truntime warning name=Warning cause="it is old"',
    'warn\truntime warning worker=w1 name=Warning cause="it is old"',
  ])
})

/** Whether the log of a gateway with this level has messages of the instance at level info, and at level debug. */
async function levelsSeen(level: string): Promise<readonly boolean[]> {
  const { gateway } = await start({ logging: { level } })
  return [/\tinfo\tready /.test(gateway.output.stderr), gateway.output.stderr.includes('\tdebug\tplan in force')]
}

verifies('parameters.logging/level-single', 'one level for all modules', async () => {
  expect(await levelsSeen('debug')).toEqual([true, true])
})

verifies('parameters.logging/level-modules', 'levels by module', async () => {
  expect(await levelsSeen('store=debug,control=debug')).toEqual([true, false])
  expect(await levelsSeen('error,instance=debug')).toEqual([true, true])
})

test('the command line and the environment take precedence', async () => {
  const { gateway, port } = await start(
    { logging: { format: 'json', level: 'error' }, env: [{ name: 'POD_NAME', value: 'pod-7' }] },
    { arguments: ['--log-format', 'text'], environment: { GATEWRIGHT_LOG_LEVEL: 'info', POD_NAME: 'own' } },
  )
  expect(gateway.output.stderr).toMatch(/^\S+Z\tinfo\tlistening /)
  expect((await fetch(gateway.url(port))).headers.get('x-pod')).toBe('own')
})

verifies(
  ['parameters.logging/level-default', 'parameters.logging/format-default'],
  'without settings the log is text from info on; a change is logged, because it needs a restart',
  async () => {
    const { gateway, folder } = await start({})
    expect(gateway.output.stderr).toMatch(/^\S+Z\tinfo\tlistening /)
    expect(gateway.output.stderr).not.toContain('plan in force')
    await folder.write('parameters.yaml', parametersYaml({ logging: { format: 'json' } }))
    await eventually(
      'the change is logged',
      () =>
        gateway.output.stderr.includes(
          'warn\tlogging.format, rawConfig or env of ProxyParameters changed; restart the gateway to apply it',
        ) || undefined,
    )
  },
)

test('the levels of the log change while the gateway runs: by the parameters, and on the admin port', async () => {
  const stateFolder = temporaryFolder()
  const { gateway, folder } = await start({}, { stateFolder })
  const authorization = `Bearer ${readFileSync(join(stateFolder, 'admin-token'), 'utf8').trim()}`
  const logged = (text: string) => eventually(text, () => gateway.output.stderr.includes(text) || undefined)
  await folder.write('parameters.yaml', parametersYaml({ logging: { level: 'warn,apiserver=debug' } }))
  await logged('info\tthe levels of the log have changed levels="warn,apiserver=debug" before=info\n')
  expect(gateway.output.stderr).not.toContain('restart the gateway')

  const levels = `${gateway.url(15_000)}/log_levels`
  expect(await (await fetch(levels)).text()).toBe('warn,apiserver=debug\n')
  expect((await fetch(`${levels}?levels=debug`, { method: 'POST' })).status).toBe(401)
  const changed = await fetch(`${levels}?levels=debug`, { method: 'POST', headers: { authorization } })
  expect([changed.status, await changed.text()]).toEqual([200, 'debug\n'])
  await logged('info\tthe levels of the log have changed levels=debug before="warn,apiserver=debug"\n')
  await folder.write('parameters.yaml', parametersYaml({ shutdown: { min: 0, max: 7 } }))
  // Without a level, the default holds again. The plan is told at level debug while it starts, and at info afterwards.
  await logged('info\tthe levels of the log have changed levels=info before=debug\n')

  for (const [query, status, text] of [
    ['', 400, 'the parameter levels is missing: info, or info,proxy=debug\n'],
    ['?levels=loud', 400, '"loud" is not a level; levels are error, warn, info and debug\n'],
  ] as const) {
    const refused = await fetch(`${levels}${query}`, { method: 'POST', headers: { authorization } })
    expect([refused.status, await refused.text()]).toEqual([status, text])
  }
  expect((await fetch(levels, { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD, POST')
})

test('levels of the command line are not changed by the parameters', async () => {
  const { gateway, folder } = await start({}, { arguments: ['--log-level', 'info'] })
  await folder.write('parameters.yaml', parametersYaml({ logging: { level: 'error', format: 'json' } }))
  await eventually('the change is read', () => gateway.output.stderr.includes('restart the gateway') || undefined)
  expect(await (await fetch(`${gateway.url(15_000)}/log_levels`)).text()).toBe('info\n')
})
