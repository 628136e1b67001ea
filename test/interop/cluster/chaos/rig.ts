import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SeededRandom } from '#test/support/seeded-random.ts'
import { installedProgram } from '../../counterparts.ts'
import { REPOSITORY, TAG } from '../image.ts'
import { CONTROLLER, installController } from '../installed-controller.ts'
import { createTeam, gateway, gatewayApiObject, parameters, type Team } from '../refusals/team.ts'
import { kubectlIn, type RunningCluster, runningCluster } from '../running-cluster.ts'

export const SYSTEM = 'gatewright-chaos'
const TEAM = 'gatewright-chaos-team'

/** The shortest rotation that fits into a run several times. */
const CERTIFICATE_LIFE = '6m'

/** Gateways whose proxies run. */
export const RUNNING = ['main', 'second', 'third'] as const

/** A cluster with a controller of two replicas, four proxies of three Gateways, and a backend. */
export interface Rig {
  readonly cluster: RunningCluster
  readonly system: ReturnType<typeof kubectlIn>
  readonly team: Team
  readonly random: SeededRandom
  /** Of the Gateway with two proxies. */
  readonly url: string
  /** An edit of the route that only a controller can deliver. @returns whether the proxies have got it */
  editArrives(): Promise<boolean>
}

export async function startRig(random: SeededRandom, stops: AsyncDisposableStack): Promise<Rig> {
  installedProgram('wrk', 'wrk')
  const curl = installedProgram('curl', 'curl')
  const cluster = runningCluster(stops)
  await installController(cluster, SYSTEM, stops, ['--set', `tls.life=${CERTIFICATE_LIFE}`])
  const team = await createTeam(cluster, TEAM, stops)
  await team.apply(
    parameters('options', { deployment: { spec: { replicas: 2 } }, podDisruptionBudget: {} }),
    parameters('none', { deployment: { spec: { replicas: 0 } } }),
    ...RUNNING.slice(1).map((name) => gateway(name)),
    POLICY,
  )
  const objects = readFileSync(join(import.meta.dirname, '..', 'traffic', 'rollouts.yaml'), 'utf8')
  await team.kubectl(['apply', '-f', '-'], objects.replace('IMAGE', `${REPOSITORY}:${TAG}`))
  for (const name of RUNNING) {
    await team.kubectl(['wait', '--for=condition=Programmed', `gateway/${name}`, '--timeout=120s'])
    await team.kubectl(['rollout', 'status', `deployment/${name}`, '--timeout=90s'])
  }
  await team.kubectl(['rollout', 'status', 'deployment/backend', '--timeout=90s'])
  const address = await team.kubectl(['get', 'gateway', 'main', '-o', 'jsonpath={.status.addresses[0].value}'])
  const url = `http://${address}/`
  let edits = 0
  const editArrives = () => {
    const edit = `${edits++}`
    const filter = {
      type: 'ResponseHeaderModifier',
      responseHeaderModifier: { set: [{ name: 'x-edit', value: edit }] },
    }
    const patch = [{ op: 'add', path: '/spec/rules/0/filters', value: [filter] }]
    const send = () => team.kubectl(['patch', 'httproute', 'main', '--type=json', '-p', JSON.stringify(patch)])
    return team.until(
      `edit ${edit}`,
      async () => {
        await send()
        const { output } = await cluster.inside([curl, '-s', '-i', '--max-time', '10', url])
        return output.includes(`x-edit: ${edit}\r\n`)
      },
      3,
    )
  }
  return { cluster, system: kubectlIn(cluster, SYSTEM), team, random, url, editArrives }
}

/** A policy of the route, whose definition a fault removes. */
export const POLICY = {
  apiVersion: 'gatewright.dev/v1alpha1',
  kind: 'ProxyPolicy',
  metadata: { name: 'main' },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'main' }],
    traffic: { timeouts: { request: '30s' } },
  },
}

/** Until both replicas are ready and one leads. */
export async function untilControlled({ system, team }: Pick<Rig, 'system' | 'team'>): Promise<void> {
  await team.until(
    'two replicas of the controller',
    async () => {
      await system(['rollout', 'status', `deployment/${CONTROLLER}`, '--timeout=5s'])
      return (await system(['get', 'lease', CONTROLLER, '-o', 'jsonpath={.spec.holderIdentity}'])) !== ''
    },
    3,
  )
}

/** Routes beside the one that is used, which give a controller work. */
export function spareRoutes(count: number, hostname: string): readonly object[] {
  return Array.from({ length: count }, (_, i) =>
    gatewayApiObject('HTTPRoute', `spare-${i}`, {
      parentRefs: [{ name: 'main' }],
      hostnames: [`${i}.${hostname}`],
      rules: [{ backendRefs: [{ name: 'backend', port: 80 }] }],
    }),
  )
}
