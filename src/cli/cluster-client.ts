import { openAccess } from '#cluster/api-access.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { readKubeconfig } from '#cluster/kubeconfig.ts'

/** Options that name a cluster. */
export interface ClusterFlags {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
}

/** The kubeconfig that a command reads; by default $KUBECONFIG, then ~/.kube/config. */
export function kubeconfigFile({ kubeconfig }: ClusterFlags, { KUBECONFIG, HOME = '' }: NodeJS.ProcessEnv): string {
  return kubeconfig ?? (KUBECONFIG || `${HOME}/.kube/config`)
}

/** A client for the cluster of a kubeconfig. @throws ApiUnreadable */
export async function clusterClient(flags: ClusterFlags, environment: NodeJS.ProcessEnv): Promise<ApiClient> {
  return (await openCluster(flags, environment)).client
}

/** The same, with the namespace that the context names. @throws ApiUnreadable */
export async function openCluster(flags: ClusterFlags, environment: NodeJS.ProcessEnv) {
  const selected = readKubeconfig(kubeconfigFile(flags, environment), flags.context)
  return { client: new ApiClient(await openAccess(selected)), namespace: selected.namespace }
}
