import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from '../../run-parts.ts'
import type { Transcript } from '../../transcript.ts'
import { installController } from '../installed-controller.ts'
import { runningCluster } from '../running-cluster.ts'
import { createTeam, gateway, parameters, type Team } from './team.ts'

const KINDS = 'configmaps,services,serviceaccounts,deployments,poddisruptionbudgets,horizontalpodautoscalers'
const NAME_LABEL = 'gateway.networking.k8s.io/gateway-name'

/** Parameters that cannot be used, objects of somebody else, and fields that others change. */
export const checkParameters: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  await installController(cluster, 'gatewright-parameters', stops)
  const team = await createTeam(cluster, 'gatewright-parameters-team', stops)
  await checkForeign(team, transcript)
  await team.apply(parameters('options', GOOD), gateway('main', 'options'))
  transcript.check('a proxy', await team.condition('gateway/main', 'Programmed', 'True/Programmed'), 'True/Programmed')
  await checkBad(team, transcript)
  await checkRemoved(team, transcript)
  await checkDrift(team, transcript)
  await checkHandover(team, transcript)
}

const GOOD = {
  env: [{ name: 'FIRST', value: 'yes' }],
  podDisruptionBudget: { spec: { maxUnavailable: 1 } },
  deployment: { spec: { replicas: 1, template: { metadata: { annotations: { note: 'first' } } } } },
}

const inPod = (spec: object) => ({ deployment: { spec: { template: { spec } } } })
const inProxy = (container: object) => inPod({ containers: [{ name: 'proxy', ...container }] })

/** Parameters, and what the status of the Gateway says. */
const BAD: readonly (readonly [what: string, spec: object, message: RegExp])[] = [
  [
    'an overlay that is no patch',
    inPod({ containers: [{ image: 'nameless:1' }] }),
    /spec\.deployment\.spec: the overlay cannot be applied/,
  ],
  ['another account', inPod({ serviceAccountName: 'default' }), /changes spec\.template\.spec\.serviceAccountName/],
  ['another selector', { deployment: { spec: { selector: { matchLabels: { a: 'b' } } } } }, /changes spec\.selector/],
  [
    'another token',
    inPod({ volumes: [{ name: 'controller-token', $patch: 'delete' }] }),
    /changes spec\.template\.spec\.volumes\[name=controller-token\]/,
  ],
  ['no probe', inProxy({ readinessProbe: null }), /changes .*containers\[name=proxy\]\.readinessProbe/],
  ['an unknown setting', { rawConfig: { listeners: [] } }, /is not used: spec\.rawConfig/],
  [
    'a value out of range',
    { deployment: { spec: { replicas: -1 } } },
    /Deployment gatewright-parameters-team\/main: Deployment\.apps "main" is invalid: spec\.replicas: Invalid value: -1/,
  ],
  [
    'a field that the kind does not have',
    inPod({ hostNetwrok: true }),
    /Deployment gatewright-parameters-team\/main: .*hostNetwrok/,
  ],
  [
    'a field of another type',
    inProxy({ stdin: 'maybe' }),
    /Deployment gatewright-parameters-team\/main: .*(?:stdin|boolean|bool)/,
  ],
  [
    'a volume that does not exist',
    inProxy({ volumeMounts: [{ mountPath: '/more', name: 'absent' }] }),
    /volumeMounts\[\d\]\.name: Not found: "absent"/,
  ],
  [
    'a Service of an unknown type',
    { service: { spec: { type: 'Odd' } } },
    /Service .*main.*: .*spec\.type: Unsupported value: "Odd"/,
  ],
  [
    'a budget with two rules',
    { podDisruptionBudget: { spec: { maxUnavailable: 1, minAvailable: 1 } } },
    /PodDisruptionBudget .*main.*: .*cannot be both set/,
  ],
  [
    'an autoscaler whose range is empty',
    { horizontalPodAutoscaler: { spec: { minReplicas: 3, maxReplicas: 2 } } },
    /HorizontalPodAutoscaler .*main.*: .*spec\.maxReplicas: Invalid value: 2/,
  ],
]

async function checkBad(team: Team, transcript: Transcript): Promise<void> {
  const before = await shownFleet(team)
  const refused = async (what: string, message: RegExp) => {
    const state = await team.condition('gateway/main', 'Accepted', 'False/InvalidParameters')
    const said = await team.message('gateway/main', 'Accepted')
    transcript.check(what, message.test(said) ? state : said, 'False/InvalidParameters')
  }
  for (const [what, spec, message] of BAD) {
    await team.apply(parameters('options', spec))
    await refused(what, message)
  }
  for (const [what, name, kind, message] of [
    ['missing parameters', 'absent', 'ProxyParameters', /ProxyParameters .*absent.*not found/],
    ['a reference to another kind', 'options', 'ConfigMap', /parametersRef: .*ConfigMap/],
  ] as const) {
    const group = kind === 'ConfigMap' ? '' : 'gatewright.dev'
    await team.apply(gateway('main', 'options', { infrastructure: { parametersRef: { group, kind, name } } }))
    await refused(what, message)
  }
  transcript.check('nothing that runs was touched', await shownFleet(team), before)
  await team.apply(parameters('options', GOOD), gateway('main', 'options'))
  const startMs = performance.now()
  transcript.check('mended', await team.condition('gateway/main', 'Accepted', 'True/Accepted'), 'True/Accepted')
  transcript.check('within seconds', performance.now() - startMs < 10_000, true)
  transcript.check('without another pod', await shownFleet(team), before)
}

/** What runs, without statuses. */
async function shownFleet({ list }: Team): Promise<unknown> {
  const label = ['-l', `${NAME_LABEL}=main`]
  const objects = await list(KINDS, ...label)
  const pods = await list('pods', ...label)
  return {
    objects: objects.map(({ kind, metadata: { uid }, spec }) => ({ kind, uid, spec })),
    pods: pods.map(({ metadata: { uid } }) => uid),
  }
}

/** Whoever creates an object sets fields that a later apply must remove. */
async function checkRemoved(team: Team, transcript: Transcript): Promise<void> {
  const { env: _, ...others } = GOOD
  const listeners = [{ name: 'http', port: 8080, protocol: 'HTTP' }]
  await team.apply(parameters('options', others), gateway('main', 'options', { listeners }))
  const ports = () => team.kubectl(['get', 'service', 'main', '-o', 'jsonpath={.spec.ports[*].port}'])
  await team.until('the new port', async () => (await ports()).includes('8080'))
  transcript.check('a port that is removed leaves the Service', await ports(), '8080')
  const names = 'jsonpath={.spec.template.spec.containers[0].env[*].name}'
  const env = (await team.kubectl(['get', 'deployment', 'main', '-o', names])).split(' ')
  transcript.check('a variable that is removed leaves the Deployment', env.includes('FIRST'), false)
}

/** Fields of ours return to what they were, and those of others stay. */
async function checkDrift(team: Team, transcript: Transcript): Promise<void> {
  const container = { name: 'proxy', args: ['proxy', '--controller', 'https://elsewhere.example.com'] }
  const drifted = {
    metadata: { annotations: { 'example.com/owner': 'somebody' }, labels: { 'app.kubernetes.io/managed-by': 'hand' } },
    spec: { template: { spec: { containers: [container] } } },
  }
  await team.kubectl(['patch', 'deployment', 'main', '-p', JSON.stringify(drifted)])
  await team.kubectl(['patch', 'service', 'main', '-p', JSON.stringify({ spec: { selector: { a: 'b' } } })])
  const look = async () => {
    const [deployment] = (await team.list('deployment', '-l', `${NAME_LABEL}=main`)) as unknown as [typeof drifted]
    return {
      owner: deployment.metadata.annotations['example.com/owner'],
      managedBy: deployment.metadata.labels['app.kubernetes.io/managed-by'],
      isElsewhere: JSON.stringify(deployment.spec.template.spec.containers).includes('elsewhere.example.com'),
      selector: await team.kubectl([
        'get',
        'service',
        'main',
        '-o',
        'jsonpath={.spec.selector.app\\.kubernetes\\.io/name}',
      ]),
    }
  }
  const expected = { owner: 'somebody', managedBy: 'gatewright', isElsewhere: false, selector: 'main' }
  await team.until('the changes are undone', async () => isSame(await look(), expected), 2)
  transcript.check('changes of our fields are undone, and those of others stay', await look(), expected)
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Replicas that an overlay sets stay while an autoscaler takes over. */
async function checkHandover(team: Team, transcript: Transcript): Promise<void> {
  const replicas = () => team.kubectl(['get', 'deployment', 'main', '-o', 'jsonpath={.spec.replicas}'])
  const overlay = { spec: { replicas: 2 } }
  await team.apply(parameters('options', { deployment: overlay }))
  await team.until('two replicas', async () => (await replicas()) === '2')
  const seen = new Set<string>()
  const autoscaler = { spec: { minReplicas: 2, maxReplicas: 3 } }
  await team.apply(parameters('options', { deployment: overlay, horizontalPodAutoscaler: autoscaler }))
  const watched = async () => {
    seen.add(await replicas())
    return (await team.list('horizontalpodautoscaler')).length > 0
  }
  await team.until('the autoscaler', watched)
  for (let look = 0; look < 20; look++, await sleep(100)) await watched()
  // Starting takes CPU, so it may also add one.
  const fallen = [...seen].filter((count) => Number(count) < 2)
  transcript.check('an autoscaler takes over without a fall', fallen, [])
  const [owners] = await team.list('deployment', '-l', `${NAME_LABEL}=main`, '--show-managed-fields')
  const managers = (owners!.metadata as unknown as { managedFields: readonly Manager[] }).managedFields
  const ours = managers.filter(({ manager }) => manager === 'gatewright')
  transcript.check(
    'the field is no longer ours',
    ours.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1['f:spec'] ?? {})).includes('f:replicas'),
    false,
  )
  await team.kubectl(['delete', 'gateway', 'main'])
}

interface Manager {
  readonly manager: string
  readonly fieldsV1: { readonly 'f:spec'?: object }
}

/** Objects of somebody else with the name of each kind that the controller deploys. */
const FOREIGN: Readonly<Record<string, object>> = {
  ConfigMap: { apiVersion: 'v1', data: { a: 'b' } },
  Secret: { apiVersion: 'v1', data: { key: Buffer.from('0'.repeat(64)).toString('base64') } },
  ServiceAccount: { apiVersion: 'v1' },
  Service: { apiVersion: 'v1', spec: { ports: [{ port: 1 }] } },
  Deployment: {
    apiVersion: 'apps/v1',
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a:b' }] } },
    },
  },
  PodDisruptionBudget: { apiVersion: 'policy/v1', spec: { minAvailable: 0, selector: { matchLabels: { a: 'b' } } } },
  HorizontalPodAutoscaler: {
    apiVersion: 'autoscaling/v2',
    spec: { maxReplicas: 1, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'absent' } },
  },
}

async function checkForeign(team: Team, transcript: Transcript): Promise<void> {
  const names = Object.keys(FOREIGN).map((kind) => [kind, `taken-${kind.toLowerCase()}`] as const)
  const nameOf = (kind: string, name: string) => (kind === 'Secret' ? `${name}-session-key` : name)
  const foreign = names.map(([kind, name]) => ({ kind, metadata: { name: nameOf(kind, name) }, ...FOREIGN[kind] }))
  await team.apply(...foreign)
  const versions = () =>
    Promise.all(
      names.map(([kind, name]) =>
        team.kubectl(['get', kind, nameOf(kind, name), '-o', 'jsonpath={.metadata.resourceVersion}']),
      ),
    )
  const before = await versions()
  // No pods of Gateways whose object is mended.
  await team.apply(
    parameters('none', { deployment: { spec: { replicas: 0 } }, podDisruptionBudget: {} }),
    parameters('scaled', { horizontalPodAutoscaler: {} }),
    ...names.map(([kind, name]) => gateway(name, kind === 'HorizontalPodAutoscaler' ? 'scaled' : 'none')),
  )
  for (const [kind, name] of names) {
    const state = await team.condition(`gateway/${name}`, 'Programmed', 'False/Invalid')
    const said = await team.message(`gateway/${name}`, 'Programmed')
    const expected = `${kind} ${team.namespace}/${nameOf(kind, name)}: an object with this name exists, and no controller owns it`
    transcript.check(`a foreign ${kind}`, said.includes(expected) ? state : said, 'False/Invalid')
  }
  transcript.check('they are not changed', await versions(), before)
  transcript.check('and nothing else is deployed', await team.list(KINDS, '-l', NAME_LABEL), [])
  await team.kubectl(['delete', ...foreign.map(({ kind, metadata }) => `${kind}/${metadata.name}`)])
  for (const [kind, name] of names) {
    const deployed = async () => (await team.list('deployments', '-l', `${NAME_LABEL}=${name}`)).length === 1
    const found = await team.until(name, deployed)
    transcript.check(`deployed without the foreign ${kind}`, found, true)
  }
  await team.kubectl(['delete', 'gateways', '--all'])
}
