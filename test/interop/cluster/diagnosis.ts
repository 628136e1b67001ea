import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayState } from '#cli/status/gateway-lines.ts'
import { installedProgram } from '../counterparts.ts'
import { runClient } from '../kubernetes/clients/run-client.ts'
import type { Part } from '../run-parts.ts'
import type { Transcript } from '../transcript.ts'
import { CONTROLLER, installController } from './installed-controller.ts'
import { createTeam, gateway, gatewayApiObject, parameters, type Team } from './refusals/team.ts'
import { kubectlIn, type RunningCluster, runningCluster } from './running-cluster.ts'

const SYSTEM = 'gatewright-diagnosis'
const TEAM = 'gatewright-diagnosis-team'
const ROOT = join(import.meta.dirname, '..', '..', '..')
const GATEWRIGHT = join(ROOT, 'bin', 'gatewright')

interface Rig {
  readonly cluster: RunningCluster
  readonly team: Team
  readonly transcript: Transcript
  /** Runs a command for the Gateway, as somebody. */
  readonly ask: (words: readonly string[], kubeconfig?: string) => ReturnType<typeof runClient>
  /** Sends a request to the Gateway. */
  readonly send: (path: string) => Promise<string>
}

/** The commands for a running gateway, for the pods of a Gateway, from outside of the cluster: who lags, what is refused, and with which rights. */
export const checkDiagnosis: Part = async (transcript, stops) => {
  const curl = installedProgram('curl', 'curl')
  const cluster = runningCluster(stops)
  await installController(cluster, SYSTEM, stops)
  const team = await createTeam(cluster, TEAM, stops)
  await team.apply(
    parameters('options', { deployment: { spec: { replicas: 2 } } }),
    gateway('main', 'options'),
    route('a'),
  )
  transcript.check('a Gateway', await team.condition('gateway/main', 'Programmed', PROGRAMMED), PROGRAMMED)
  await team.kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
  const address = await team.kubectl(['get', 'service', 'main', '-o', 'jsonpath={.spec.clusterIP}'])
  const rig: Rig = {
    cluster,
    team,
    transcript,
    ask: (words, kubeconfig = cluster.kubeconfig) => {
      const environment = { KUBECONFIG: kubeconfig }
      return runClient(GATEWRIGHT, [...words, '-n', TEAM, 'main'], { input: '', environment })
    },
    send: async (path) => {
      const words = [curl, '-s', '-i', '--max-time', '5', '-H', 'host: shop.example', `http://${address}${path}`]
      return (await cluster.inside(words)).output
    },
  }
  await checkRequests(rig, stops)
  await checkVersions(rig)
  await checkRights(rig, stops)
}

const PROGRAMMED = 'True/Programmed'

function route(target: string): object {
  return gatewayApiObject('HTTPRoute', 'web', {
    parentRefs: [{ name: 'main' }],
    hostnames: ['shop.example'],
    rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: `${target}.example` } }] }],
  })
}

async function podsOf({ team }: Rig): Promise<readonly string[]> {
  const found = await team.list('pods', '-l', 'gateway.networking.k8s.io/gateway-name=main')
  return found.map(({ metadata }) => metadata.name)
}

/** `tail` shows the requests of both pods and of one that comes later, `why` finds the pod, and the others answer. */
async function checkRequests(rig: Rig, stops: AsyncDisposableStack): Promise<void> {
  const { cluster, team, transcript, ask, send } = rig
  const environment = { ...process.env, KUBECONFIG: cluster.kubeconfig }
  const child = spawn(GATEWRIGHT, ['tail', '-n', TEAM, 'main', '-o', 'json'], { env: environment })
  stops.defer(() => void child.kill())
  let [output, told] = ['', '']
  child.stdout.on('data', (text: Buffer) => (output += text))
  child.stderr.on('data', (text: Buffer) => (told += text))
  const records = () =>
    output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { pod: string; id: string; status: number })
  const seen = () => new Set(records().map(({ pod }) => pod))
  const sees = (pods: readonly string[]) =>
    team.until(`requests of ${pods}`, async () => {
      await send('/')
      return pods.every((pod) => seen().has(pod))
    })
  const pods = await podsOf(rig)
  transcript.check('tail shows the requests of both pods', await sees(pods), true)
  const { id, pod } = records()[0]!
  const why = await ask(['why', id])
  transcript.check('why names the pod', [why.code, why.output.split('\n')[0]], [0, `pod ${TEAM}/${pod}`])
  const top = await ask(['top', '--once', '--interval', '0.5', '-o', 'json'])
  transcript.check('top', (JSON.parse(top.output) as { pods: readonly string[] }).pods, pods.toSorted())
  transcript.check('mcp sessions', (await ask(['mcp', 'sessions'])).output, 'No sessions.\n')
  const file = join(folderFor(stops), 'profile')
  const profile = await ask(['profile', 'heap', '--seconds', '1', '--out', file])
  transcript.check('profile', [profile.code, readFileSync(file, 'utf8').startsWith('{')], [0, true])

  await team.kubectl(['delete', 'pod', pod, '--wait=false'])
  await team.until('the pod is gone', async () => !(await podsOf(rig)).includes(pod))
  await team.kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
  const fresh = (await podsOf(rig)).filter((name) => !pods.includes(name))
  transcript.check('tail shows the requests of a pod that replaces one', await sees(fresh), true)
  transcript.check('and says so', told.includes(`pod ${TEAM}/${fresh[0]} is shown from now on`), true)
}

/** Both pods have the same version after an edit; without a controller, status says since when. */
async function checkVersions(rig: Rig): Promise<void> {
  const { cluster, team, transcript, ask } = rig
  const state = async () => JSON.parse((await ask(['status', '-o', 'json'])).output) as GatewayState
  const before = (await state()).version
  await team.apply(route('b'))
  const isNew = await team.until('another version in both pods', async () => {
    const { version, pods } = await state()
    return version !== before && pods.every(({ report }) => report?.configuration?.inForce === version)
  })
  transcript.check('an edit makes a version that both pods have', isNew, true)
  const { code, output } = await ask(['status'])
  transcript.check('status is in order', [code, output.split('\n')[0]], [0, `${TEAM}/main: programmed`])
  const controller = kubectlIn(cluster, SYSTEM)
  await controller(['scale', `deployment/${CONTROLLER}`, '--replicas=0'])
  const isBehind = await team.until('the controller is away', async () =>
    (await state()).pods.every(({ behind }) => behind?.startsWith('the controller last confirmed it at ') === true),
  )
  transcript.check('without a controller, status says when it confirmed the version', isBehind, true)
  transcript.check('and fails', (await ask(['status'])).code, 1)
  await controller(['scale', `deployment/${CONTROLLER}`, '--replicas=2'])
  const isBack = await team.until('the controller is back', async () => (await ask(['status'])).code === 0, 2)
  transcript.check('with one, it is in order again', isBack, true)
}

const ACCOUNT = 'operator'

/** The rights of the guide are enough, and a refusal names what is missing. */
async function checkRights(rig: Rig, stops: AsyncDisposableStack): Promise<void> {
  const { cluster, team, transcript, ask } = rig
  const guide = readFileSync(join(ROOT, 'docs', 'guides', 'install-on-kubernetes.md'), 'utf8')
  const role = /<!-- rights: diagnosis -->\n+```yaml\n(.*?)```/s.exec(guide)![1]!
  stops.defer(async () => {
    await cluster.kubectl(['delete', 'clusterrole,clusterrolebinding', 'gatewright-diagnosis', '--ignore-not-found'])
  })
  await team.kubectl(['create', 'serviceaccount', ACCOUNT])
  const token = await team.kubectl(['create', 'token', ACCOUNT])
  const { clusters } = JSON.parse(await team.kubectl(['config', 'view', '--raw', '-o', 'json'])) as {
    clusters: readonly { name: string }[]
  }
  const contexts = [{ name: 'operator', context: { cluster: clusters[0]!.name, user: ACCOUNT } }]
  const users = [{ name: ACCOUNT, user: { token } }]
  const file = join(folderFor(stops), 'kubeconfig')
  writeFileSync(file, JSON.stringify({ clusters, contexts, users, 'current-context': 'operator' }), { mode: 0o600 })

  const denied = await ask(['status'], file)
  transcript.check('without rights', [denied.code, denied.output.includes('cannot get resource "gateways"')], [1, true])
  await team.kubectl(
    ['apply', '-f', '-'],
    role.replace('portforward], verbs: [get, create]', 'portforward], verbs: [get]'),
  )
  const account = `--serviceaccount=${TEAM}:${ACCOUNT}`
  await team.kubectl([
    'create',
    'clusterrolebinding',
    'gatewright-diagnosis',
    '--clusterrole=gatewright-diagnosis',
    account,
  ])
  const missing = `get and create for pods/portforward in namespace ${TEAM}`
  const names = await team.until('the binding', async () => (await ask(['status'], file)).output.includes(missing))
  transcript.check('a refusal names verbs and resource', names, true)
  await team.kubectl(['apply', '-f', '-'], role)
  const isEnough = await team.until('the role', async () => (await ask(['status'], file)).code === 0)
  transcript.check('the rights of the guide are enough', isEnough, true)
  const all = await runClient(GATEWRIGHT, ['status', '--context', 'operator'], {
    input: '',
    environment: { KUBECONFIG: file },
  })
  transcript.check('all Gateways', [all.code, all.output.includes(`${TEAM}/main: programmed\n`)], [0, true])
}

function folderFor(stops: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-diagnosis-'))
  stops.defer(() => rmSync(folder, { recursive: true }))
  return folder
}
