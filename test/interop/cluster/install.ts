import { join } from 'node:path'
import { parse } from 'yaml'
import type { Part } from '../run-parts.ts'
import { CHARTS } from './charts.ts'
import { installGatewayApi } from './gateway-api.ts'
import { importOwnImage, REPOSITORY, TAG } from './image.ts'
import { restrictedNamespace, runningCluster } from './running-cluster.ts'

const NAMESPACE = 'gatewright-install'
const TEAM = 'gatewright-install-team'
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:gw-gatewright-controller`
/** A release with names of its own, so that another installation in the cluster is left alone. */
const VALUES = [
  ...['--set', `image.registry=,image.repository=${REPOSITORY},image.tag=${TAG}`],
  ...['--set', 'gatewayClass.name=gw-install,controllerName=gatewright.dev/install'],
]

/** Whether the account may do something, with all namespaces and with two. */
const RIGHTS: readonly (readonly [question: string, everywhere: string, inTeam: string])[] = [
  ['list gateways.gateway.networking.k8s.io -n default', 'yes', 'no'],
  [`list gateways.gateway.networking.k8s.io -n ${TEAM}`, 'yes', 'yes'],
  [`update httproutes.gateway.networking.k8s.io --subresource=status -n ${TEAM}`, 'yes', 'yes'],
  [`patch httproutes.gateway.networking.k8s.io -n ${TEAM}`, 'no', 'no'],
  ['get secrets -n kube-system', 'yes', 'no'],
  [`create deployments.apps -n ${TEAM}`, 'yes', 'yes'],
  ['create deployments.apps -n default', 'yes', 'no'],
  [`create pods -n ${TEAM}`, 'no', 'no'],
  [`delete secrets -n ${TEAM}`, 'no', 'no'],
  [`create secrets -n ${NAMESPACE}`, 'yes', 'yes'],
  ['create tokenreviews.authentication.k8s.io', 'yes', 'yes'],
  ['list namespaces', 'yes', 'yes'],
  ['update gatewayclasses.gateway.networking.k8s.io', 'yes', 'yes'],
  ['list customresourcedefinitions.apiextensions.k8s.io', 'no', 'no'],
  [`create events -n ${TEAM}`, 'yes', 'yes'],
  ['create clusterroles.rbac.authorization.k8s.io', 'no', 'no'],
]

/** What users with the roles of the cluster may do. */
const USERS: readonly (readonly [role: string, question: string, expected: string])[] = [
  ['view', 'list proxyparameters.gatewright.dev', 'yes'],
  ['view', 'create proxypolicies.gatewright.dev', 'no'],
  ['edit', 'create proxypolicies.gatewright.dev', 'yes'],
  ['edit', 'create proxyparameters.gatewright.dev', 'no'],
  ['admin', 'create proxyparameters.gatewright.dev', 'yes'],
]

/** Installs the charts with Helm, in all namespaces and in two, and removes them. */
export const checkInstall: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  const { kubectl, helm } = cluster
  await installGatewayApi(cluster)
  await importOwnImage(cluster)
  await restrictedNamespace(cluster, NAMESPACE, stops)
  await restrictedNamespace(cluster, TEAM, stops)
  const run = async (...words: readonly string[]) => {
    const { code, output } = await helm([...words, '-n', NAMESPACE])
    transcript.check(`helm ${words.slice(0, 2).join(' ')}`, code === 0 ? '' : output, '')
  }
  stops.defer(async () => void (await helm(['uninstall', 'gw', '-n', NAMESPACE])))
  await run('install', 'gw-crds', join(CHARTS, 'gatewright-crds'), '--take-ownership')
  await run('install', 'gw', join(CHARTS, 'gatewright'), ...VALUES)
  const may = async (question: string, user: string) =>
    (await kubectl(['auth', 'can-i', ...question.split(' '), `--as=${user}`])).output.trim().split('\n').at(-1)
  for (const [question, expected] of RIGHTS) transcript.check(question, await may(question, ACCOUNT), expected)
  for (const [role, question, expected] of USERS) {
    await kubectl(['create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}`, '-n', TEAM])
    transcript.check(`${role}: ${question}`, await may(`${question} -n ${TEAM}`, role), expected)
  }
  await run('upgrade', 'gw', join(CHARTS, 'gatewright'), ...VALUES, '--set', `namespaces={${NAMESPACE},${TEAM}}`)
  for (const [question, , expected] of RIGHTS) {
    transcript.check(`with namespaces: ${question}`, await may(question, ACCOUNT), expected)
  }
  const { output } = await kubectl(['get', 'replicaset,pod', '-n', NAMESPACE, '-o', 'yaml'])
  const { items } = parse(output) as {
    items: readonly { kind: string; status: { conditions?: readonly Condition[] } }[]
  }
  const refused = items.flatMap(({ status }) => status.conditions ?? []).filter(({ type }) => type === 'ReplicaFailure')
  transcript.check('the Pod fits the restricted standard', refused, [])
  await run('uninstall', 'gw')
  await run('uninstall', 'gw-crds')
  const left = await kubectl(['get', 'clusterrole,clusterrolebinding,gatewayclass', '-o', 'name'])
  transcript.check('uninstall leaves nothing', left.output.match(/^.*\/gw-.*$/gm), null)
  const definitions = await kubectl(['get', 'crd', 'proxypolicies.gatewright.dev', '-o', 'name'])
  transcript.check('but the definitions', definitions.code, 0)
}

interface Condition {
  readonly type: string
  readonly message: string
}
