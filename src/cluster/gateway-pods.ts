import { findKind } from '#api/kinds.ts'
import { OWN_PORTS } from '#api/own-ports.ts'
import { hostAndPort } from '#api/process-variables.ts'
import { compareText } from '#base/compare-text.ts'
import { suggest } from '#base/suggest.ts'
import { CONTAINER } from '#deploy/container.ts'
import { GATEWAY_LABEL, labelValue } from '#deploy/names.ts'
import type { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { itemsOf, type Members, membersOf, textOf } from './kubeconfig.ts'
import { listPath, type ObjectName, objectPath } from './object-path.ts'
import { PAGE, readPages } from './read-pages.ts'

const GATEWAY = findKind('Gateway')!
const CLASS = findKind('GatewayClass')!
const POD = findKind('Pod')!

/** A pod that runs the proxy of a Gateway. */
export interface GatewayPod extends ObjectName {
  /** Why it is sent no requests; undefined: it is ready. */
  readonly notReady: string | undefined
  /** It was deleted, and finishes what it began. */
  readonly isEnding: boolean
  /** Its container runs, ready or not. */
  readonly isRunning: boolean
  /** Of the admin server. */
  readonly adminPort: number
}

/** A Gateway, as far as a cluster knows what became of it. */
export interface ClusterGateway extends ObjectName {
  readonly isProgrammed: boolean
  /** Why it is not programmed; of a programmed one what the controller says. */
  readonly message: string
}

/**
 * The pods of a Gateway by name; those that end come last.
 * @throws ApiUnreadable also if there is no such Gateway, or if it has no pod
 */
export async function podsOfGateway(client: ApiClient, gateway: ObjectName): Promise<readonly GatewayPod[]> {
  const pods = await listPods(client, gateway.namespace, `${GATEWAY_LABEL}=${labelValue(gateway.name)}`)
  if (pods.length > 0) return pods.map(({ pod }) => pod)
  const { message } = await readGateway(client, gateway)
  throw new ApiUnreadable(`Gateway ${nameOf(gateway)} has no pod${message === '' ? '' : `: ${message}`}`)
}

/** @throws ApiUnreadable also if there is none, with a similar name */
export async function readGateway(client: ApiClient, gateway: ObjectName): Promise<ClusterGateway> {
  const { status, body } = await client.get(objectPath(GATEWAY, GATEWAY.versions[0], gateway))
  if (status === 200) return describeGateway(body)
  const others = await list(client, listPath(GATEWAY, GATEWAY.versions[0], undefined)).catch(() => [])
  const names = others.map((other) => objectNameOf(other))
  const near = suggest(
    gateway.name,
    names.filter(({ namespace }) => namespace === gateway.namespace).map(({ name }) => name),
  )
  const elsewhere = names.find(({ name }) => name === gateway.name)
  const meant = near === undefined ? elsewhere : { namespace: gateway.namespace, name: near }
  const hint = meant === undefined ? '' : `; did you mean -n ${meant.namespace} ${meant.name}?`
  throw new ApiUnreadable(`there is no Gateway ${nameOf(gateway)}${hint}`)
}

/**
 * The Gateways of a controller with their pods.
 * @param namespace undefined: all
 * @throws ApiUnreadable
 */
export async function readGateways(
  client: ApiClient,
  controller: string,
  namespace: string | undefined,
): Promise<readonly { readonly gateway: ClusterGateway; readonly pods: readonly GatewayPod[] }[]> {
  const classes = (await list(client, listPath(CLASS, CLASS.versions[0], undefined)))
    .filter(({ spec }) => membersOf(spec).controllerName === controller)
    .map((found) => objectNameOf(found).name)
  const gateways = (await list(client, listPath(GATEWAY, GATEWAY.versions[0], namespace))).filter(({ spec }) =>
    classes.includes(textOf(membersOf(spec).gatewayClassName) ?? ''),
  )
  const pods = gateways.length === 0 ? [] : await listPods(client, namespace, GATEWAY_LABEL)
  return gateways.map(describeGateway).map((gateway) => ({
    gateway,
    pods: pods
      .filter(({ pod, label }) => pod.namespace === gateway.namespace && label === labelValue(gateway.name))
      .map(({ pod }) => pod),
  }))
}

/** `infra/main` */
export function nameOf({ namespace, name }: ObjectName): string {
  return `${namespace}/${name}`
}

interface LabelledPod {
  readonly pod: GatewayPod
  /** Of its Gateway. */
  readonly label: string
}

async function listPods(
  client: ApiClient,
  namespace: string | undefined,
  selector: string,
): Promise<readonly LabelledPod[]> {
  const pods = await list(client, listPath(POD, 'v1', namespace), `&labelSelector=${encodeURIComponent(selector)}`)
  const described = pods.flatMap((pod) => {
    const container = itemsOf(membersOf(pod.spec).containers)
      .map(membersOf)
      .find(({ name }) => name === CONTAINER)
    const label = textOf(membersOf(membersOf(pod.metadata).labels)[GATEWAY_LABEL]) ?? ''
    // Other implementations use the same label.
    return container === undefined ? [] : [{ pod: describePod(pod, container), label }]
  })
  return described.sort(
    ({ pod: a }, { pod: b }) => Number(a.isEnding) - Number(b.isEnding) || compareText(a.name, b.name),
  )
}

async function list(client: ApiClient, path: string, query = ''): Promise<readonly Members[]> {
  const found = await readPages(client, `${path}?limit=${PAGE}${query}`)
  if (found === undefined) throw new ApiUnreadable(`${client.server} does not serve ${path}`)
  return found.items
}

function objectNameOf({ metadata }: Members): ObjectName {
  const { namespace, name } = membersOf(metadata)
  return { namespace: textOf(namespace) ?? '', name: textOf(name) ?? '' }
}

function describePod(pod: Members, { env }: Members): GatewayPod {
  const status = membersOf(pod.status)
  const state = itemsOf(status.containerStatuses)
    .map(membersOf)
    .find(({ name }) => name === CONTAINER)
  const isRunning = membersOf(state?.state).running !== undefined
  const isEnding = membersOf(pod.metadata).deletionTimestamp !== undefined
  const isReady = state?.ready === true && !isEnding
  const waiting = membersOf(membersOf(state?.state).waiting)
  const why = isEnding ? 'it ends' : (textOf(waiting.reason) ?? (isRunning ? 'its probe fails' : 'it does not run'))
  const address = itemsOf(env)
    .map(membersOf)
    .find(({ name }) => name === 'GATEWRIGHT_ADMIN_ADDR')
  const adminPort = Number(hostAndPort(textOf(address?.value) ?? '').port) || OWN_PORTS.admin
  return { ...objectNameOf(pod), notReady: isReady ? undefined : why, isEnding, isRunning, adminPort }
}

function describeGateway(gateway: Members): ClusterGateway {
  const conditions = itemsOf(membersOf(gateway.status).conditions).map(membersOf)
  const [accepted, programmed] = ['Accepted', 'Programmed'].map((type) =>
    conditions.find((condition) => condition.type === type),
  )
  const isProgrammed = programmed?.status === 'True'
  const said = !isProgrammed && accepted?.status === 'False' ? accepted : programmed
  return {
    ...objectNameOf(gateway),
    isProgrammed,
    message: said === undefined ? 'no controller has taken it' : (textOf(said.message) ?? textOf(said.reason) ?? ''),
  }
}
