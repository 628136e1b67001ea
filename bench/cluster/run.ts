import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAccess } from '#cluster/api-access.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { readKubeconfig } from '#cluster/kubeconfig.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { installGatewayApi } from '../../test/interop/cluster/gateway-api.ts'
import { kubectlIn, runningCluster } from '../../test/interop/cluster/running-cluster.ts'
import { peakMemoryMb } from '../config/peak-memory.ts'
import { processCpuMs, residentMb } from '../process-cost.ts'
import { scratchFolder } from '../scratch-folder.ts'
import { CLASS, CONTROLLER, GATEWAY, load, NAMESPACE, type Placed, route, routeName, surroundings } from './objects.ts'
import { metric, type Started, start } from './processes.ts'
import { Traffic } from './traffic.ts'

/**
 * From an edit in a real Kubernetes API server to the first answer that shows it: the controller and one proxy are processes of this machine
 * (bench/README.md).
 *
 *     npm run bench -- cluster [ROUTES] [EDITS]
 */

const [ROUTES = 5000, EDITS = 50] = process.argv.slice(2).map(Number)
/** Of the median, for 5,000 routes. */
const BAR_MS = 100
const ROOT = join(import.meta.dirname, '..', '..')
const PARALLEL = 16
const PATIENCE_MS = 600_000
const AUDIENCE = 'gatewright-controller'
/** The runtime takes half of the memory limit for the heap; the chart's limit is 1 GiB. */
const HEAP_MB = 512
/** Between two looks at its metrics. */
const SCRAPE_MS = 1000
/** Between two edits, so that the effects of one are over. */
const PAUSE_MS = 200

await import('../../build/run.mjs')
await using stops = new AsyncDisposableStack()
const scratch = scratchFolder()
const cluster = runningCluster(stops)
const kubectl = kubectlIn(cluster, NAMESPACE)
await installGatewayApi(cluster)
await kubectl(['apply', '--server-side', '-f', join(ROOT, 'install', 'crds')])
using client = new ApiClient(await openAccess(readKubeconfig(cluster.kubeconfig)))

const apply = ({ list, object }: Placed) =>
  client.apply(`${list}/${(object.metadata as { name: string }).name}`, object, { manager: 'bench' })

async function applyAll(objects: readonly Placed[]): Promise<void> {
  const waiting = objects.values()
  const next = async () => {
    for (const object of waiting) await apply(object)
  }
  await Promise.all(Array.from({ length: PARALLEL }, next))
}

const [port, delivery, readiness, metrics, proxyReadiness, proxyMetrics] = await Promise.all(
  Array.from({ length: 6 }, freePort),
)
for (const object of surroundings(port!)) await apply(object)
stops.defer(async () => void (await kubectl(['delete', 'namespace', NAMESPACE, '--wait=false'])))
console.error(`applying ${ROUTES} routes`)
await applyAll(load(ROUTES))

function startController(): Started {
  const local = (address: number) => `127.0.0.1:${address}`
  return start(scratch, 'controller', ['controller', '--kubeconfig', cluster.kubeconfig, '--bind', '127.0.0.1'], {
    GATEWRIGHT_CONTROLLER_NAME: CONTROLLER,
    GATEWRIGHT_CLASS_NAME: CLASS,
    GATEWRIGHT_CONTROLLER_HOSTS: '127.0.0.1',
    GATEWRIGHT_DELIVERY_ADDR: local(delivery!),
    GATEWRIGHT_READINESS_ADDR: local(readiness!),
    GATEWRIGHT_STATS_ADDR: local(metrics!),
    GATEWRIGHT_ADMIN_ADDR: '127.0.0.1:0',
    POD_NAMESPACE: NAMESPACE,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  })
}

const isReady = async (at: number) => {
  const response = await fetch(`http://127.0.0.1:${at}/readyz`)
  await response.text()
  return response.ok || undefined
}
const startMs = performance.now()
const controller = startController()
stops.defer(() => controller.end())
await eventually('a ready controller', () => isReady(readiness!), PATIENCE_MS)
const readyMs = performance.now() - startMs
const readyCpuMs = processCpuMs(controller.pid)
const numbers = async (at = metrics) => (await fetch(`http://127.0.0.1:${at}/metrics`)).text()

// The proxy.
const files = { ca: join(scratch, 'ca.crt'), token: join(scratch, 'token') }
const authority = await kubectl(['get', 'secret', 'gatewright-controller-authority', '-o', 'jsonpath={.data.ca\\.crt}'])
writeFileSync(files.ca, Buffer.from(authority, 'base64'))
const token = ['create', 'token', GATEWAY, '--audience', AUDIENCE, '--duration', '1h']
writeFileSync(files.token, await eventually('an account of the proxy', () => kubectl(token), PATIENCE_MS))
const words = ['--controller', `https://127.0.0.1:${delivery}`, '--controller-ca', files.ca]
const proxyWords = ['proxy', ...words, '--controller-token', files.token, '--bind', '127.0.0.1', '--workers', '1']
const proxy = start(scratch, 'proxy', proxyWords, {
  GATEWRIGHT_READINESS_ADDR: `127.0.0.1:${proxyReadiness}`,
  GATEWRIGHT_STATS_ADDR: `127.0.0.1:${proxyMetrics}`,
  GATEWRIGHT_ADMIN_ADDR: '127.0.0.1:0',
})
stops.defer(() => proxy.end())
await eventually('a ready proxy', () => isReady(proxyReadiness!), PATIENCE_MS)
const written = await eventually(
  'written statuses',
  async () => {
    // The controller sums up all its findings for each answer.
    await sleep(SCRAPE_MS)
    const text = await numbers()
    return metric(text, 'gatewright_write_queue_length{queue="statuses"}') === 0 ? text : undefined
  },
  PATIENCE_MS,
)
const statusesMs = performance.now() - startMs
const statusesCpuMs = processCpuMs(controller.pid)
const startMb = residentMb(controller.pid)

using traffic = new Traffic(port!)
const cpuOfBoth = () => [controller, proxy].map(({ pid }) => processCpuMs(pid))
const cpuBefore = cpuOfBoth()
const fromEdit: number[] = []
const fromAnswer: number[] = []
for (let edit = 1; edit <= EDITS; edit++) {
  await sleep(PAUSE_MS)
  const at = Math.floor((edit * ROUTES) / (EDITS + 1))
  const seen = traffic.firstAnswer(`/${routeName(at)}/now`, `/${edit}`)
  const sentMs = performance.now()
  await apply(route(at, edit))
  const appliedMs = performance.now()
  const seenMs = await seen
  fromEdit.push(seenMs - sentMs)
  fromAnswer.push(Math.max(0, seenMs - appliedMs))
}

const [controllerMs, proxyMs] = cpuOfBoth().map((ms, i) => ((ms - cpuBefore[i]!) / EDITS).toFixed(0))

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!
const row = (values: readonly number[]) => [0.5, 0.99].map((share) => `${quantile(values, share).toFixed(0)} ms`)
const count = (verb: string, resource = '') =>
  [...written.matchAll(new RegExp(`api_requests_total\\{verb="${verb}".*${resource}".*\\} (\\d+)`, 'g'))].reduce(
    (sum, [, number]) => sum + Number(number),
    0,
  )
console.log(`${ROUTES} routes, ${EDITS} edits                  median       p99`)
for (const [name, values] of [
  ['from the edit to the first answer', fromEdit],
  ['of that after the API server has answered', fromAnswer],
] as const)
  console.log(
    `${name.padEnd(42)}${row(values)
      .map((cell) => cell.padStart(10))
      .join('')}`,
  )
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
console.log(
  `start until ready ${seconds(readyMs)} (${seconds(readyCpuMs)} of processor time), until all statuses are written ${seconds(statusesMs)} (${seconds(statusesCpuMs)})`,
)
console.log(
  `requests until then: ${['get', 'list', 'update', 'patch', 'create'].map((verb) => `${verb} ${count(verb)}`).join(', ')}; ${count('update', '/status')} writes of statuses`,
)
console.log(
  `memory of the controller, with a heap of at most ${HEAP_MB} MB: ${startMb.toFixed(0)} MB then, ${residentMb(controller.pid).toFixed(0)} MB after the edits, at most ${peakMemoryMb(controller.pid).toFixed(0)} MB`,
)
console.log(
  `processor time of an edit, idle work included: controller ${controllerMs} ms, proxy with its requests ${proxyMs} ms`,
)
const isMissed = ROUTES <= 5000 && quantile(fromEdit, 0.5) > BAR_MS
if (isMissed) console.log(`  the median is above its bar of ${BAR_MS} ms`)
process.exitCode = isMissed ? 1 : 0
