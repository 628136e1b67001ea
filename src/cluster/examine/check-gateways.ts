import { findKind } from '#api/kinds.ts'
import { count } from '#base/count.ts'
import { GATEWAY_LABEL } from '#deploy/names.ts'
import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import { listPath } from '../object-path.ts'
import { type Check, failure, ok, unknown, warning } from './check.ts'
import { checkReplicas } from './check-controller.ts'
import { type ClusterReader, listIn } from './cluster-reader.ts'
import type { FoundController } from './find-controllers.ts'

const CLASS = findKind('GatewayClass')!
const GATEWAY = findKind('Gateway')!
const DEPLOYMENTS = '/apis/apps/v1'

/** The Gateways that controllers run. */
export interface RunGateways {
  readonly checks: readonly Check[]
  readonly gateways: readonly Members[]
}

/**
 * Checks the classes of controllers, and the Gateways of these classes with their proxies.
 * @param namespaces none: all
 */
export async function checkGateways(
  reader: ClusterReader,
  controllers: readonly FoundController[],
  namespaces: readonly string[],
): Promise<RunGateways> {
  const names = new Set(controllers.map(({ controllerName }) => controllerName))
  const classes = await reader.list(listPath(CLASS, 'v1', undefined))
  if ('why' in classes) return { checks: [unknown('gateways', 'GatewayClasses', classes.why)], gateways: [] }
  const ours = (classes.value ?? []).filter(({ spec }) => names.has(textOf(membersOf(spec).controllerName) ?? ''))
  const checks = ours.map(checkClass)
  if (ours.length === 0)
    checks.push(
      warning(
        'gateways',
        `no GatewayClass has the controllerName ${[...names].join(' or ')}`,
        'create one, or install the chart with gatewayClass.create=true',
      ),
    )
  const gateways = await listIn(reader, namespaces, (namespace) => listPath(GATEWAY, 'v1', namespace))
  if ('why' in gateways) return { checks: [...checks, unknown('gateways', 'Gateways', gateways.why)], gateways: [] }
  const known = new Set(ours.map(nameOf))
  const run = (gateways.value ?? []).filter(({ spec }) => known.has(textOf(membersOf(spec).gatewayClassName) ?? ''))
  const pods = await listIn(reader, namespaces, (namespace) => {
    const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
    return `${DEPLOYMENTS}${scope}/deployments?labelSelector=${encodeURIComponent(GATEWAY_LABEL)}`
  })
  const proxies =
    'why' in pods
      ? [unknown('gateways', 'Deployments of proxies', pods.why)]
      : (pods.value ?? []).filter((each) => run.some((gateway) => runs(each, gateway))).map(checkProxies)
  const programmed = run.flatMap(checkProgrammed)
  const good = programmed.length === 0 ? [ok('gateways', `${count(run.length, 'Gateway')} programmed`)] : []
  return { checks: [...checks, ...good, ...programmed, ...proxies], gateways: run }
}

function checkClass(gatewayClass: Members): Check {
  const name = nameOf(gatewayClass)
  const accepted = condition(gatewayClass, 'Accepted')
  if (accepted?.status === 'True') return ok('gateways', `GatewayClass ${name} is accepted`)
  const why = textOf(accepted?.message) ?? 'no controller has looked at it'
  return failure('gateways', `GatewayClass ${name} is not accepted: ${why}`, `kubectl describe gatewayclass ${name}`)
}

function checkProgrammed(gateway: Members): readonly Check[] {
  const found = condition(gateway, 'Programmed')
  if (found?.status === 'True') return []
  const title = `${namespaceOf(gateway)}/${nameOf(gateway)}`
  const why = textOf(found?.message) ?? 'no controller has looked at it'
  return [
    failure(
      'gateways',
      `Gateway ${title} is not programmed: ${why}`,
      `kubectl -n ${namespaceOf(gateway)} describe gateway ${nameOf(gateway)}`,
    ),
  ]
}

function checkProxies(deployment: Members): Check {
  const [namespace, name] = [namespaceOf(deployment), nameOf(deployment)]
  const look = `kubectl -n ${namespace} describe deployment ${name}; kubectl -n ${namespace} get pods -l ${GATEWAY_LABEL}`
  return checkReplicas('gateways', `proxies ${namespace}/${name}`, deployment, look)
}

function runs(deployment: Members, gateway: Members): boolean {
  const { uid } = membersOf(gateway.metadata)
  const owners = itemsOf(membersOf(deployment.metadata).ownerReferences).map(membersOf)
  return owners.some((owner) => owner.uid === uid)
}

function condition(object: Members, type: string): Members | undefined {
  return itemsOf(membersOf(object.status).conditions)
    .map(membersOf)
    .find((each) => each.type === type)
}

function nameOf({ metadata }: Members): string {
  return textOf(membersOf(metadata).name) ?? ''
}

/** The namespace of an object. */
export function namespaceOf({ metadata }: Members): string {
  return textOf(membersOf(metadata).namespace) ?? ''
}
