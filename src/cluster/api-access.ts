import { resolve } from 'node:path'
import type { SecureContextOptions } from 'node:tls'
import { ApiUnreadable } from './api-unreadable.ts'
import { type ExecCredential, runCredentialPlugin } from './exec-credential.ts'
import { dataOrFile, itemsOf, type KubeContext, type Members, membersOf, textOf } from './kubeconfig.ts'
import { TokenFile } from './token-file.ts'

/** How to reach an API, with credentials. It is a secret. */
export interface ApiAccess {
  /** May have a path. */
  readonly server: URL
  readonly tls: SecureContextOptions & { readonly servername?: string; readonly rejectUnauthorized?: boolean }
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Sent as a bearer token. */
  readonly token?: TokenFile
  /** Names the credentials in messages, without their values. */
  readonly credential?: string
}

/** Members of a kubeconfig that change who or what is reached, and that we do not support. */
const UNSUPPORTED = { cluster: ['proxy-url'], user: ['auth-provider'] } as const
const WAY_OUT = 'run "kubectl proxy" and use --server http://127.0.0.1:8001'

/**
 * Obtains the credentials of a context.
 * @param server in place of that of the context
 * @throws ApiUnreadable
 */
export async function openAccess(context: KubeContext, server?: string): Promise<ApiAccess> {
  for (const part of ['cluster', 'user'] as const) {
    const found = UNSUPPORTED[part].find((name) => context[part][name] !== undefined)
    if (found !== undefined) throw new ApiUnreadable(`the kubeconfig has ${found}, which is not supported; ${WAY_OUT}`)
  }
  const { cluster, user, folder, userName } = context
  const url = serverUrl(server ?? textOf(cluster.server) ?? '')
  const plugin = user.exec === undefined ? undefined : await runCredentialPlugin(context)
  const tls = { ...tlsOfCluster(cluster, folder), ...certificateOf(user, folder, plugin) }
  const token = tokenFileOf(user, folder)
  const headers = { ...(token === undefined && authorization(user, plugin)), ...impersonation(user) }
  const hasCredentials = Object.keys(headers).length > 0 || tls.cert !== undefined || token !== undefined
  if (url.protocol !== 'https:' && hasCredentials)
    throw new ApiUnreadable(`${url.href} is not HTTPS, so the credentials of the kubeconfig are not sent to it`)
  const credential = hasCredentials ? { credential: userName } : {}
  return { server: url, tls, headers, ...(token && { token }), ...credential }
}

/** @throws ApiUnreadable */
export function serverUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url
  throw new ApiUnreadable(`the address of the API, "${text}", is not a URL with scheme https or http`)
}

function tlsOfCluster(cluster: Members, folder: string): ApiAccess['tls'] {
  const ca = dataOrFile(cluster, 'certificate-authority', folder)
  const name = textOf(cluster['tls-server-name'])
  return {
    ...(ca !== undefined && { ca }),
    ...(name !== undefined && { servername: name }),
    ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
  }
}

function certificateOf(user: Members, folder: string, plugin: ExecCredential | undefined): ApiAccess['tls'] {
  const cert = dataOrFile(user, 'client-certificate', folder) ?? plugin?.certificate
  const key = dataOrFile(user, 'client-key', folder) ?? plugin?.key
  return cert === undefined || key === undefined ? {} : { cert, key }
}

/** It takes precedence over `token`. @throws ApiUnreadable */
function tokenFileOf(user: Members, folder: string): TokenFile | undefined {
  const name = textOf(user.tokenFile)
  const file = name === undefined ? undefined : new TokenFile(resolve(folder, name))
  file?.get()
  return file
}

function authorization(user: Members, plugin: ExecCredential | undefined): ApiAccess['headers'] {
  const token = textOf(user.token) ?? plugin?.token
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  const name = textOf(user.username)
  if (name === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${name}:${textOf(user.password) ?? ''}`).toString('base64')}` }
}

/** Kubernetes, "User impersonation". */
function impersonation(user: Members): ApiAccess['headers'] {
  const name = textOf(user.as)
  if (name === undefined) return {}
  const uid = textOf(user['as-uid'])
  const groups = itemsOf(user['as-groups']).map(String)
  const extra = Object.entries(membersOf(user['as-user-extra'])).map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
    itemsOf(values).map(String),
  ])
  return {
    'impersonate-user': name,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...Object.fromEntries(extra),
  }
}
