import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '#test/support/eventually.ts'
import { installedProgram } from '../../counterparts.ts'
import type { Part } from '../../run-parts.ts'
import { REPOSITORY, TAG } from '../image.ts'
import { CONTROLLER, installController } from '../installed-controller.ts'
import { kubectlIn, restrictedNamespace, runningCluster } from '../running-cluster.ts'

const SYSTEM = 'gatewright-outage'
const TEAM = 'gatewright-outage-team'
const SELECTOR = 'gateway.networking.k8s.io/gateway-name=main'
const PATIENCE_MS = 120_000

/** No controller runs: traffic goes on, the container of a proxy restarts and serves its kept plan, and a new controller brings what was changed. */
export const checkOutage: Part = async (transcript, stops) => {
  const curl = installedProgram('curl', 'curl')
  const cluster = runningCluster(stops)
  await installController(cluster, SYSTEM, stops)
  await restrictedNamespace(cluster, TEAM, stops)
  const [kubectl, controller] = [kubectlIn(cluster, TEAM), kubectlIn(cluster, SYSTEM)]
  const objects = readFileSync(join(import.meta.dirname, 'rollouts.yaml'), 'utf8')
  await kubectl(['create', '-f', '-'], PARAMETERS)
  await kubectl(['apply', '-f', '-'], objects.replace('IMAGE', `${REPOSITORY}:${TAG}`))
  await kubectl(['wait', '--for=condition=Programmed', 'gateway/main', '--timeout=90s'])
  const ofPod = (path: string) => kubectl(['get', 'pods', '-l', SELECTOR, '-o', `jsonpath={.items[0]${path}}`])
  const ask = async (url: string) => (await cluster.inside([curl, '-s', '-i', '--max-time', '10', url])).output
  const url = `http://${await kubectl(['get', 'gateway', 'main', '-o', 'jsonpath={.status.addresses[0].value}'])}/`
  const ready = `http://${await ofPod('.status.podIP')}:15021/readyz`
  const serves = async () => (await ask(url)).startsWith('HTTP/1.1 200') || undefined
  await eventually('the backend', serves, PATIENCE_MS)

  // The plan is kept within 5 seconds.
  const kept = ['exec', `pod/${await ofPod('.metadata.name')}`, '-c', 'proxy', '--', 'node', '-e']
  const isKept = `process.exitCode = fs.existsSync('.gatewright/plan') ? 0 : 1`
  await eventually('a kept plan', () => kubectl([...kept, isKept]).catch(() => undefined), PATIENCE_MS)
  await controller(['scale', `deployment/${CONTROLLER}`, '--replicas=0'])
  const ofController = ['-l', 'app.kubernetes.io/component=controller']
  await controller(['wait', '--for=delete', 'pod', ...ofController, '--timeout=90s'])
  transcript.check('traffic without a controller', await serves(), true)
  await eventually(
    'the note',
    async () => (await ask(ready)).includes('ready; the controller') || undefined,
    PATIENCE_MS,
  )

  await addHeader(kubectl)
  await kubectl([...kept, 'process.kill(1)'])
  await eventually('a restart', async () => (await ofPod(RESTARTS)) === '1' || undefined, PATIENCE_MS)
  await kubectl(['wait', '--for=condition=Ready', 'pod', '-l', SELECTOR, '--timeout=90s'])
  await eventually('traffic after the restart', serves, PATIENCE_MS)
  transcript.check('it serves the kept plan', (await ask(url)).includes('x-edit'), false)
  const log = await kubectl(['logs', '-l', SELECTOR, '-c', 'proxy'])
  transcript.check('the log says so', log.includes('serving the plan that was kept before the restart'), true)

  await controller(['scale', `deployment/${CONTROLLER}`, '--replicas=1'])
  await eventually('the edit', async () => (await ask(url)).includes('x-edit: new') || undefined, PATIENCE_MS)
  await eventually('the end of the note', async () => (await ask(ready)).match(/\nready\s*$/) ?? undefined, PATIENCE_MS)
  transcript.check('no further restart', await ofPod(RESTARTS), '1')
}

const PARAMETERS = JSON.stringify({
  apiVersion: 'gatewright.dev/v1alpha1',
  kind: 'ProxyParameters',
  metadata: { name: 'options' },
  spec: {},
})
const RESTARTS = '.status.containerStatuses[0].restartCount'

/** An edit that only a controller can deliver. */
async function addHeader(kubectl: ReturnType<typeof kubectlIn>): Promise<void> {
  const filter = { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'x-edit', value: 'new' }] } }
  const patch = [{ op: 'add', path: '/spec/rules/0/filters', value: [filter] }]
  await kubectl(['patch', 'httproute', 'main', '--type=json', '-p', JSON.stringify(patch)])
}
