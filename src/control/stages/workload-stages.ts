import { keyOf } from '#api/object.ts'
import type { PodObject } from '#api/pod.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import type { MeshPod, PolicyItem, WorkloadItem } from '#plan/item.ts'
import type { Tables } from './tables.ts'

/**
 * Matches text that may read `source.unverifiedWorkload`: its name, `variables()`, or `source` as a whole. A match in text that is not an
 * expression only adds unused items.
 */
const READS_WORKLOAD = /unverifiedWorkload|\bvariables\b|\bsource\b(?!\s*[.?])/

export function readsWorkload({ spec }: PolicyItem): boolean {
  return READS_WORKLOAD.test(JSON.stringify(spec))
}

/** Indexes pods by address. */
export function podStage({ objects, pods }: Tables): StageDefinition<PodObject> {
  return {
    name: 'pods',
    each: [objects.Pod],
    writes: [pods],
    run([pod], work) {
      if (!hasOwnAddress(pod!)) return
      for (const address of addressesOf(pod!)) work.write(pods, address, pod!)
    },
  }
}

/** Finds the pods of the mesh by address, if a Gateway has `mesh`. Each address belongs to the newest pod that has it. */
export function meshPodStage({ pods, meshed, meshPods }: Tables): StageDefinition<PodObject> {
  return {
    name: 'meshPods',
    each: [pods],
    writes: [meshPods],
    run(podsAt, work, address) {
      if (work.read(meshed, 'any').length === 0) return
      const pod = podsAt.at(-1)!
      if (acceptsTunnels(pod)) work.write(meshPods, address, meshPod(pod))
    },
  }
}

/** Writes one row if any policy may read the workload of a client. */
export function workloadReaderStage({ workloadReaders, readsWorkloads }: Tables): StageDefinition<true> {
  return {
    name: 'workloadReaders',
    each: [workloadReaders],
    writes: [readsWorkloads],
    run: (_, work) => work.write(readsWorkloads, 'any', true),
  }
}

/** Writes items for pods, if an expression may read the workload of a client. Each address belongs to the newest pod that has it. */
export function workloadStage({ objects, pods, readsWorkloads, items }: Tables): StageDefinition<PodObject> {
  return {
    name: 'workloads',
    each: [objects.Pod],
    writes: [items],
    run([pod], work, key) {
      if (work.read(readsWorkloads, 'any').length === 0 || !hasOwnAddress(pod!)) return
      const addresses = addressesOf(pod!).filter((address) => {
        const owner = work.read(pods, address).at(-1)
        return owner !== undefined && keyOf(owner) === key
      })
      if (addresses.length === 0) return
      const item = workloadItem(pod!, addresses)
      work.write(items, item.key, item)
    },
  }
}

/** The address of a finished pod may have been reassigned, and the address of a node belongs to many pods. */
function hasOwnAddress({ spec, status }: PodObject): boolean {
  return spec?.hostNetwork !== true && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}

function addressesOf({ status }: PodObject): readonly string[] {
  const addresses = [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)]
  return [...new Set(addresses.flatMap((address) => address ?? []))]
}

/** Istio sets the annotation on a pod whose connections its node proxy redirects; the label is on pods that accept tunnels themselves. */
function acceptsTunnels({ metadata: { annotations = {}, labels = {} } }: PodObject): boolean {
  return annotations['ambient.istio.io/redirection'] === 'enabled' || labels['networking.istio.io/tunnel'] === 'http'
}

function meshPod({ metadata: { namespace, name }, spec }: PodObject): MeshPod {
  return { namespace, name, serviceAccount: serviceAccountOf(spec) }
}

function serviceAccountOf(spec: PodObject['spec']): string {
  return spec?.serviceAccountName ?? 'default'
}

function workloadItem({ metadata, spec, origin }: PodObject, addresses: readonly string[]): WorkloadItem {
  const { namespace, name } = metadata
  return {
    kind: 'workload',
    key: `Workload/${namespace}/${name}`,
    namespace,
    name,
    serviceAccount: serviceAccountOf(spec),
    addresses,
    origin,
  }
}
