import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CHARTS } from '../charts.ts'
import { CONTROLLER } from '../installed-controller.ts'
import { gateway } from '../refusals/team.ts'
import { leaderOf, signalReplica } from '../replica-pods.ts'
import { POLICY, type Rig, SYSTEM, spareRoutes, untilControlled } from './rig.ts'

/** Does something that must not be noticed, and ends when it is over. @throws Error if the cluster does not come back */
export type Fault = (rig: Rig) => Promise<void>

const SHORTEST_MS = 10_000
const PARTITION_MS = 40_000
const OUTAGE_MS = 120_000
/** Until the kubelet has told a server that is back that its node is ready. */
const HEARTBEAT_MS = 15_000
const IDLE_GATEWAYS = 100

export const FAULTS: Readonly<Record<string, Fault>> = {
  async 'the leader is killed in the middle of a sync'(rig) {
    const leader = await leaderOf(rig.system)
    const applied = rig.team.apply(...spareRoutes(20, `${rig.random.below(1000)}.example`))
    await sleep(rig.random.below(1000))
    await signalReplica(rig.cluster, leader, 'KILL')
    await applied
    await untilControlled(rig)
  },

  async 'the leader is paused'(rig) {
    const leader = await leaderOf(rig.system)
    await signalReplica(rig.cluster, leader, 'STOP')
    await sleep(SHORTEST_MS + rig.random.below(20_000))
    await signalReplica(rig.cluster, leader, 'CONT')
    await untilControlled(rig)
  },

  async 'the leader is cut off from the API and the other replica'(rig) {
    const leader = await leaderOf(rig.system)
    const addressOf = (pod: string) => rig.system(['get', 'pod', pod, '-o', 'jsonpath={.status.podIP}'])
    const pods = (await rig.system(['get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ')
    const other = await addressOf(pods.find((pod) => pod !== leader)!)
    const address = await addressOf(leader)
    const rules = [
      'add table ip chaos',
      'add chain ip chaos input { type filter hook input priority -10; }',
      'add chain ip chaos forward { type filter hook forward priority -10; }',
      `add rule ip chaos input ip saddr ${address} tcp dport 6443 drop`,
      `add rule ip chaos forward ip saddr ${address} ip daddr ${other} drop`,
      `add rule ip chaos forward ip saddr ${other} ip daddr ${address} drop`,
    ]
    await inside(rig, 'nft', rules.join('; '))
    try {
      await rig.team.until('another leader', async () => ![leader, ''].includes(await leaderOf(rig.system)))
      await sleep(rig.random.below(PARTITION_MS))
    } finally {
      await inside(rig, 'nft', 'delete table ip chaos')
    }
    await untilControlled(rig)
  },

  async 'the API server does not answer for minutes'(rig) {
    // A node that reports nothing would be thought to be gone, with its pods: not by a manager that waits, too.
    await signalPrograms(rig, 'STOP', 'kube-controller-manager', 'kube-apiserver')
    await sleep(OUTAGE_MS)
    await signalPrograms(rig, 'CONT', 'kube-apiserver')
    await sleep(HEARTBEAT_MS)
    await signalPrograms(rig, 'CONT', 'kube-controller-manager')
    await untilControlled(rig)
  },

  async 'watches end with 410: etcd is compacted, and the API server starts anew'(rig) {
    await rig.team.apply(...spareRoutes(5, `${rig.random.below(1000)}.example`))
    await inside(rig, 'sh', '-c', COMPACT)
    await signalPrograms(rig, 'STOP', 'kube-controller-manager')
    await inside(rig, 'sh', '-c', RESTART_API_SERVER)
    await rig.team.until('the API server', async () => (await rig.system(['get', '--raw', '/readyz'])) === 'ok', 2)
    await sleep(HEARTBEAT_MS)
    await signalPrograms(rig, 'CONT', 'kube-controller-manager')
    await untilControlled(rig)
  },

  async 'a definition is removed and restored'(rig) {
    await rig.team.kubectl(['delete', 'customresourcedefinition', 'proxypolicies.gatewright.dev', '--timeout=60s'])
    await sleep(SHORTEST_MS)
    const chart = join(CHARTS, 'gatewright-crds')
    const { code, output } = await rig.cluster.helm([
      ...['upgrade', '--install', 'gatewright-crds', chart, '--take-ownership'],
      ...['-n', SYSTEM],
    ])
    if (code !== 0) throw new Error(output)
    await rig.team.until('the policy', async () => {
      await rig.team.apply(POLICY)
      return true
    })
    await settle(rig, 'the policy has a status', () => rig.team.condition('proxypolicy/main', 'Accepted', 'True/Valid'))
  },

  async 'a hundred Gateways without proxies come and go'(rig) {
    const names = Array.from({ length: IDLE_GATEWAYS }, (_, i) => `idle-${i}`)
    await rig.team.apply(...names.map((name) => gateway(name, 'none')))
    const deployed = async () => (await idleDeployments(rig)).length
    await settle(rig, 'their Deployments', async () => (await deployed()) === IDLE_GATEWAYS)
    await rig.team.kubectl(['delete', 'gateway', ...names, '--wait=false'])
    await settle(rig, 'their Deployments are gone', async () => (await deployed()) === 0)
  },

  async 'all proxies are replaced'(rig) {
    await rig.team.kubectl(['rollout', 'restart', 'deployment/main'])
    await rig.team.kubectl(['rollout', 'status', 'deployment/main', '--timeout=120s'])
  },

  async 'all replicas of the controller are replaced'(rig) {
    await rig.system(['rollout', 'restart', `deployment/${CONTROLLER}`])
    await rig.system(['rollout', 'status', `deployment/${CONTROLLER}`, '--timeout=120s'])
    await untilControlled(rig)
  },

  async 'the certificate of the controller is replaced at once'(rig) {
    await rig.system(['delete', 'secret', `${CONTROLLER}-authority`])
    await settle(rig, 'the next certificate', async () => {
      await rig.system(['get', 'secret', `${CONTROLLER}-authority`])
      return true
    })
    await untilControlled(rig)
  },
}

async function inside({ cluster }: Rig, ...words: readonly string[]): Promise<void> {
  const { code, output } = await cluster.inside(words)
  if (code !== 0) throw new Error(`${words[0]}: ${output}`)
}

function signalPrograms(rig: Rig, signal: string, ...names: readonly string[]): Promise<void> {
  return inside(rig, 'sh', '-c', `kill -${signal} ${names.map((name) => `$(pidof ${name})`).join(' ')}`)
}

async function settle({ team }: Rig, what: string, look: () => Promise<boolean | string>): Promise<void> {
  const found = await team.until(what, async () => Boolean(await look()), 3)
  if (!found) throw new Error(`never came true: ${what}`)
}

async function idleDeployments({ team }: Rig): Promise<readonly string[]> {
  const all = await team.list('deployments')
  return all.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('idle-'))
}

/** By the gateway of etcd for JSON (etcd, "gRPC gateway"). */
const COMPACT = `
  post() { curl -sf -d "$2" http://127.0.0.1:2379/v3/kv/$1; }
  revision=$(post range '{"key":"AA=="}' | sed 's/.*"revision":"\\([0-9]*\\)".*/\\1/')
  post compaction '{"revision":"'$revision'","physical":true}'`

const RESTART_API_SERVER = `
  set -e
  pid=$(pidof kube-apiserver)
  words=$(mktemp)
  cat /proc/$pid/cmdline > $words
  log=$(readlink /proc/$pid/fd/1)
  kill -9 $pid
  while ss -Hltn 'sport = :6443' | grep -q .; do sleep 0.2; done
  setsid xargs -0 -a $words sh -c 'exec "$@"' sh >> "$log" 2>&1 </dev/null &`
