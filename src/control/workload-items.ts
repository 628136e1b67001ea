import type { PodObject } from '#api/pod.ts'
import type { PolicyItem, WorkloadItem } from '#plan/item.ts'
import type { Inventory } from './inventory.ts'

/**
 * What may read `source.unverifiedWorkload`: its name, in whatever form, `variables()`, or `source` as a whole. A text that says so
 * without being an expression brings items that nobody asks for, which does no harm.
 */
const READS_WORKLOAD = /unverifiedWorkload|\bvariables\b|\bsource\b(?!\s*[.?])/

/** Items for the pods, while some expression may ask which one a caller is. Each address belongs to the youngest pod that has it. */
export function workloadItems(inventory: Inventory, policies: readonly PolicyItem[]): readonly WorkloadItem[] {
  const pods = inventory.all('Pod').filter(hasOwnAddress)
  if (pods.length === 0 || !policies.some(({ spec }) => READS_WORKLOAD.test(JSON.stringify(spec)))) return []
  const owners = new Map(pods.flatMap((pod) => addressesOf(pod).map((address) => [address, pod] as const)))
  return pods.flatMap((pod) => {
    const addresses = addressesOf(pod).filter((address) => owners.get(address) === pod)
    return addresses.length === 0 ? [] : [workloadItem(pod, addresses)]
  })
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
