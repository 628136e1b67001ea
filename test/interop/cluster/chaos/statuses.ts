import { CONTROLLER } from '../installed-controller.ts'
import type { Team } from '../refusals/team.ts'
import type { kubectlIn } from '../running-cluster.ts'

const KINDS = 'gateways,httproutes,proxypolicies,proxyparameters'

interface Object {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly generation?: number }
  readonly status?: unknown
}

async function objectsOf({ kubectl }: Team): Promise<readonly Object[]> {
  return (JSON.parse(await kubectl(['get', KINDS, '-o', 'json'])) as { items: Object[] }).items
}

/** The statuses of all objects, without times. */
export async function statusesNow(team: Team): Promise<Readonly<Record<string, unknown>>> {
  const entries = (await objectsOf(team)).map(({ kind, metadata, status }) => [
    `${kind}/${metadata.name}`,
    timeless(status),
  ])
  return Object.fromEntries(entries)
}

/** Whether all statuses are about the objects as they are. */
export async function areStatusesCurrent(team: Team): Promise<boolean> {
  return (await objectsOf(team)).every(({ metadata, status }) => {
    const generations = JSON.stringify(status ?? {}).match(/(?<="observedGeneration":)\d+/g) ?? []
    return generations.every((generation) => Number(generation) === metadata.generation)
  })
}

/** Without the member that says when a condition changed. */
function timeless(value: unknown): unknown {
  return value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value, (name, each) => (name === 'lastTransitionTime' ? undefined : each)))
}

/** Removes all statuses while no controller runs, and starts a controller. */
export async function withoutStatuses(system: ReturnType<typeof kubectlIn>, team: Team): Promise<void> {
  await system(['scale', `deployment/${CONTROLLER}`, '--replicas=0'])
  await system(['wait', '--for=delete', 'pod', '-l', 'app.kubernetes.io/component=controller', '--timeout=120s'])
  for (const { kind, metadata, status } of await objectsOf(team)) {
    if (status === undefined) continue
    const words = ['patch', `${kind.toLowerCase()}/${metadata.name}`, '--subresource=status', '--type=json']
    await team.kubectl([...words, '-p', JSON.stringify([{ op: 'remove', path: '/status' }])])
  }
  await system(['scale', `deployment/${CONTROLLER}`, '--replicas=2'])
  await system(['rollout', 'status', `deployment/${CONTROLLER}`, '--timeout=120s'])
}
