import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Resource, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceWrite } from '#store/resources/resource-table.ts'
import { startGateway } from './gateway.ts'
import { now } from './gateway-clock.ts'
import { routeObject, scaleOf, writeObjects } from './objects.ts'
import { startClient } from './start-client.ts'

/** Deletions of thousands of objects through the API, as JSON on standard output. */
export type DeletesMeasured = readonly DeleteMeasured[]

export interface DeleteMeasured {
  readonly name: string
  readonly objects: number
  /** From the request until the last object is gone. */
  readonly ms: number
  /** Most processor time, and most time, that the main thread worked without answering others. */
  readonly stretchCpuMs: number
  readonly stretchMs: number
}

const OBJECTS = 10_000
const DEPENDENTS = 5000
const NAMESPACE = 'many'
/** Objects of one commit while the table is filled. */
const FILLED_AT_ONCE = 1000

const folder = mkdtempSync(join(tmpdir(), 'bench-deletes-'))
const state = mkdtempSync(join(tmpdir(), 'bench-deletes-state-'))
writeObjects(folder, scaleOf(1000))
const { instance, table, kubeconfig } = await startGateway(folder, state)

function write(collection: string, namespace: string, object: object & { readonly metadata: object }): ResourceWrite {
  const { name } = object.metadata as { readonly name: string }
  const uid = `${collection}-${name}`
  const metadata = { ...object.metadata, uid, resourceVersion: '', creationTimestamp: '2026-01-01T00:00:00Z' }
  const key: ResourceKey = { collection, namespace, name }
  return { key, object: { ...object, metadata: namespace === '' ? metadata : { ...metadata, namespace } } as Resource }
}

function configMap(namespace: string, name: string, ownerReferences?: readonly object[]): ResourceWrite {
  const metadata = ownerReferences === undefined ? { name } : { name, ownerReferences }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(500) } }
  return write('configmaps', namespace, object)
}

function fill(count: number, make: (at: number) => ResourceWrite): void {
  for (let at = 0; at < count; at += FILLED_AT_ONCE) {
    table.commit(Array.from({ length: Math.min(FILLED_AT_ONCE, count - at) }, (_, i) => make(at + i)))
  }
}

/** The time of the thread is read at each turn of its event loop. */
function watchStretches(): { stop(): Pick<DeleteMeasured, 'stretchCpuMs' | 'stretchMs'> } {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let stretchCpuMs = 0
  let stretchMs = 0
  let last = { cpu: cpuMs(), at: now() }
  const look = () => {
    const next = { cpu: cpuMs(), at: now() }
    stretchCpuMs = Math.max(stretchCpuMs, next.cpu - last.cpu)
    stretchMs = Math.max(stretchMs, next.at - last.at)
    last = next
  }
  const timer = setInterval(look, 1)
  return {
    stop() {
      look()
      clearInterval(timer)
      return { stretchCpuMs, stretchMs }
    },
  }
}

async function measure(name: string, objects: number, path: string, isGone: () => boolean): Promise<DeleteMeasured> {
  // What filling the table caused is over.
  await new Promise((resolve) => setTimeout(resolve, 1000))
  // The server closes connections that are idle while the table is filled.
  using client = startClient(kubeconfig)
  const stretches = watchStretches()
  const start = now()
  await client.ask({ method: 'DELETE', path })
  while (!isGone()) await new Promise((resolve) => setTimeout(resolve, 1))
  const ms = now() - start
  return { name, objects, ms, ...stretches.stop() }
}

async function measureAll(): Promise<DeletesMeasured> {
  const configMaps = (namespace: string) => table.list('configmaps', namespace).length
  const namespaceObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
  table.commit([write('namespaces', '', namespaceObject)])
  fill(OBJECTS * 0.9, (at) => configMap(NAMESPACE, `object-${at}`))
  fill(OBJECTS * 0.1, (at) => write('httproutes.gateway.networking.k8s.io', NAMESPACE, routeObject(at, 0)))
  const key: ResourceKey = { collection: 'namespaces', namespace: '', name: NAMESPACE }
  const isGone = () => table.get(key) === undefined
  const namespace = await measure('a Namespace', OBJECTS, `/api/v1/namespaces/${NAMESPACE}`, isGone)
  fill(OBJECTS, (at) => configMap('default', `object-${at}`))
  const path = '/api/v1/namespaces/default/configmaps'
  const collection = await measure('a collection', OBJECTS, path, () => configMaps('default') === 0)
  const owner = configMap('default', 'owner')
  const { uid } = owner.object!.metadata
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }
  table.commit([owner])
  fill(DEPENDENTS, (at) => configMap('default', `dependent-${at}`, [reference]))
  const dependents = await measure('an owner', DEPENDENTS, `${path}/owner`, () => configMaps('default') === 0)
  return [namespace, collection, dependents]
}

try {
  console.log(JSON.stringify(await measureAll()))
  await instance.close({ minMs: 0, maxMs: 0 })
} finally {
  for (const path of [folder, state]) rmSync(path, { recursive: true, force: true })
}
process.exit(0)
