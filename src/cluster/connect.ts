import { existsSync } from 'node:fs'
import { openAccess, serverUrl } from './api-access.ts'
import { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { type KubeContext, readKubeconfig, textOf } from './kubeconfig.ts'

/** Where an API is, and how to get access to it. */
export interface ApiAddress {
  /** URL; default: that of the kubeconfig. */
  readonly server: string | undefined
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  /** The kubeconfig that a gateway on this machine has written. */
  readonly localKubeconfig: string
}

/**
 * Opens a client for an API. Without a kubeconfig, it is a gateway on this machine, or a URL without HTTPS that needs no credentials.
 * @throws ApiUnreadable
 */
export async function connect({ server, kubeconfig, context, localKubeconfig }: ApiAddress): Promise<ApiClient> {
  if (kubeconfig !== undefined) return new ApiClient(await openAccess(readKubeconfig(kubeconfig, context), server))
  if (server !== undefined && serverUrl(server).protocol === 'http:')
    return new ApiClient({ server: serverUrl(server), tls: {}, headers: {} })
  return new ApiClient(await openAccess(readLocal(localKubeconfig, server)))
}

/** The token of a gateway is not sent anywhere else. */
function readLocal(file: string, server: string | undefined): KubeContext {
  if (!existsSync(file))
    throw new ApiUnreadable(
      `${file} does not exist: no gateway has served its API with this state folder; name another one with --state, or a kubeconfig with --kubeconfig`,
    )
  const context = readKubeconfig(file)
  const local = serverUrl(textOf(context.cluster.server) ?? '')
  if (server === undefined || serverUrl(server).href === local.href) return context
  throw new ApiUnreadable(
    `${file} is for ${local.href}; name the kubeconfig for ${server} with --kubeconfig, or another state folder with --state`,
  )
}
