import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import type { ClusterReader, Reading } from './cluster-reader.ts'

/** The labels of what the chart installs. */
export const CONTROLLER_LABELS = 'app.kubernetes.io/name=gatewright,app.kubernetes.io/component=controller'

/** A controller that the chart has installed. */
export interface FoundController {
  readonly namespace: string
  /** Of its Deployment. */
  readonly name: string
  readonly deployment: Members
  /** Of its Service and its Lease. */
  readonly service: string
  /** Of the Secret with its certificate. */
  readonly secret: string
  readonly account: string
  /** `controllerName` of its classes. */
  readonly controllerName: string
  /** Namespaces that it reads; none: all. */
  readonly reads: readonly string[]
}

/** The controllers in a namespace. */
export async function findControllers(
  reader: ClusterReader,
  namespace: string,
): Promise<Reading<readonly FoundController[]>> {
  const path = `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/deployments`
  const reading = await reader.list(`${path}?labelSelector=${encodeURIComponent(CONTROLLER_LABELS)}`)
  if ('why' in reading) return reading
  return { value: (reading.value ?? []).map((deployment) => describe(namespace, deployment)) }
}

function describe(namespace: string, deployment: Members): FoundController {
  const name = textOf(membersOf(deployment.metadata).name) ?? ''
  const pod = membersOf(membersOf(membersOf(deployment.spec).template).spec)
  const variables = itemsOf(pod.containers)
    .map(membersOf)
    .flatMap(({ env }) => itemsOf(env).map(membersOf))
  const variable = (wanted: string) => textOf(variables.find((each) => each.name === wanted)?.value)
  const service = variable('GATEWRIGHT_CONTROLLER_SERVICE') ?? name
  return {
    ...{ namespace, name, deployment, service },
    secret: variable('GATEWRIGHT_CONTROLLER_CERTIFICATE_SECRET') ?? `${service}-authority`,
    account: textOf(pod.serviceAccountName) ?? 'default',
    controllerName: variable('GATEWRIGHT_CONTROLLER_NAME') ?? 'gatewright.dev/controller',
    reads: variable('GATEWRIGHT_NAMESPACES')?.split(',') ?? [],
  }
}
