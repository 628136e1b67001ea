import { setTimeout as sleep } from 'node:timers/promises'
import { GATEWAY_CLASS } from '../installed-controller.ts'
import { kubectlIn, type RunningCluster, restrictedNamespace } from '../running-cluster.ts'

/** Until a change is seen: a condition, an object, a pod. */
const PATIENCE_MS = 60_000

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

interface ApiObject {
  readonly kind: string
  readonly metadata: { readonly name: string }
}

export interface StoredObject extends ApiObject {
  readonly metadata: ApiObject['metadata'] & {
    readonly uid: string
    readonly resourceVersion: string
    readonly ownerReferences?: readonly { readonly uid: string }[]
  }
  readonly spec?: unknown
}

/** A namespace in which Gateways run, and what parts do in it. */
export interface Team {
  readonly namespace: string
  readonly kubectl: ReturnType<typeof kubectlIn>
  /** Applies objects on the server, so that what they leave out is removed. */
  apply(...objects: readonly object[]): Promise<void>
  /** @param kinds as kubectl takes them @param name undefined: all that the Gateways own */
  list(kinds: string, ...words: readonly string[]): Promise<readonly StoredObject[]>
  /** Waits until a condition of an object has a status and a reason. @param expected `True/Accepted` @returns what it has at last */
  condition(object: string, type: string, expected: string): Promise<string>
  /** Looks until it is true; kubectl may fail meanwhile. @returns false: it was not in time @param more times of patience */
  until(what: string, look: () => Promise<boolean>, more?: number): Promise<boolean>
  /** The message of a condition. */
  message(object: string, type: string): Promise<string>
}

/** Makes the namespace, which is deleted with `stops`. */
export async function createTeam(
  cluster: RunningCluster,
  namespace: string,
  stops: AsyncDisposableStack,
): Promise<Team> {
  await restrictedNamespace(cluster, namespace, stops)
  const kubectl = kubectlIn(cluster, namespace)
  const find = async (object: string, type: string): Promise<Condition | undefined> => {
    const { status } = JSON.parse(withoutWarnings(await kubectl(['get', object, '-o', 'json']))) as {
      status?: Statuses
    }
    const { conditions = [], parents = [], ancestors = [] } = status ?? {}
    const all = [...conditions, ...[...parents, ...ancestors].flatMap((entry) => entry.conditions)]
    return all.find((condition) => condition.type === type)
  }
  return {
    namespace,
    kubectl,
    async apply(...items) {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
      await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], list)
    },
    async list(kinds, ...words) {
      return (JSON.parse(await kubectl(['get', kinds, '-o', 'json', ...words])) as { items: StoredObject[] }).items
    },
    async condition(object, type, expected) {
      let seen = 'none'
      await until(`${object} ${type}`, async () => {
        const found = await find(object, type)
        seen = found === undefined ? 'none' : `${found.status}/${found.reason}`
        return seen === expected
      })
      return seen
    },
    until,
    message: async (object, type) => (await find(object, type))?.message ?? '',
  }
}

/** Such as those about a version that is deprecated. */
function withoutWarnings(output: string): string {
  return output.replace(/^Warning: .*$/gm, '')
}

/** Each look starts a program. */
const PAUSE_MS = 300

async function until(what: string, look: () => Promise<boolean>, more = 1): Promise<boolean> {
  const deadlineMs = performance.now() + more * PATIENCE_MS
  let last: unknown
  do {
    try {
      if (await look()) return true
    } catch (error) {
      last = error
    }
    await sleep(PAUSE_MS)
  } while (performance.now() < deadlineMs)
  console.log(`     never came true: ${what}${last === undefined ? '' : `: ${last}`}`)
  return false
}

interface Statuses {
  readonly conditions?: readonly Condition[]
  readonly parents?: readonly { readonly conditions: readonly Condition[] }[]
  readonly ancestors?: readonly { readonly conditions: readonly Condition[] }[]
}

const GATEWAY_API = 'gateway.networking.k8s.io/v1'

/** A Gateway with a listener for HTTP at port 80. @param parameters name of its ProxyParameters */
export function gateway(name: string, parameters?: string, more: object = {}): object {
  const parametersRef = { group: 'gatewright.dev', kind: 'ProxyParameters', name: parameters }
  const spec = {
    gatewayClassName: GATEWAY_CLASS,
    listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    ...(parameters !== undefined && { infrastructure: { parametersRef } }),
    ...more,
  }
  return { apiVersion: GATEWAY_API, kind: 'Gateway', metadata: { name }, spec }
}

export function parameters(name: string, spec: object): object {
  return { apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyParameters', metadata: { name }, spec }
}

/** An object of the Gateway API. */
export function gatewayApiObject(kind: string, name: string, spec: object, version = 'v1'): object {
  return { apiVersion: `gateway.networking.k8s.io/${version}`, kind, metadata: { name }, spec }
}
