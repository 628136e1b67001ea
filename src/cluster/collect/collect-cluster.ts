import { keyOf, objectKey } from '#api/object.ts'
import { CONTROLLER_PORTS, OWN_PORTS } from '#api/own-ports.ts'
import { GATEWAY_LABEL } from '#deploy/names.ts'
import type { ApiClient } from '../api-client.ts'
import { ClusterReader } from '../examine/cluster-reader.ts'
import { CONTROLLER_LABELS, findControllers } from '../examine/find-controllers.ts'
import { collectEvents } from './collect-events.ts'
import { collectObjects } from './collect-objects.ts'
import { collectPods, type PodSelection } from './collect-pods.ts'
import { type SupportFile, SupportFiles, secretsHider } from './support-files.ts'

export interface CollectOptions {
  readonly controllerNamespace: string
  /** Whose objects are read; none: all. */
  readonly namespaces: readonly string[]
  /** How many of the last lines of each log. */
  readonly logLines: number
}

/** What a support archive has. */
export interface Collected {
  readonly files: readonly SupportFile[]
  /** What could not be read, and why. */
  readonly missing: readonly string[]
  /** Removes secrets from other texts. */
  readonly hide: (text: string) => string
}

/** Reads what helps to find a fault: objects, logs, events and metrics, without secrets. What may not be read is named. */
export async function collectCluster(client: ApiClient, options: CollectOptions): Promise<Collected> {
  const { controllerNamespace, namespaces, logLines } = options
  const reader = new ClusterReader(client)
  const files = new SupportFiles()
  const controllers = await findControllers(reader, controllerNamespace)
  const services = 'value' in controllers ? controllers.value : []
  const { objects, secrets } = await collectObjects(reader, files, {
    namespaces,
    secretKeys: services.map(({ namespace, secret }) => objectKey('Secret', namespace, secret)),
  })
  const selections: readonly PodSelection[] = [
    {
      role: 'controllers',
      namespaces: [controllerNamespace],
      labels: CONTROLLER_LABELS,
      metricsPort: CONTROLLER_PORTS.metrics,
    },
    { role: 'proxies', namespaces, labels: GATEWAY_LABEL, metricsPort: OWN_PORTS.metrics },
  ]
  const pods = await Promise.all(selections.map((each) => collectPods(reader, files, each, logLines)))
  await collectEvents(reader, files, {
    keys: new Set([...objects.map(keyOf), ...pods.flat()]),
    namespaces: namespaces.length === 0 ? [] : [...new Set([...namespaces, controllerNamespace])],
  })
  const hide = secretsHider(secrets)
  return { files: files.hidden(hide), missing: files.missing.map(hide), hide }
}
