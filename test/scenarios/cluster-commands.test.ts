import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFakeApi } from '#cluster/testing.ts'
import { startEcho } from '#examples/upstreams/echo.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const GATEWRIGHT = join(import.meta.dirname, '..', '..', 'bin', 'gatewright')
const GATEWAYS = '/apis/gateway.networking.k8s.io/v1/gateways'
const CLASSES = '/apis/gateway.networking.k8s.io/v1/gatewayclasses'
const PODS = '/api/v1/pods'

const gatewayObject = (
  name: string,
  programmed: 'True' | 'False',
  message: string,
  gatewayClassName = 'gatewright',
) => ({
  metadata: { namespace: 'infra', name },
  spec: { gatewayClassName },
  status: { conditions: [{ type: 'Programmed', status: programmed, reason: 'Programmed', message }] },
})

const podObject = (name: string, state: object, more: object = {}) => ({
  metadata: { namespace: 'infra', name, labels: { 'gateway.networking.k8s.io/gateway-name': 'main' }, ...more },
  spec: { containers: [{ name: 'proxy' }] },
  status: { containerStatuses: [{ name: 'proxy', ...state }] },
})
const READY = { ready: true, state: { running: {} } }

async function startCluster(stops: AsyncDisposableStack) {
  const api = stops.use(
    await startFakeApi({
      [GATEWAYS]: [
        gatewayObject('main', 'True', 'all listeners are programmed'),
        gatewayObject('other', 'False', 'no address'),
        gatewayObject('foreign', 'True', 'of another controller', 'elsewhere'),
      ],
      [CLASSES]: [
        { metadata: { name: 'gatewright' }, spec: { controllerName: 'gatewright.dev/controller' } },
        { metadata: { name: 'elsewhere' }, spec: { controllerName: 'elsewhere.example/controller' } },
      ],
      [PODS]: [podObject('main-1', READY), podObject('main-2', READY)],
    }),
  )
  api.selectsByLabel = true
  const file = join(temporaryFolder(), 'kubeconfig')
  const cluster = { name: 'c', cluster: { server: api.address } }
  const context = { name: 'dev', context: { cluster: 'c', namespace: 'infra' } }
  writeFileSync(file, JSON.stringify({ clusters: [cluster], contexts: [context] }))
  return { api, at: ['--kubeconfig', file, '--context', 'dev'] }
}

test('the commands ask the pods of a Gateway, and name them', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const ports = { 'main-1': await freePort(), 'main-2': await freePort() } as const
  const startPod = async (port: number) => {
    const folder = await createObjectsFolder({
      'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('shop', '/', 'echo')),
    })
    stops.defer(folder.remove)
    return stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  }
  const pods = { 'main-1': await startPod(ports['main-1']), 'main-2': await startPod(ports['main-2']) }
  const { api, at } = await startCluster(stops)
  api.portOf = (pod, port) => {
    expect(port).toBe(15_000)
    return Number(new URL(pods[pod as keyof typeof pods].url(15_000)).port)
  }
  const call = async (pod: keyof typeof ports, path: string) => {
    const response = await fetch(`http://127.0.0.1:${ports[pod]}${path}`)
    await response.text()
  }

  const status = await gatewright(['status', ...at, 'main'])
  expect([status.code, status.stderr]).toEqual([0, ''])
  expect(status.stdout).toMatch(/^infra\/main: programmed\n main-1 ready\n main-2 ready\n\npod main-1\nready\nversion /)

  const child = spawn(GATEWRIGHT, ['tail', ...at, '-n', 'infra', 'main', '-o', 'json'])
  stops.defer(() => void child.kill())
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (text: Buffer) => (output[name] += text))
  await eventually('requests of both', async () => {
    await call('main-1', '/one')
    await call('main-2', '/two')
    return output.stdout.includes('/one') && output.stdout.includes('/two')
  })
  const records = output.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { pod: string; id: string; target: string })
  expect(new Set(records.map(({ pod, target }) => `${pod} ${target}`))).toEqual(new Set(['main-1 /one', 'main-2 /two']))

  const { id } = records.find(({ pod }) => pod === 'main-2')!
  const why = await gatewright(['why', id, ...at, 'main'])
  expect(why).toMatchObject({ code: 0, stderr: '' })
  expect(why.stdout).toMatch(/^pod infra\/main-2\nGET .*\/two\n/)
  expect(await gatewright(['why', id, ...at, 'main', '--pod', 'main-1'])).toMatchObject({ code: 1, stdout: '' })

  const top = await gatewright(['top', ...at, 'main', '--once', '--interval', '0.1', '-o', 'json'])
  expect(JSON.parse(top.stdout)).toMatchObject({ pods: ['main-1', 'main-2'] })
  expect(await gatewright(['mcp', 'sessions', ...at, 'main'])).toMatchObject({ code: 0, stdout: 'No sessions.\n' })

  const out = join(temporaryFolder(), 'cpu')
  const profile = await gatewright(['profile', 'cpu', ...at, 'main', '--seconds', '1', '--out', out])
  expect([profile.code, profile.stderr]).toEqual([0, ''])

  // A pod that ends is replaced by another one.
  api.put(PODS, podObject('main-3', READY))
  const third = await startPod(await freePort())
  api.portOf = (pod) => {
    if (pod === 'main-1') return { status: 404, message: 'pods "main-1" not found' }
    return Number(new URL((pod === 'main-3' ? third : pods['main-2']).url(15_000)).port)
  }
  await pods['main-1'].close()
  await eventually('the new pod is shown', () => output.stderr.includes('pod infra/main-3 is shown from now on'))
  expect(output.stderr).toContain('pod infra/main-1 has closed the stream; waiting until it responds again')
  child.kill()
  await once(child, 'close')

  const broken = await gatewright(['status', ...at, 'main'])
  expect(broken.code).toBe(1)
  expect(broken.stdout).toMatch(/^ main-1 ready pod infra\/main-1 cannot be asked: .* 404: pods "main-1" not found/m)
})

test('status without a Gateway shows all of the controller, and failures say what to do', async () => {
  await using stops = new AsyncDisposableStack()
  const { api, at } = await startCluster(stops)
  api.put(PODS, podObject('main-1', { ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } }))
  api.put(PODS, podObject('main-2', { ready: false, state: { running: {} } }, { deletionTimestamp: 'now' }))
  const message = 'pods "main-2" is forbidden: User "dev" cannot get resource "pods/portforward" in API group ""'
  api.portOf = () => ({ status: 403, message })
  const all = await gatewright(['status', ...at])
  expect(all.code).toBe(1)
  expect(all.stdout.split('\n')).toEqual([
    'infra/main: programmed',
    ' main-1 not ready (ImagePullBackOff)',
    expect.stringMatching(
      /^ main-2 not ready \(it ends\) pod infra\/main-2 cannot be asked: .* with status 403: .*pods\/portforward/,
    ),
    'infra/other: not programmed: no address',
    '',
  ])
  for (const [words, failure] of [
    [['why', 'x', ...at, 'mian'], 'there is no Gateway infra/mian; did you mean -n infra main?'],
    [['why', 'x', ...at, '-n', 'b', 'main'], 'there is no Gateway b/main; did you mean -n infra main?'],
    [['why', 'x', ...at, 'other'], 'Gateway infra/other has no pod: no address'],
    [['why', 'x', ...at, 'main', '--pod', 'main-9'], 'Gateway infra/main has no pod main-9; did you mean main-1?'],
    [
      ['profile', 'cpu', ...at, 'main'],
      'no pod of Gateway infra/main is ready (main-1: ImagePullBackOff; main-2: it ends)',
    ],
    [['status', '--kubeconfig', at[1]!, '--context', 'prod'], `${at[1]} has no context "prod"; it has dev`],
  ] as const) {
    expect(await gatewright(words)).toEqual({ code: 1, stdout: '', stderr: `gatewright: ${failure}\n` })
  }
  expect(await gatewright(['tail', ...at])).toMatchObject({
    code: 2,
    stderr: 'gatewright: name the Gateway, such as -n infra main\n',
  })
  expect(await gatewright(['status', '--pod', 'main-1', ...at])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--pod main-1 needs the name of its Gateway'),
  })
  expect(await gatewright(['tail', '--admin', 'http://127.0.0.1:1', 'main'])).toMatchObject({
    code: 2,
    stderr: 'gatewright: --admin is a gateway on this machine, and cannot be combined with Gateway main\n',
  })
})
