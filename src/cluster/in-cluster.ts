import { join } from 'node:path'
import type { ApiAccess } from './api-access.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { readText } from './kubeconfig.ts'
import { TokenFile } from './token-file.ts'

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** How a program in a Pod reaches the API of its cluster. */
export interface InClusterAccess {
  readonly access: ApiAccess
  /** Of the Pod. */
  readonly namespace: string
}

/**
 * Reads the address and the credentials that Kubernetes gives a Pod ("Accessing the Kubernetes API from a Pod").
 * @param folder with `token`, `ca.crt` and `namespace`
 * @throws ApiUnreadable
 */
export function readInCluster(environment: NodeJS.ProcessEnv, folder = FOLDER): InClusterAccess {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = environment
  if (host === '')
    throw new ApiUnreadable(
      'KUBERNETES_SERVICE_HOST is not set, so this is not a Pod of a cluster; name a kubeconfig with --kubeconfig',
    )
  const server = URL.parse(`https://${host.includes(':') ? `[${host}]` : host}:${port}`)
  if (server === null)
    throw new ApiUnreadable(
      `KUBERNETES_SERVICE_HOST "${host}" and KUBERNETES_SERVICE_PORT "${port}" are not the address of an API`,
    )
  const token = new TokenFile(join(folder, 'token'))
  token.get()
  const ca = readText(join(folder, 'ca.crt'))
  const namespace = readText(join(folder, 'namespace')).trim()
  return { access: { server, tls: { ca }, headers: {}, token, credential: `the token in ${token.file}` }, namespace }
}
