import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import type { Part } from '../../run-parts.ts'
import { CHARTS } from '../charts.ts'
import { CONTROLLER, installController } from '../installed-controller.ts'
import { runningCluster } from '../running-cluster.ts'
import { createTeam, gateway, gatewayApiObject, parameters, type Team } from './team.ts'

const SYSTEM = 'gatewright-requests'
const OBJECTS = join(import.meta.dirname, 'requests.yaml')

/** Rights that need not be used here, each with its reason. */
const UNUSED: readonly (readonly [rights: RegExp, reason: string])[] = [
  [/^\/secrets update$/, 'A certificate is renewed at two thirds of its life: see the part rotation.'],
  [
    /^gateway\.networking\.k8s\.io\/gateways\/finalizers update$/,
    'Clusters with OwnerReferencesPermissionEnforcement ask for it when an owner blocks its deletion.',
  ],
  [
    /^(?:gateway\.networking\.k8s\.io\/(?:backendtlspolicies|gateways|listenersets|\w+routes)|gatewright\.dev\/\w+) get$/,
    'An object is read before its status is written only when another writer was faster.',
  ],
]

/** An entry of the audit log (Kubernetes, "Auditing"). */
interface Request {
  readonly verb: string
  readonly requestReceivedTimestamp: string
  readonly requestURI: string
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly apiGroup?: string; readonly resource: string; readonly subresource?: string }
  readonly responseStatus?: { readonly code: number }
}

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

/** All requests of the controller, as the API server has recorded them, against the rights that the chart gives. */
export const checkRequests: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  const start = new Date().toISOString()
  await installController(cluster, SYSTEM, stops)
  const team = await createTeam(cluster, 'gatewright-requests-team', stops)
  await useEverything(team)
  const recorded = readFileSync(join(cluster.folder, 'log', 'audit.log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Request)
    .filter(({ requestReceivedTimestamp }) => requestReceivedTimestamp >= start)
  const account = `system:serviceaccount:${SYSTEM}:${CONTROLLER}`
  const requests = recorded.filter(({ user }) => user.username === account)
  const refused = requests.filter(({ responseStatus }) => responseStatus?.code === 403)
  transcript.check('no request is refused', [...new Set(refused.map(({ requestURI }) => requestURI))], [])
  const used = new Set(requests.flatMap(rightOf))
  const granted = grantedRights()
  transcript.check('only granted rights are used', [...used].filter((right) => !granted.has(right)).toSorted(), [])
  const unused = [...granted].filter((right) => !used.has(right) && !UNUSED.some(([rights]) => rights.test(right)))
  transcript.check('all granted rights are used', unused.toSorted(), [])
  const proxies = recorded.filter(({ user }) => user.username.startsWith(`system:serviceaccount:${team.namespace}:`))
  transcript.check('proxies ask the API server for nothing', proxies, [])
  console.log(`     ${requests.length} requests, ${used.size} rights`)
}

/** `gateway.networking.k8s.io/gateways/status update`; none: a path without objects. */
function rightOf({ verb, objectRef }: Request): readonly string[] {
  if (objectRef === undefined) return []
  const { apiGroup = '', resource, subresource } = objectRef
  return [`${apiGroup}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${verb}`]
}

function grantedRights(): ReadonlySet<string> {
  const file = join(CHARTS, 'gatewright', 'files', 'rights.yaml')
  const sections = Object.values(parse(readFileSync(file, 'utf8')) as Readonly<Record<string, readonly Rule[]>>)
  const rights = sections
    .flat()
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((name) => verbs.map((verb) => `${group}/${name} ${verb}`))),
    )
  return new Set(rights)
}

const ROUTED = [
  ...['listenerset/more', 'httproute/web', 'grpcroute/calls', 'tcproute/bytes', 'tlsroute/tls', 'backendtlspolicy/web'],
  'proxybackend/host',
]

/** Statuses of all kinds, objects of a Gateway that come, change and go, a proxy that connects, and a refusal that is repeated. */
async function useEverything(team: Team): Promise<void> {
  const { certificate, key } = await createCertificate({ dns: ['example.com'], ips: [] })
  await team.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'certificate' },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  })
  await team.kubectl(['apply', '--server-side', '-f', OBJECTS])
  await team.condition('gateway/main', 'Programmed', 'True/Programmed')
  for (const object of ROUTED) await team.condition(object, 'Accepted', 'True/Accepted')
  await team.condition('proxypolicy/web', 'Accepted', 'True/Valid')
  const scaled = async () => (await team.list('horizontalpodautoscalers')).length > 0
  await team.until('an autoscaler', scaled)
  // All objects change, two go.
  const infrastructure = {
    labels: { changed: 'yes' },
    parametersRef: { group: 'gatewright.dev', kind: 'ProxyParameters', name: 'options' },
  }
  await team.kubectl(['patch', 'gateway', 'main', '--type=merge', '-p', JSON.stringify({ spec: { infrastructure } })])
  const labelled = async () =>
    (await team.list('horizontalpodautoscalers,poddisruptionbudgets', '-l', 'changed=yes')).length === 2
  await team.until('changed objects', labelled)
  await team.apply(parameters('options', { logging: { level: 'info' } }))
  await team.until('no autoscaler', async () => !(await scaled()))
  // The same refusal twice.
  for (const name of ['absent', 'main', 'absent']) {
    const parentRefs = [{ name, sectionName: name === 'main' ? 'http' : 'none' }]
    await team.apply(gateway('absent'), gatewayApiObject('HTTPRoute', 'refused', { parentRefs }))
    await team.condition('httproute/refused', 'Accepted', name === 'main' ? 'True/Accepted' : 'False/NoMatchingParent')
  }
  const counted = async () => (await team.kubectl(['get', 'events', '-o', 'jsonpath={.items[*].count}'])).includes('2')
  await team.until('a counted event', counted)
}
