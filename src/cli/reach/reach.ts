import type { ClusterFlags } from '../cluster-client.ts'
import { UsageError } from '../usage-error.ts'
import type { ReachedGateway } from './admin-server.ts'
import { localGateway } from './local-gateway.ts'

/** Options that say where the gateway is that a command asks. */
export interface ReachFlags extends ClusterFlags {
  /** URL of the admin server of a gateway on this machine; the default is that of the environment. */
  readonly admin?: string | undefined
  /** Of the Gateway; default: that of the context, then `default`. */
  readonly namespace?: string | undefined
  /** Only this pod. */
  readonly pod?: string | undefined
}

/**
 * The gateway that a command asks.
 * @param gateway name of a Gateway of a cluster; undefined: the gateway on this machine
 * @throws UsageError, ApiUnreadable
 */
export async function reach(gateway: string | undefined, flags: ReachFlags): Promise<ReachedGateway> {
  if (!isInCluster(gateway, flags)) return localGateway(flags.admin)
  if (gateway === undefined) throw new UsageError('name the Gateway, such as -n infra main')
  const { clusterGateway } = await import('./cluster-gateway.ts')
  const { client, namespace = 'default' } = await reachCluster(flags)
  return clusterGateway(client, { namespace, name: gateway }, flags.pod)
}

/** Whether a command asks a cluster. @throws UsageError if it asks this machine, too */
export function isInCluster(gateway: string | undefined, flags: ReachFlags): boolean {
  const [option] = Object.entries({
    '--kubeconfig': flags.kubeconfig,
    '--context': flags.context,
    '--namespace': flags.namespace,
    '--pod': flags.pod,
    [`Gateway ${gateway}`]: gateway,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (option === undefined) return false
  if (flags.admin === undefined) return true
  throw new UsageError(`--admin is a gateway on this machine, and cannot be combined with ${option}`)
}

/** Opens a client for the API of a cluster. @returns with the namespace that was chosen, if one was @throws ApiUnreadable */
export async function reachCluster(flags: ReachFlags) {
  const { openCluster } = await import('../cluster-client.ts')
  const { client, namespace } = await openCluster(flags, process.env)
  return { client, namespace: flags.namespace ?? namespace }
}
