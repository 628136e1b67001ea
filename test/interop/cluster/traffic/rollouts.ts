import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '#test/support/eventually.ts'
import { installedProgram } from '../../counterparts.ts'
import type { Part } from '../../run-parts.ts'
import type { Transcript } from '../../transcript.ts'
import { REPOSITORY, TAG } from '../image.ts'
import { CONTROLLER, installController } from '../installed-controller.ts'
import { kubectlIn, type RunningCluster, restrictedNamespace, runningCluster } from '../running-cluster.ts'
import { type LoadOptions, startLoad } from './wrk-load.ts'

const SYSTEM = 'gatewright-rollouts'
const TEAM = 'gatewright-rollouts-team'
const SELECTOR = 'gateway.networking.k8s.io/gateway-name=main'
const PATIENCE_MS = 90_000
const LONGEST_SHUTDOWN_S = 60
const LEAST_SHUTDOWN_S = 10
/** Longer than the proxy accepts connections after it was asked to stop. */
const SLOW_MS = 13_000

interface Team {
  readonly cluster: RunningCluster
  readonly kubectl: ReturnType<typeof kubectlIn>
  readonly transcript: Transcript
  /** Of the LoadBalancer. */
  readonly url: string
  /** The status, headers and body of a response. */
  ask(url: string): Promise<string>
}

/** Proxies and the controller are replaced, evicted and scaled while requests arrive, and none of them fails. */
export const checkRollouts: Part = async (transcript, stops) => {
  const curl = installedProgram('curl', 'curl')
  const cluster = runningCluster(stops)
  await installController(cluster, SYSTEM, stops)
  await restrictedNamespace(cluster, TEAM, stops)
  const kubectl = kubectlIn(cluster, TEAM)
  await setParameters(kubectl, 1, {})
  const objects = readFileSync(join(import.meta.dirname, 'rollouts.yaml'), 'utf8')
  await kubectl(['apply', '-f', '-'], objects.replace('IMAGE', `${REPOSITORY}:${TAG}`))
  await kubectl(['wait', '--for=condition=Programmed', 'gateway/main', '--timeout=90s'])
  await untilRolledOut(kubectl, 1)
  const address = await kubectl(['get', 'gateway', 'main', '-o', 'jsonpath={.status.addresses[0].value}'])
  const ask = async (url: string) => (await cluster.inside([curl, '-s', '-i', '--max-time', '30', url])).output
  const team: Team = { cluster, kubectl, transcript, url: `http://${address}/`, ask }
  await eventually('the backend', async () => (await ask(team.url)).startsWith('HTTP/1.1 200'), PATIENCE_MS)

  await underLoad(team, 'one proxy is replaced', async () => {
    await setParameters(kubectl, 2, {})
    await untilRolledOut(kubectl, 2)
  })
  await setParameters(kubectl, 3, TWO)
  await untilRolledOut(kubectl, 3)
  await underLoad(team, 'two proxies are replaced', async () => {
    await setParameters(kubectl, 4, { ...TWO, image: { pullPolicy: 'Never' } })
    await untilRolledOut(kubectl, 4)
  })
  await underLoad(team, 'the controller is replaced', () => replaceController(team))
  await underLoad(team, 'a proxy is evicted', () => checkEviction(team))
  await checkScaling(team)
}

const TWO = { deployment: { spec: { replicas: 2 } }, podDisruptionBudget: {} }

/** @param round shows in the Deployment when they are in force */
async function setParameters(kubectl: Team['kubectl'], round: number, spec: object): Promise<void> {
  const env = [{ name: 'ROUND', value: `${round}` }]
  const metadata = { name: 'options' }
  const options = { apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyParameters', metadata, spec: { ...spec, env } }
  await kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(options))
}

/** Until all proxies have the parameters of a round, and the others have ended. */
async function untilRolledOut(kubectl: Team['kubectl'], round: number): Promise<void> {
  const value = '{.spec.template.spec.containers[0].env[?(@.name=="ROUND")].value}'
  await kubectl(['wait', `--for=jsonpath=${value}=${round}`, 'deployment/main', '--timeout=30s'])
  await kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
  await untilPods(kubectl, Number(await kubectl(['get', 'deployment', 'main', '-o', 'jsonpath={.spec.replicas}'])))
}

/** Until there are so many proxies, those included that are ending. */
async function untilPods(kubectl: Team['kubectl'], count: number): Promise<void> {
  const names = async () => (await kubectl(['get', 'pods', '-l', SELECTOR, '-o', 'name'])).split('\n')
  await eventually(`${count} proxies`, async () => (await names()).length === count, PATIENCE_MS)
}

/** Sends requests over kept connections, and with a connection for each, while something happens. */
async function underLoad(team: Team, what: string, work: () => Promise<void>, more: readonly LoadOptions[] = []) {
  const { cluster, transcript, url } = team
  const loads = [{}, { isClosing: true }, ...more].map((options) => startLoad(cluster, url, options))
  try {
    await work()
  } finally {
    for (const { requests, failures } of await Promise.all(loads.map((load) => load.end()))) {
      transcript.check(`${what}: no request of ${requests} fails`, [requests > 0, failures], [true, []])
    }
  }
}

/** Proxies serve on without a controller, and get edits from the new one. */
async function replaceController({ cluster, kubectl, url, ask }: Team): Promise<void> {
  const controller = kubectlIn(cluster, SYSTEM)
  await controller(['rollout', 'restart', `deployment/${CONTROLLER}`])
  await controller(['rollout', 'status', `deployment/${CONTROLLER}`, '--timeout=90s'])
  const filter = { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'x-edit', value: 'new' }] } }
  const patch = [{ op: 'add', path: '/spec/rules/0/filters', value: [filter] }]
  await kubectl(['patch', 'httproute', 'main', '--type=json', '-p', JSON.stringify(patch)])
  await eventually('the edit', async () => (await ask(url)).includes('x-edit: new'), PATIENCE_MS)
}

/** The budget allows one eviction. The evicted proxy leaves the endpoints, serves on, finishes its requests, and ends in time. */
async function checkEviction({ kubectl, transcript, ask }: Team): Promise<void> {
  const pods = (await kubectl(['get', 'pods', '-l', SELECTOR, '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ')
  const [pod, other] = pods as [string, string]
  const ip = await kubectl(['get', 'pod', pod, '-o', 'jsonpath={.status.podIP}'])
  const setFinalizers = (finalizers: readonly string[] | null) =>
    kubectl(['patch', 'pod', pod, '--type=merge', '-p', JSON.stringify({ metadata: { finalizers } })])
  await kubectl(['wait', '--for=jsonpath={.status.disruptionsAllowed}=1', 'pdb/main', '--timeout=30s'])
  // With it, the object stays when the pod has ended, and tells how.
  await setFinalizers(['gatewright.dev/interop'])
  try {
    const slow = ask(`http://${ip}/?delay=${SLOW_MS}`)
    await evict(kubectl, pod)
    const refusal = await evict(kubectl, other).catch((error: Error) => error.message)
    transcript.check(
      'the budget refuses a second eviction',
      refusal.includes("violate the pod's disruption budget"),
      true,
    )
    await untilNotReady(kubectl, pod)
    await eventually('a response that ends its connection', async () => {
      const response = await ask(`http://${ip}/`)
      if (!response.startsWith('HTTP/1.1 200')) throw new Error(`a proxy that is stopping answered ${response}`)
      return /^connection: close/im.test(response)
    })
    transcript.check('a request in flight is finished', (await slow).split('\r\n')[0], 'HTTP/1.1 200 OK')
    const end = '{.status.containerStatuses[0].state.terminated'
    await kubectl(['wait', `--for=jsonpath=${end}.exitCode}=0`, `pod/${pod}`, '--timeout=60s'])
    const times = await kubectl(['get', 'pod', pod, '-o', `jsonpath={.metadata.deletionTimestamp} ${end}.finishedAt}`])
    const [deadline, finished] = times.split(' ').map((time) => Date.parse(time) / 1000) as [number, number]
    const seconds = finished - (deadline - LONGEST_SHUTDOWN_S)
    // The platform kills what runs longer than the longest time, which is not code 0.
    transcript.check('it ends after the least time', seconds >= LEAST_SHUTDOWN_S ? 'after it' : seconds, 'after it')
  } finally {
    await setFinalizers(null)
  }
  await kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
}

function evict(kubectl: Team['kubectl'], name: string): Promise<string> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: TEAM } }
  const path = `/api/v1/namespaces/${TEAM}/pods/${name}/eviction`
  return kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction))
}

async function untilNotReady(kubectl: Team['kubectl'], pod: string): Promise<void> {
  const ready = `jsonpath={.items[*].endpoints[?(@.targetRef.name=="${pod}")].conditions.ready}`
  const look = () => kubectl(['get', 'endpointslices', '-l', SELECTOR, '-o', ready])
  await eventually('the proxy leaves the endpoints', async () => (await look()) !== 'true', PATIENCE_MS)
}

/** An autoscaler takes over the replicas, removes a proxy without much load, and adds one with more. */
async function checkScaling(team: Team): Promise<void> {
  const { kubectl, transcript } = team
  const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 100 } }
  const spec = { minReplicas: 1, maxReplicas: 3, metrics: [{ type: 'Resource', resource: cpu }] }
  const replicas = () => kubectl(['get', 'deployment', 'main', '-o', 'jsonpath={.spec.replicas}'])
  await underLoad(team, 'a proxy is removed', async () => {
    await setParameters(kubectl, 4, { image: { pullPolicy: 'Never' }, horizontalPodAutoscaler: { spec } })
    await kubectl(['wait', '--for=create', 'hpa/main', '--timeout=30s'])
    transcript.check('the autoscaler takes over two replicas', await replicas(), '2')
    await kubectl(['wait', '--for=jsonpath={.spec.replicas}=1', 'deployment/main', '--timeout=90s'])
    await untilPods(kubectl, 1)
  })
  const grow = async () => {
    const ready = ['get', 'deployment', 'main', '-o', 'jsonpath={.status.readyReplicas}']
    await eventually('a second proxy', async () => Number(await kubectl(ready)) > 1, PATIENCE_MS)
  }
  await underLoad(team, 'a proxy is added', grow, [{ weight: 'heavy' }])
}
