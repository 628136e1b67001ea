import { join } from 'node:path'
import { renderGateways } from '#cli/render/render-gateways.ts'
import { openAccess } from '#cluster/api-access.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { Fleet } from '#cluster/deploy/fleet.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { admitObject } from '#test/support/admit-object.ts'
import type { Part } from '../run-parts.ts'
import { CHARTS } from './charts.ts'
import { installGatewayApi } from './gateway-api.ts'
import { type RunningCluster, restrictedNamespace, runningCluster } from './running-cluster.ts'

const SYSTEM = 'gatewright-fleet'
const TEAM = 'gatewright-fleet-team'
const CLASS = 'gw-fleet'
const ACCOUNT = 'fleet-gatewright-controller'
const KINDS = 'configmap,service,serviceaccount,deployment,poddisruptionbudget,horizontalpodautoscaler'

const gateway = (name: string, withOptions: boolean) => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name, namespace: TEAM },
  spec: {
    gatewayClassName: CLASS,
    listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    ...(withOptions && {
      infrastructure: { parametersRef: { group: 'gatewright.dev', kind: 'ProxyParameters', name: 'options' } },
    }),
  },
})
const PARAMETERS = {
  apiVersion: 'gatewright.dev/v1alpha1',
  kind: 'ProxyParameters',
  metadata: { name: 'options', namespace: TEAM },
  spec: { podDisruptionBudget: {}, horizontalPodAutoscaler: {} },
}
const GATEWAY_CLASS = {
  kind: 'GatewayClass',
  metadata: { name: CLASS },
  spec: { controllerName: 'gatewright.dev/controller' },
}

/** Applies the objects of a Gateway with the rights that the chart gives, in a namespace with the restricted standard, and removes them. */
export const checkFleet: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  const kubectl = async (...words: readonly string[]) => (await cluster.kubectl([...words, '-n', TEAM])).output.trim()
  await installGatewayApi(cluster)
  await restrictedNamespace(cluster, SYSTEM, stops)
  await restrictedNamespace(cluster, TEAM, stops)
  stops.defer(async () => void (await cluster.helm(['uninstall', 'fleet', '-n', SYSTEM])))
  await cluster.helm([
    'upgrade',
    '--install',
    'crds',
    join(CHARTS, 'gatewright-crds'),
    '-n',
    SYSTEM,
    '--take-ownership',
  ])
  const values = `gatewayClass.name=${CLASS},namespaces={${TEAM}}`
  const installed = await cluster.helm(['install', 'fleet', join(CHARTS, 'gatewright'), '-n', SYSTEM, '--set', values])
  transcript.check('the chart is installed', installed.code, 0)
  using client = await clientOf(cluster)
  const fleet = new Fleet(client)
  const deploy = async (name: string, withOptions: boolean) => {
    await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(PARAMETERS))
    await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(gateway(name, withOptions)))
    const uid = await kubectl('get', 'gateway', name, '-o', 'jsonpath={.metadata.uid}')
    const given = gateway(name, withOptions)
    const objects = [GATEWAY_CLASS, PARAMETERS, { ...given, metadata: { ...given.metadata, uid } }].map(admitObject)
    const [rendered] = renderGateways(objects, { ...defaultSettings('1.2.3'), authority: 'PEM\n' }).gateways
    const selector = `gateway.networking.k8s.io/gateway-name=${name}`
    return fleet.deploy({ namespace: TEAM, name, uid, selector }, rendered!.objects!)
  }
  const names = () => kubectl('get', KINDS, '-l', 'gateway.networking.k8s.io/gateway-name=main', '-o', 'name')

  transcript.check('a Gateway with a budget and an autoscaler', await deploy('main', true), undefined)
  const kinds = (await names()).split('\n').map((name) => name.split('/')[0])
  transcript.check('its objects', kinds, [
    'configmap',
    'service',
    'serviceaccount',
    'deployment.apps',
    'poddisruptionbudget.policy',
    'horizontalpodautoscaler.autoscaling',
  ])
  await kubectl('wait', '--for=jsonpath={.status.replicas}=1', 'deployment/main', '--timeout=30s')
  const failure = 'jsonpath={.status.conditions[?(@.type=="ReplicaFailure")].message}'
  transcript.check(
    'its Pod fits the restricted standard',
    await kubectl('get', 'deployment', 'main', '-o', failure),
    '',
  )
  transcript.check('without them', await deploy('main', false), undefined)
  const left = (await names()).split('\n').filter((name) => /budget|autoscaler/.test(name))
  transcript.check('budget and autoscaler are deleted', left, [])

  await kubectl('create', 'serviceaccount', 'other')
  const refusal = await deploy('other', false)
  transcript.check(
    'an object of the same name is not adopted',
    [refusal?.reason, refusal?.object],
    ['foreign', `ServiceAccount ${TEAM}/other`],
  )
  await kubectl('delete', 'gateway', 'main')
  await kubectl(
    'wait',
    '--for=delete',
    'deployment/main',
    'service/main',
    'configmap/main',
    'serviceaccount/main',
    '--timeout=60s',
  )
  transcript.check('the objects of a deleted Gateway are deleted', await names(), '')
}

/** With the token of the controller, and thus its rights. */
async function clientOf({ kubectl }: RunningCluster): Promise<ApiClient> {
  const { output: token } = await kubectl(['create', 'token', ACCOUNT, '-n', SYSTEM])
  const { output } = await kubectl(['config', 'view', '--raw', '-o', 'json'])
  const { clusters } = JSON.parse(output) as { clusters: readonly { cluster: Record<string, string> }[] }
  const [{ cluster }] = clusters as [{ cluster: Record<string, string> }]
  return new ApiClient(await openAccess({ cluster, user: { token: token.trim() }, userName: ACCOUNT, folder: '/' }))
}
