import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from '../run-parts.ts'
import type { Transcript } from '../transcript.ts'
import { CONTROLLER, installController } from './installed-controller.ts'
import { createTeam, gateway, gatewayApiObject, parameters, type Team } from './refusals/team.ts'
import { leaderOf, signalReplica } from './replica-pods.ts'
import { kubectlIn, type RunningCluster, runningCluster } from './running-cluster.ts'

const SYSTEM = 'gatewright-replicas'
const TEAM = 'gatewright-replicas-team'
const PROXIES = 3
/** Longer than a lease is renewed without the API server, and shorter than a node without it is thought to be gone. */
const OUTAGE_MS = 20_000

interface Rig {
  readonly cluster: RunningCluster
  readonly system: ReturnType<typeof kubectlIn>
  readonly team: Team
  readonly transcript: Transcript
}

/** An entry of the audit log (Kubernetes, "Auditing"). */
interface Request {
  readonly stageTimestamp: string
  readonly verb: string
  readonly user: { readonly username: string; readonly extra?: Readonly<Record<string, readonly string[]>> }
  readonly objectRef?: { readonly resource: string; readonly name?: string; readonly subresource?: string }
  readonly responseStatus?: { readonly code: number }
}

/** Two replicas of the controller: which one writes, and what happens when it ends, is killed or paused, or when the API server is away. */
export const checkReplicas: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  await installController(cluster, SYSTEM, stops)
  const team = await createTeam(cluster, TEAM, stops)
  const rig: Rig = { cluster, system: kubectlIn(cluster, SYSTEM), team, transcript }
  const deployment = { spec: { replicas: PROXIES } }
  await team.apply(parameters('options', { deployment }), gateway('main', 'options'), route('first.example'))
  await check(rig, 'a Gateway with two replicas', () => team.condition('gateway/main', 'Programmed', TRUE), TRUE)
  await team.kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
  await untilBothServe(rig)
  await checkWriter(rig)
  await checkForwarded(rig)
  // The first leader that did not create the objects takes over the fields that others were created with, once.
  await changeLeader(rig, (leader) => deletePod(rig, leader))
  await checkChange(rig, 'the leader is deleted', (leader) => deletePod(rig, leader))
  await checkChange(rig, 'the leader is killed', (leader) => signalReplica(rig.cluster, leader, 'KILL'))
  await checkPause(rig)
  await checkChange(rig, 'all replicas are replaced', async () => {
    await rig.system(['rollout', 'restart', `deployment/${CONTROLLER}`])
    await rig.system(['rollout', 'status', `deployment/${CONTROLLER}`, '--timeout=90s'])
  })
  await checkOutage(rig)
}

const TRUE = 'True/Programmed'

function route(hostname: string): object {
  return gatewayApiObject('HTTPRoute', 'web', {
    parentRefs: [{ name: 'main' }],
    hostnames: [hostname],
    rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: 'elsewhere.example' } }] }],
  })
}

async function check<T>({ transcript }: Rig, what: string, look: () => Promise<T>, expected: T): Promise<void> {
  transcript.check(what, await look(), expected)
}

async function podsOf({ system }: Rig): Promise<readonly string[]> {
  const names = await system(['get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}'])
  return names.split(' ').filter(Boolean)
}

/** The number of proxies that are connected to a replica. */
async function connectedTo({ system }: Rig, pod: string): Promise<number> {
  const program = "fetch('http://127.0.0.1:9092/metrics').then((response) => response.text()).then(console.log)"
  const text = await system(['exec', pod, '--', 'node', '-e', program])
  const counts = [...text.matchAll(/^gatewright_proxies\{[^}]*\} (\d+)$/gm)].map(([, count]) => Number(count))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** A Service chooses at random which replica a proxy gets. */
async function untilBothServe(rig: Rig): Promise<void> {
  const { team } = rig
  await team.until(
    'proxies at both replicas',
    async () => {
      const counts = await Promise.all((await podsOf(rig)).map((pod) => connectedTo(rig, pod)))
      if (counts.reduce((sum, count) => sum + count, 0) < PROXIES) return false
      if (counts.every((count) => count > 0)) return true
      const [proxy] = (await team.list('pods')).map(({ metadata }) => metadata.name)
      await team.kubectl(['delete', 'pod', proxy!, '--grace-period=1'])
      await team.kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
      return false
    },
    3,
  )
}

/** Writes of the controller since a time, with the pod that sent them; without those that every replica may send. */
function writesSince({ cluster }: Rig, start: string): readonly { readonly pod: string; readonly what: string }[] {
  return readFileSync(join(cluster.folder, 'log', 'audit.log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Request)
    .filter(({ stageTimestamp, verb, user, objectRef }) => {
      const isOwn = user.username === `system:serviceaccount:${SYSTEM}:${CONTROLLER}`
      const isShared = /^(?:leases|tokenreviews)$/.test(objectRef?.resource ?? '')
      return isOwn && !isShared && stageTimestamp >= start && !['get', 'list', 'watch'].includes(verb)
    })
    .map(({ verb, user, objectRef, responseStatus }) => ({
      pod: user.extra?.['authentication.kubernetes.io/pod-name']?.[0] ?? '',
      what: [verb, objectRef?.resource, objectRef?.subresource, objectRef?.name, responseStatus?.code].join(' '),
    }))
}

async function checkWriter(rig: Rig): Promise<void> {
  const { transcript, team } = rig
  transcript.check('two replicas are ready', (await podsOf(rig)).length, 2)
  const start = now()
  await team.apply(route('second.example'))
  await observed(rig)
  const writers = new Set(writesSince(rig, start).map(({ pod }) => pod))
  transcript.check('one replica writes', [...writers], [await leaderOf(rig.system)])
  const budget = await rig.system(['get', 'pdb', CONTROLLER, '-o', 'jsonpath={.status.disruptionsAllowed}'])
  transcript.check('one replica may be evicted', budget, '1')
}

/** Until the status of the route is about its newest generation. */
async function observed({ team }: Rig): Promise<void> {
  await team.until('a status of the newest route', async () => {
    const { metadata, status } = JSON.parse(await team.kubectl(['get', 'httproute', 'web', '-o', 'json']))
    const conditions = status?.parents?.[0]?.conditions ?? []
    return (
      conditions.length > 0 &&
      conditions.every((each: { observedGeneration: number }) => each.observedGeneration === metadata.generation)
    )
  })
}

/** Every proxy cannot fetch a key set: the status names those of both replicas. */
async function checkForwarded(rig: Rig): Promise<void> {
  const { team, transcript } = rig
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'nowhere' }
  const jwks = { remote: { jwksPath: '/keys', backendRef } }
  const provider = { issuer: 'https://issuer.example', audiences: ['a'], jwks }
  const spec = {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'web' }],
    traffic: { jwtAuthentication: { mode: 'Strict', providers: [provider] } },
  }
  const own = { apiVersion: 'gatewright.dev/v1alpha1' }
  await team.apply(
    { ...own, kind: 'ProxyBackend', metadata: { name: 'nowhere' }, spec: { static: { host: '127.0.0.1', port: 9 } } },
    { ...own, kind: 'ProxyPolicy', metadata: { name: 'web' }, spec },
  )
  const pods = (await team.list('pods')).map(({ metadata }) => metadata.name).toSorted()
  const named = async () => {
    const message = await team.message('proxypolicy/web', 'Accepted')
    return pods.filter((pod) => message.includes(pod))
  }
  await team.until('a status with all proxies', async () => (await named()).length === PROXIES)
  transcript.check('a status names the proxies of all replicas', await named(), pods)
  await team.kubectl(['delete', 'proxypolicy/web', 'proxybackend/nowhere'])
}

/** What a change of the leader must not change. */
async function gatewayNow({ team }: Rig): Promise<string> {
  return team.kubectl(['get', 'gateway', 'main', '-o', 'jsonpath={.metadata.resourceVersion} {.status}'])
}

/** Another replica leads, and writes nothing but what is new. */
async function checkChange(rig: Rig, what: string, change: (leader: string) => Promise<void>): Promise<void> {
  const { transcript } = rig
  const [before, objects, start] = [await gatewayNow(rig), await versions(rig), now()]
  await changeLeader(rig, change)
  transcript.check(`${what}: the Gateway and its status are as before`, await gatewayNow(rig), before)
  transcript.check(`${what}: so are the objects of its proxies`, await versions(rig), objects)
  const writes = writesSince(rig, start).filter(({ what }) => what.startsWith('update httproutes status web'))
  transcript.check(`${what}: the new status is written once`, writes.filter(isTaken).length, 1)
}

/** Until another replica, or another process in the same pod, leads and has written a status. */
async function changeLeader(rig: Rig, change: (leader: string) => Promise<void>): Promise<void> {
  const start = now()
  await change(await leaderOf(rig.system))
  const next = async () => (await changedHolder(rig, start)) && (await leaderOf(rig.system)) !== ''
  await rig.team.until('another leader', next)
  await rig.team.apply(route(`at-${start.replace(/\D/g, '')}.example`))
  await observed(rig)
  await untilTwo(rig)
}

async function deletePod({ system }: Rig, pod: string): Promise<void> {
  await system(['delete', 'pod', pod])
}

function isTaken({ what }: { readonly what: string }): boolean {
  return what.endsWith(' 200')
}

async function changedHolder({ system }: Rig, start: string): Promise<boolean> {
  return (await system(['get', 'lease', CONTROLLER, '-o', 'jsonpath={.spec.acquireTime}'])) > start
}

async function untilTwo({ system, team }: Rig): Promise<void> {
  await system(['rollout', 'status', `deployment/${CONTROLLER}`, '--timeout=90s'])
  const count = async () => (await system(['get', 'pods', '-o', 'name'])).split('\n').length
  await team.until('two replicas', async () => (await count()) === 2)
}

/** Of the objects that the leader applies. A Deployment has a status, which its pods change. */
async function versions({ team }: Rig): Promise<unknown> {
  const objects = await team.list('configmaps,services,serviceaccounts,deployments', '-l', LABEL)
  return objects.map(({ kind, metadata, spec }) =>
    kind === 'Deployment' ? { kind, spec } : { kind, version: metadata.resourceVersion },
  )
}

const LABEL = 'gateway.networking.k8s.io/gateway-name=main'

/** A leader that is paused has lost its lease when it goes on, and changes nothing. */
async function checkPause(rig: Rig): Promise<void> {
  const { transcript, team } = rig
  await untilTwo(rig)
  const leader = await leaderOf(rig.system)
  await signalReplica(rig.cluster, leader, 'STOP')
  // It would write the status of this edit.
  await team.apply(route('paused.example'))
  await team.until('another leader', async () => ![leader, ''].includes(await leaderOf(rig.system)))
  await observed(rig)
  const [before, start] = [await gatewayNow(rig), now()]
  await signalReplica(rig.cluster, leader, 'CONT')
  await team.apply(route('resumed.example'))
  await observed(rig)
  await team.until('a replica that follows', async () => (await connectedTo(rig, leader)) >= 0)
  const late = writesSince(rig, start).filter(({ pod }) => pod === leader)
  transcript.check('a leader that was paused writes nothing', late, [])
  transcript.check('a leader is paused: the Gateway is as before', await gatewayNow(rig), before)
}

/** While the API server does not answer, the replicas stay ready. */
async function checkOutage(rig: Rig): Promise<void> {
  const { cluster, transcript, system, team } = rig
  await untilTwo(rig)
  const ready = () =>
    system([
      'get',
      'pods',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[0].restartCount} {.status.conditions[?(@.type=="Ready")].lastTransitionTime} {end}',
    ])
  const [before, gatewayBefore] = [await ready(), await gatewayNow(rig)]
  const server = (name: string) => cluster.inside(['sh', '-c', `kill -${name} $(pidof kube-apiserver)`])
  transcript.check('the API server is paused', (await server('STOP')).code, 0)
  await sleep(OUTAGE_MS)
  transcript.check('the API server goes on', (await server('CONT')).code, 0)
  await team.apply(route('outage.example'))
  await observed(rig)
  transcript.check('an outage: the replicas stayed ready', await ready(), before)
  transcript.check('an outage: the Gateway is as before', await gatewayNow(rig), gatewayBefore)
}

function now(): string {
  return new Date().toISOString()
}
