import { attempt, type ClusterReader, listIn } from '../examine/cluster-reader.ts'
import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import { redactObject } from './redact-object.ts'
import type { SupportFiles } from './support-files.ts'

const MAX_LOG_BYTES = 8 * 1024 * 1024

/** Pods of controllers or of proxies. */
export interface PodSelection {
  readonly role: 'controllers' | 'proxies'
  /** None: all. */
  readonly namespaces: readonly string[]
  readonly labels: string
  readonly metricsPort: number
}

/** The kinds of objects that run pods. */
const KINDS = [
  ['Deployment', '/apis/apps/v1', 'deployments'],
  ['ReplicaSet', '/apis/apps/v1', 'replicasets'],
  ['Pod', '/api/v1', 'pods'],
] as const

/** Adds the objects of pods with certain labels, the last lines of their logs, and their metrics. @returns their keys, as events name them */
export async function collectPods(
  reader: ClusterReader,
  files: SupportFiles,
  { role, namespaces, labels, metricsPort }: PodSelection,
  logLines: number,
): Promise<readonly string[]> {
  const lists = KINDS.map(async ([kind, root, plural]) => {
    const reading = await listIn(reader, namespaces, (namespace) => {
      const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
      return `${root}${scope}/${plural}?labelSelector=${encodeURIComponent(labels)}`
    })
    if ('why' in reading) files.miss(`${plural} of ${role}`, reading.why)
    return 'why' in reading ? [] : (reading.value ?? []).map((object): Members => ({ ...object, kind }))
  })
  const objects = (await Promise.all(lists)).flat()
  for (const [namespace, each] of Map.groupBy(objects, (object) => nameOf(object).namespace))
    files.addYaml(`objects/namespaces/${namespace}/${role}.yaml`, each.map(redactObject))
  const pods = objects.filter(({ kind }) => kind === 'Pod')
  const reads = pods.flatMap((pod) => [
    collectLogs(reader, files, pod, logLines),
    collectMetrics(reader, files, pod, metricsPort),
  ])
  await Promise.all(reads)
  return objects.map((object) => `${object.kind}/${nameOf(object).namespace}/${nameOf(object).name}`)
}

async function collectLogs(reader: ClusterReader, files: SupportFiles, pod: Members, lines: number): Promise<void> {
  const { namespace, name, path } = nameOf(pod)
  const statuses = itemsOf(membersOf(pod.status).containerStatuses).map(membersOf)
  for (const container of itemsOf(membersOf(pod.spec).containers).map(membersOf)) {
    const title = textOf(container.name) ?? ''
    const hasRestarted = Number(statuses.find((status) => status.name === title)?.restartCount ?? 0) > 0
    for (const previous of hasRestarted ? [false, true] : [false]) {
      const query = `container=${encodeURIComponent(title)}&tailLines=${lines}&limitBytes=${MAX_LOG_BYTES}&previous=${previous}`
      const file = `logs/${namespace}/${name}/${title}${previous ? '.previous' : ''}.log`
      await addDocument(reader, files, { path: `${path}/log?${query}`, file })
    }
  }
}

async function collectMetrics(reader: ClusterReader, files: SupportFiles, pod: Members, port: number): Promise<void> {
  const { namespace, name, path } = nameOf(pod)
  if (membersOf(pod.status).phase !== 'Running') return
  await addDocument(reader, files, { path: `${path}:${port}/proxy/metrics`, file: `metrics/${namespace}/${name}.txt` })
}

/** Adds a text of the API. */
async function addDocument(
  reader: ClusterReader,
  files: SupportFiles,
  { path, file }: { readonly path: string; readonly file: string },
): Promise<void> {
  const reading = await attempt(() => reader.client.read(path, { accept: '*/*' }))
  if ('why' in reading) files.miss(file, reading.why)
  else if (reading.value.status !== 200) files.miss(file, `status ${reading.value.status}`)
  else files.add(file, reading.value.text)
}

function nameOf({ metadata }: Members): { readonly namespace: string; readonly name: string; readonly path: string } {
  const [namespace = '', name = ''] = [textOf(membersOf(metadata).namespace), textOf(membersOf(metadata).name)]
  return {
    namespace,
    name,
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`,
  }
}
