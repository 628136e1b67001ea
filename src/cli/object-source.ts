import { join } from 'node:path'
import { KUBECONFIG } from '#apiserver/credentials/kubeconfig.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { FileStore } from '#store/files.ts'
import type { CheckedObjects } from '#store/store.ts'
import { objectPaths, type PathFlags } from './object-paths.ts'
import { complain } from './output.ts'
import { STATE_FOLDER } from './state-path.ts'
import { UsageError } from './usage-error.ts'

/** Options that name the API whose objects a command reads. */
export interface ApiFlags {
  /** URL; default: that of the kubeconfig. */
  readonly server?: string
  readonly kubeconfig?: string
  readonly context?: string
  /** State folder of the running gateway. */
  readonly state?: string
  /** Only objects in these namespaces. */
  readonly namespace?: readonly string[]
}

/** The objects that a command reads. */
export interface ObjectSource {
  readonly store: CheckedObjects
  /** From an API; otherwise from files. */
  readonly isRemote: boolean
}

/**
 * Reads the objects of files, of a running gateway or of a cluster.
 * @throws UsageError, ApiUnreadable
 */
export async function readObjects(
  command: string,
  paths: readonly string[],
  flags: ApiFlags & PathFlags,
): Promise<ObjectSource> {
  const { server, context, state, namespace = [] } = flags
  const kubeconfig =
    context === undefined ? flags.kubeconfig : (await import('./cluster-client.ts')).kubeconfigFile(flags, process.env)
  if (state !== undefined && (server === undefined || kubeconfig !== undefined))
    throw new UsageError('--state needs --server, and cannot be combined with --kubeconfig')
  if (server === undefined && kubeconfig === undefined) {
    if (namespace.length > 0) throw new UsageError('--namespace needs --server or --kubeconfig')
    return { store: new FileStore(objectPaths(command, paths, flags), { tlsMaterial: TLS_MATERIAL }), isRemote: false }
  }
  if (paths.length + (flags.file ?? []).length > 0)
    throw new UsageError('files cannot be combined with --server or --kubeconfig')
  return { store: await readApi({ ...flags, ...(kubeconfig !== undefined && { kubeconfig }) }), isRemote: true }
}

async function readApi({ server, kubeconfig, context, state, namespace = [] }: ApiFlags): Promise<CheckedObjects> {
  const { connect } = await import('#cluster/connect.ts')
  const { readCluster } = await import('#cluster/read-cluster.ts')
  using client = await connect({
    server,
    kubeconfig,
    context,
    localKubeconfig: join(state ?? STATE_FOLDER, KUBECONFIG),
  })
  const { store, missing } = await readCluster(client, namespace)
  if (missing.length > 0) {
    const kinds = missing.map(({ kind }) => kind).join(', ')
    const why = namespace.length === 0 ? 'does not serve' : 'does not serve, or does not let you read,'
    complain(`${client.server} ${why} ${kinds}; the objects are checked without them`)
  }
  if (namespace.length > 0)
    complain(`only namespace ${namespace.join(', ')} is read: objects of other namespaces count as missing`)
  return store
}
