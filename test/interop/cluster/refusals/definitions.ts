import type { Part } from '../../run-parts.ts'
import { installGatewayApi, readDefinition } from '../gateway-api.ts'
import { CONTROLLER, installController } from '../installed-controller.ts'
import { kubectlIn, runningCluster } from '../running-cluster.ts'
import { createTeam, gateway, gatewayApiObject } from './team.ts'

const SYSTEM = 'gatewright-definitions'
/** Not in the standard channel of older versions of the Gateway API. */
const OPTIONAL = {
  TCPRoute: 'tcproutes',
  TLSRoute: 'tlsroutes',
  ListenerSet: 'listenersets',
  BackendTLSPolicy: 'backendtlspolicies',
}
/** Refuses to put definitions of one channel in the place of those of the other. */
const GUARDS = ['validatingadmissionpolicy', 'validatingadmissionpolicybinding']

interface Line {
  readonly code?: string
  readonly message: string
  readonly problem?: string
}

/** A cluster without the definitions of optional kinds, which appear one by one, in one served version after the other. */
export const checkDefinitions: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  stops.defer(() => installGatewayApi(cluster))
  await installController(cluster, SYSTEM, stops)
  const team = await createTeam(cluster, 'gatewright-definitions-team', stops)
  const system = kubectlIn(cluster, SYSTEM)
  const lines = async () =>
    (await system(['logs', `deployment/${CONTROLLER}`]))
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
  const absent = async () => {
    const found = (await lines()).filter((line) => line.code === 'kind-not-served' && line.message === 'problem')
    return found.map(({ problem }) => /serves no (\w+)/.exec(problem ?? '')?.[1]).toSorted()
  }
  const kinds = Object.keys(OPTIONAL).toSorted()
  const untilAll = () => team.until('all findings', async () => `${await absent()}` === `${kinds}`)

  for (const guard of GUARDS) await system(['delete', guard, 'safe-upgrades.gateway.networking.k8s.io'])
  for (const plural of Object.values(OPTIONAL)) await system(['delete', 'crd', `${plural}.gateway.networking.k8s.io`])
  await untilAll()
  transcript.check('kinds whose definitions are deleted are findings', await absent(), kinds)
  await system(['rollout', 'restart', `deployment/${CONTROLLER}`])
  await system(['rollout', 'status', `deployment/${CONTROLLER}`, '--timeout=60s'])
  await untilAll()
  transcript.check('a controller that starts without them is ready, and has these findings', await absent(), kinds)
  const pod = () =>
    system([
      'get',
      'pods',
      '-l',
      'app.kubernetes.io/component=controller',
      '--field-selector=status.phase=Running',
      '-o',
      PODS,
    ])
  const started = await pod()

  const tls = { name: 'tls', port: 443, protocol: 'TLS', tls: { mode: 'Passthrough' } }
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }, { name: 'tcp', port: 9000, protocol: 'TCP' }, tls]
  const allowedListeners = { namespaces: { from: 'Same' } }
  const parentRefs = [{ name: 'main' }]
  const backendRefs = [{ name: 'web', port: 80 }]
  await team.apply(
    gateway('main', undefined, { listeners, allowedListeners }),
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } },
    gatewayApiObject('HTTPRoute', 'web', { parentRefs, rules: [{ backendRefs }] }),
  )
  const checkAccepted = async (what: string, object: string) =>
    transcript.check(what, await team.condition(object, 'Accepted', 'True/Accepted'), 'True/Accepted')
  await checkAccepted('other routes work', 'httproute/web')
  const define = (plural: string, versions?: readonly string[]) =>
    system(['apply', '--server-side', '-f', '-'], readDefinition(plural, versions)).then(() =>
      system(['wait', '--for=condition=Established', `crd/${plural}.gateway.networking.k8s.io`, '--timeout=30s']),
    )
  for (const version of ['v1alpha2', 'v1alpha3', 'v1']) {
    await define('tlsroutes', [version])
    const route = {
      parentRefs: [{ name: 'main', sectionName: 'tls' }],
      hostnames: [`${version}.example.com`],
      rules: [{ backendRefs }],
    }
    await team.until(`TLSRoute ${version}`, () =>
      team.apply(gatewayApiObject('TLSRoute', version, route, version)).then(() => true),
    )
    await checkAccepted(
      `a TLSRoute when only ${version} is served`,
      `tlsroute.${version}.gateway.networking.k8s.io/${version}`,
    )
  }
  for (const plural of ['tcproutes', 'listenersets', 'backendtlspolicies']) await define(plural)
  const targetRefs = [{ group: '', kind: 'Service', name: 'web' }]
  const validation = { hostname: 'web.example.com', wellKnownCACertificates: 'System' }
  await team.until('objects of late kinds', () =>
    team
      .apply(
        gatewayApiObject('TCPRoute', 'late', {
          parentRefs: [{ name: 'main', sectionName: 'tcp' }],
          rules: [{ backendRefs }],
        }),
        gatewayApiObject('ListenerSet', 'late', {
          parentRef: parentRefs[0],
          listeners: [{ name: 'more', port: 8080, protocol: 'HTTP' }],
        }),
        gatewayApiObject('BackendTLSPolicy', 'late', { targetRefs, validation }),
      )
      .then(() => true),
  )
  for (const kind of ['tcproute', 'listenerset', 'backendtlspolicy'])
    await checkAccepted(`a late ${kind}`, `${kind}/late`)
  const isComplete = async () =>
    (await lines()).some(({ message }) => message === 'the objects of the cluster are complete, and none has errors')
  transcript.check('the findings are gone', await team.until('no finding', isComplete), true)
  transcript.check('without a restart', await pod(), started)
}

const PODS = 'jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount}{end}'
