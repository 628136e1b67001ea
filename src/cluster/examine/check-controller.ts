import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import { type Check, failure, ok, unknown, warning } from './check.ts'
import type { ClusterReader } from './cluster-reader.ts'
import type { FoundController } from './find-controllers.ts'

/** What the checks of a controller know. */
export interface ControllerContext {
  /** Of this program. */
  readonly version: string
  /** The clock of the API server. */
  readonly nowMs: number
}

const VERSION = 'app.kubernetes.io/version'
/** A leader renews its lease every two seconds, with the clock of its node. */
const LEASE_SKEW_MS = 30_000

/** Checks the pods of a controller, their version, the Service that proxies reach them by, and the Lease of the leader. */
export async function checkController(
  reader: ClusterReader,
  controller: FoundController,
  context: ControllerContext,
): Promise<readonly Check[]> {
  const checks = [
    checkDeployment(controller),
    checkVersion(controller, context),
    checkService(reader, controller),
    checkLease(reader, controller, context),
  ]
  return (await Promise.all(checks)).flat()
}

function titleOf({ namespace, name }: FoundController): string {
  return `controller ${namespace}/${name}`
}

function checkDeployment(controller: FoundController): Check {
  const { namespace, name, deployment } = controller
  return checkReplicas(
    'controller',
    titleOf(controller),
    deployment,
    `kubectl -n ${namespace} describe deployment ${name}; kubectl -n ${namespace} get pods`,
  )
}

/** Whether all pods of a Deployment are ready. */
export function checkReplicas(area: Check['area'], title: string, deployment: Members, look: string): Check {
  const { replicas: wanted = 1 } = membersOf(deployment.spec)
  const { readyReplicas: ready = 0, conditions } = membersOf(deployment.status)
  const what = `${title}: ${ready} of ${wanted} pods ready`
  if (wanted === 0) return warning(area, `${title} has no pods: its replicas are 0`, 'scale it up')
  if (Number(ready) >= Number(wanted)) return ok(area, what)
  const stuck = itemsOf(conditions)
    .map(membersOf)
    .find(
      ({ status, type }) =>
        (type === 'Progressing' && status === 'False') || (type === 'ReplicaFailure' && status === 'True'),
    )
  const why = stuck === undefined ? '' : `; ${textOf(stuck.message) ?? stuck.reason}`
  return Number(ready) === 0 ? failure(area, `${what}${why}`, look) : warning(area, `${what}${why}`, look)
}

function checkVersion(controller: FoundController, { version }: ControllerContext): readonly Check[] {
  const labels = membersOf(membersOf(controller.deployment.metadata).labels)
  const installed = textOf(labels[VERSION])
  if (installed === undefined || installed === version) return []
  const detail = `${titleOf(controller)} has version ${installed}, this program ${version}`
  return [warning('controller', detail, 'check with the program of that version, or upgrade the controller')]
}

async function checkService(reader: ClusterReader, { namespace, service }: FoundController): Promise<Check> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`
  const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`)
  const reading = await reader.list(`${path}?labelSelector=${selector}`)
  const title = `Service ${namespace}/${service}`
  if ('why' in reading) return unknown('controller', title, reading.why)
  const endpoints = (reading.value ?? []).flatMap(({ endpoints }) => itemsOf(endpoints).map(membersOf))
  const ready = endpoints.filter(({ conditions }) => membersOf(conditions).ready !== false)
  const names = new Set(ready.map(({ targetRef, addresses }) => textOf(membersOf(targetRef).name) ?? String(addresses)))
  if (names.size > 0)
    return ok('controller', `${title}: ${names.size} ready ${names.size === 1 ? 'endpoint' : 'endpoints'} for proxies`)
  return failure(
    'controller',
    `${title} has no ready endpoint, so proxies get no configuration`,
    `kubectl -n ${namespace} describe service ${service}`,
  )
}

async function checkLease(
  reader: ClusterReader,
  { namespace, service }: FoundController,
  { nowMs }: ControllerContext,
): Promise<readonly Check[]> {
  const title = `Lease ${namespace}/${service}`
  const path = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases/${encodeURIComponent(service)}`
  const reading = await reader.object(path)
  if ('why' in reading) return [unknown('controller', title, reading.why)]
  const logs = `kubectl -n ${namespace} logs deployment/${service}`
  if (reading.value === undefined) return [failure('controller', `${title} does not exist: no replica leads`, logs)]
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = membersOf(reading.value.spec)
  const holder = textOf(holderIdentity)
  if (holder === undefined) return [warning('controller', `${title}: no replica leads at the moment`, logs)]
  const pod = holder.split('_')[0]
  const ageMs = nowMs - Date.parse(textOf(renewTime) ?? '')
  const seconds = Math.round(Math.abs(ageMs) / 1000)
  if (!(ageMs <= Number(leaseDurationSeconds) * 1000 + LEASE_SKEW_MS))
    return [failure('controller', `${title}: the leader ${pod} has not renewed it for ${seconds} s`, logs)]
  if (ageMs < -LEASE_SKEW_MS)
    return [
      warning(
        'clocks',
        `the clock of the node of ${pod} is ${seconds} s ahead of that of the API server`,
        'synchronise the clocks of the nodes',
      ),
    ]
  return [ok('controller', `${pod} leads`)]
}
