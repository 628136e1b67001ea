import type { Finding } from '#base/finding.ts'
import type { Level } from '#base/log-levels.ts'
import type { FileOrigin, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable } from '#store/resources/resource-table.ts'
import { startApiServer } from './api-server.ts'
import { Collector } from './collector/collector.ts'
import { type CredentialFiles, loadCredentials } from './credentials/credentials.ts'
import { KUBECONFIG, kubeconfig } from './credentials/kubeconfig.ts'
import { CustomResources } from './custom-resources/custom-resources.ts'
import { definitionKind } from './custom-resources/definition-kind.ts'
import { EventRecorder } from './events/event-recorder.ts'
import { KindRegistry } from './kinds/registry.ts'
import { reviewKinds } from './kinds/review-kinds.ts'
import { ApiDocuments } from './openapi/documents.ts'
import { builtInKinds } from './platform-rules/built-in-kinds.ts'
import type { AuditEntry } from './serve/api-context.ts'
import { Snapshots } from './verbs/snapshots.ts'
import { Watches } from './verbs/watch.ts'

export interface ApiServiceOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly inherited?: number | undefined
  readonly table: ResourceTable
  readonly fileOf: (key: ResourceKey) => FileOrigin | undefined
  /** All problems of the objects in use. */
  readonly findings: () => readonly Finding[]
  /** The state folder: credentials are kept there, and the kubeconfig is written to it. */
  readonly files: CredentialFiles
  /** Version of the gateway. */
  readonly version: string
  readonly log: (level: Level, message: string, fields: Readonly<Record<string, string | number | undefined>>) => void
  readonly reportBug: (error: unknown) => void
}

export interface ApiService {
  /** `https://127.0.0.1:15010` */
  readonly url: string
  readonly port: number
  /** Of its socket, while it is open. */
  readonly descriptor: number
  close(): Promise<void>
}

/**
 * Starts the Kubernetes-style API with everything that belongs to it.
 * @throws PortInUse
 */
export async function startApiService(options: ApiServiceOptions): Promise<ApiService> {
  const { host, port, inherited, table, fileOf, files, log, reportBug } = options
  const kinds = new KindRegistry([...builtInKinds(), ...reviewKinds(), definitionKind()])
  const customResources = new CustomResources({
    table,
    kinds,
    reportFailure: (error) =>
      log('error', 'a CustomResourceDefinition cannot be read or written; it will be retried', {
        cause: (error as Error).message,
      }),
  })
  const documents = new ApiDocuments(kinds, options.version)
  const watches = new Watches(table)
  const { ca, certificate, key, token } = await loadCredentials(files, host)
  const server = await startApiServer({
    host,
    port,
    inherited,
    certificate,
    key,
    token,
    state: { table, kinds, fileOf, findingsOf: (key) => findingTexts(options.findings(), key, kinds) },
    snapshots: new Snapshots(),
    watches,
    document: (path, accept) => documents.find(path, accept),
    audit: (entry) => log(...auditLine(entry)),
    reportBug,
  })
  const collector = new Collector({
    table,
    isFromFile: (key) => fileOf(key) !== undefined,
    reportFailure: (error) =>
      log('error', 'an object cannot be deleted; it will be retried', { cause: (error as Error).message }),
  })
  const events = new EventRecorder(table)
  files.write(KUBECONFIG, kubeconfig({ server: server.url, ca, token }))
  const close = async (): Promise<void> => {
    collector.close()
    events.close()
    customResources.close()
    await server.close()
  }
  return { url: server.url, port: server.port, descriptor: server.descriptor, close }
}

/** What the control plane found in an object, for its author. */
function findingTexts(
  findings: readonly Finding[],
  { collection, namespace, name }: ResourceKey,
  kinds: KindRegistry,
): readonly string[] {
  const [kind] = kinds.versionsOf(collection)
  return findings
    .filter(({ origin, severity }) => {
      const isOf = origin.kind === kind?.kind && origin.name === name && origin.namespace === namespace
      return isOf && severity !== 'advice'
    })
    .map(({ path, message, code }) => `${path === '' ? '' : `${path}: `}${message} [${code}]`)
}

/** A line of the log for one write. */
function auditLine({ method, target, namespace, name, userAgent, status, dryRun }: AuditEntry) {
  const level: Level = status < 400 ? 'info' : 'warn'
  const client = userAgent.slice(0, MAX_CLIENT)
  const object = {
    target: target.slice(0, MAX_NAME),
    namespace: namespace?.slice(0, MAX_NAME),
    name: name?.slice(0, MAX_NAME),
  }
  const fields = { method, ...object, status, client, dryRun: dryRun ? 'true' : undefined }
  return [level, status < 400 ? 'object written' : 'write refused', fields] as const
}

const MAX_CLIENT = 100
/** Longer ones name nothing, and are of clients that need no token to fill the log with them. */
const MAX_NAME = 512
