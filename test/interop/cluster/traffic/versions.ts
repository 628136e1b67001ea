import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '#test/support/eventually.ts'
import { installedProgram } from '../../counterparts.ts'
import type { Part } from '../../run-parts.ts'
import { CHARTS } from '../charts.ts'
import { importNextImage, NEXT, NEXT_VERSION, REPOSITORY, TAG } from '../image.ts'
import { CONTROLLER, installController } from '../installed-controller.ts'
import { parameters } from '../refusals/team.ts'
import { kubectlIn, restrictedNamespace, runningCluster } from '../running-cluster.ts'
import { startLoad } from './wrk-load.ts'

const SYSTEM = 'gatewright-versions'
const TEAM = 'gatewright-versions-team'
const PATIENCE_MS = 120_000

/** Tags of controller and proxies, one after the other: an upgrade of the controller first, and back in the other order. */
const STEPS: readonly (readonly [what: string, controller: string, proxies: string])[] = [
  ['a new controller with old proxies', NEXT, TAG],
  ['new proxies', NEXT, NEXT],
  ['an old controller with new proxies', TAG, NEXT],
  ['old proxies', TAG, TAG],
]

/** Controller and proxies of two versions, in all combinations, while requests arrive: none fails, and each edit comes into force. */
export const checkVersions: Part = async (transcript, stops) => {
  const curl = installedProgram('curl', 'curl')
  const cluster = runningCluster(stops)
  await importNextImage(cluster)
  await installController(cluster, SYSTEM, stops)
  await restrictedNamespace(cluster, TEAM, stops)
  const [kubectl, controller] = [kubectlIn(cluster, TEAM), kubectlIn(cluster, SYSTEM)]
  await kubectl(['apply', '-f', '-'], JSON.stringify(parameters('options', {})))
  const objects = readFileSync(join(import.meta.dirname, 'rollouts.yaml'), 'utf8')
  await kubectl(['apply', '-f', '-'], objects.replace('IMAGE', `${REPOSITORY}:${TAG}`))
  await kubectl(['wait', '--for=condition=Programmed', 'gateway/main', '--timeout=90s'])
  await kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
  const url = `http://${await kubectl(['get', 'gateway', 'main', '-o', 'jsonpath={.status.addresses[0].value}'])}/`
  const ask = async () => (await cluster.inside([curl, '-s', '-i', '--max-time', '10', url])).output
  await eventually('the backend', async () => (await ask()).startsWith('HTTP/1.1 200'), PATIENCE_MS)

  for (const [step, [what, controllerTag, proxyTag]] of STEPS.entries()) {
    const load = startLoad(cluster, url)
    const tags = `image.tag=${controllerTag},proxyImage.tag=${proxyTag}`
    const words = ['upgrade', 'gatewright', join(CHARTS, 'gatewright'), '-n', SYSTEM, '--reuse-values', '--set', tags]
    const { code, output } = await cluster.helm([...words, '--wait', '--timeout', '2m'])
    transcript.check(`${what}: helm upgrade`, code === 0 ? '' : output, '')
    const image = 'jsonpath={.spec.template.spec.containers[0].image}'
    await kubectl(['wait', `--for=${image}=${REPOSITORY}:${proxyTag}`, 'deployment/main', '--timeout=120s'])
    await kubectl(['rollout', 'status', 'deployment/main', '--timeout=120s'])
    const value = `step-${step}`
    const set = [{ name: 'x-edit', value }]
    const filters = [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set } }]
    const patch = [{ op: 'add', path: '/spec/rules/0/filters', value: filters }]
    await kubectl(['patch', 'httproute', 'main', '--type=json', '-p', JSON.stringify(patch)])
    await eventually('the edit', async () => (await ask()).includes(`x-edit: ${value}`), PATIENCE_MS)
    const { requests, failures } = await load.end()
    transcript.check(`${what}: no request of ${requests} fails`, [requests > 0, failures], [true, []])
    const leader = (await controller(['get', 'lease', CONTROLLER, '-o', 'jsonpath={.spec.holderIdentity}'])).split(
      '_',
    )[0]!
    const status = await controller(['exec', leader, '--', 'gatewright', 'status', '--admin', 'http://127.0.0.1:9095'])
    const isNamed = status.includes(`version ${NEXT_VERSION}`)
    transcript.check(`${what}: the status names the new version`, isNamed, controllerTag === NEXT || proxyTag === NEXT)
  }
}
