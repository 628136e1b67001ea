import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { connectApi } from './api.ts'

/**
 * The part of `metrics.k8s.io` that a HorizontalPodAutoscaler asks: the CPU and memory of pods, from the kubelets.
 *
 *     node metrics.ts SERVER CERTIFICATES PORT
 */

interface Pod {
  readonly metadata: { readonly name: string; readonly labels?: object }
  readonly spec: { readonly containers: readonly { readonly name: string }[] }
}

interface Usage {
  readonly cpu: string
  readonly memory: string
}

const INTERVAL_MS = 3000
const GROUP_VERSION = 'metrics.k8s.io/v1beta1'
const SAMPLE =
  /^container_(cpu_usage_seconds_total|memory_working_set_bytes)\{container="([^"]+)",namespace="([^"]+)",pod="([^"]+)"\} (\S+) (\d+)/gm
const PODS = /^\/apis\/metrics\.k8s\.io\/v1beta1\/namespaces\/([^/]+)\/pods$/
const RESOURCES = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: GROUP_VERSION,
  resources: [{ name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] }],
}

const [server, certificates, port] = process.argv.slice(2)
const api = connectApi(server!, certificates!)
/** By namespace, pod and container: seconds of CPU, and when (ms) they were measured. */
const cpu = new Map<string, readonly [seconds: number, atMs: number]>()
const usage = new Map<string, Usage>()

async function scrape(): Promise<void> {
  const memory = new Map<string, number>()
  const measured = new Map<string, readonly [number, number]>()
  for (const { metadata } of await api.list<Pod>('/api/v1/nodes')) {
    const text = await api.get(`/api/v1/nodes/${metadata.name}/proxy/metrics/resource`)
    for (const [, what, container, namespace, pod, value, atMs] of text.matchAll(SAMPLE)) {
      const id = `${namespace}/${pod}/${container}`
      if (what!.startsWith('cpu')) measured.set(id, [Number(value), Number(atMs)])
      else memory.set(id, Number(value))
    }
  }
  for (const id of cpu.keys()) if (!measured.has(id)) forget(id)
  for (const [id, [seconds, atMs]] of measured) {
    const last = cpu.get(id)
    if (last !== undefined && atMs <= last[1]) continue
    cpu.set(id, [seconds, atMs])
    if (last === undefined) continue
    const nanocores = Math.round(((seconds - last[0]) / (atMs - last[1])) * 1e12)
    usage.set(id, { cpu: `${nanocores}n`, memory: `${Math.round((memory.get(id) ?? 0) / 1024)}Ki` })
  }
}

function forget(id: string): void {
  cpu.delete(id)
  usage.delete(id)
}

async function podMetrics(namespace: string, selector: string): Promise<object> {
  const pods = await api.list<Pod>(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`)
  const timestamp = new Date().toISOString()
  const items = pods.map(({ metadata: { name, labels }, spec }) => ({
    metadata: { name, namespace, labels, creationTimestamp: timestamp },
    timestamp,
    window: '15s',
    containers: spec.containers.flatMap((container) => {
      const used = usage.get(`${namespace}/${name}/${container.name}`)
      return used === undefined ? [] : [{ name: container.name, usage: used }]
    }),
  }))
  return {
    kind: 'PodMetricsList',
    apiVersion: GROUP_VERSION,
    metadata: {},
    items: items.filter(({ containers }) => containers.length > 0),
  }
}

const answer: RequestListener = async (request, response) => {
  const url = new URL(request.url!, 'https://metrics')
  const namespace = PODS.exec(url.pathname)?.[1]
  response.setHeader('content-type', 'application/json')
  try {
    const selector = url.searchParams.get('labelSelector') ?? ''
    const body = namespace === undefined ? RESOURCES : await podMetrics(namespace, selector)
    response.end(JSON.stringify(body))
  } catch (error) {
    response.writeHead(503).end(JSON.stringify({ kind: 'Status', message: String(error) }))
  }
}

setInterval(() => scrape().catch((error: unknown) => console.error(String(error))), INTERVAL_MS)
const read = (name: string) => readFileSync(join(certificates!, name))
createServer({ cert: read('apiserver.crt'), key: read('apiserver.key') }, answer).listen(Number(port))
