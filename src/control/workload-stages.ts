import { keyOf } from '#api/object.ts'
import type { PodObject } from '#api/pod.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import type { PolicyItem, WorkloadItem } from '#plan/item.ts'
import type { Tables } from './tables.ts'

/**
 * What may read `source.unverifiedWorkload`: its name, in whatever form, `variables()`, or `source` as a whole. A text that says so
 * without being an expression brings items that nobody asks for, which does no harm.
 */
const READS_WORKLOAD = /unverifiedWorkload|\bvariables\b|\bsource\b(?!\s*[.?])/

export function readsWorkload({ spec }: PolicyItem): boolean {
  return READS_WORKLOAD.test(JSON.stringify(spec))
}

/** The addresses of pods. */
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

/** Whether any policy reads which pod a caller is. */
export function workloadReaderStage({ workloadReaders, readsWorkloads }: Tables): StageDefinition<true> {
  return {
    name: 'workloadReaders',
    each: [workloadReaders],
    writes: [readsWorkloads],
    run: (_, work) => work.write(readsWorkloads, 'any', true),
  }
}

/** Items for the pods, while some expression may ask which one a caller is. Each address belongs to the youngest pod that has it. */
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

/** The address of a pod that ended may belong to another one by now, that of a node to many. */
function hasOwnAddress({ spec, status }: PodObject): boolean {
  return spec?.hostNetwork !== true && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}

function addressesOf({ status }: PodObject): readonly string[] {
  const addresses = [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)]
  return [...new Set(addresses.flatMap((address) => address ?? []))]
}

function workloadItem({ metadata, spec, origin }: PodObject, addresses: readonly string[]): WorkloadItem {
  const { namespace, name } = metadata
  return {
    kind: 'workload',
    key: `Workload/${namespace}/${name}`,
    namespace,
    name,
    serviceAccount: spec?.serviceAccountName ?? 'default',
    addresses,
    origin,
  }
}
