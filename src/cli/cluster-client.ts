import type { ApiClient } from '#cluster/api-client.ts'
import { connect } from '#cluster/connect.ts'

/** Options that name a cluster. */
export interface ClusterFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

/** A client for the cluster of a kubeconfig; by default $KUBECONFIG, then ~/.kube/config. @throws ApiUnreadable */
export function clusterClient(
  { kubeconfig, context }: ClusterFlags,
  { KUBECONFIG, HOME = '' }: NodeJS.ProcessEnv,
): Promise<ApiClient> {
  return connect({
    server: undefined,
    kubeconfig: kubeconfig ?? KUBECONFIG ?? `${HOME}/.kube/config`,
    context,
    localKubeconfig: '',
  })
}
