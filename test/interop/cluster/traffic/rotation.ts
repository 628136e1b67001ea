import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { installedProgram } from '../../counterparts.ts'
import type { Part } from '../../run-parts.ts'
import { CHARTS } from '../charts.ts'
import { REPOSITORY, TAG } from '../image.ts'
import { CONTROLLER, installController } from '../installed-controller.ts'
import { kubectlIn, restrictedNamespace, runningCluster } from '../running-cluster.ts'
import { startLoad } from './wrk-load.ts'

const SYSTEM = 'gatewright-rotation'
const TEAM = 'gatewright-rotation-team'
const SELECTOR = 'gateway.networking.k8s.io/gateway-name=main'
const HOST = `${CONTROLLER}.${SYSTEM}.svc`
/** A twelfth is a minute, in which a kubelet has written a changed ConfigMap into its pods. */
const LIFE = '12m'
const ROTATION_MS = 14 * 60_000
const PATIENCE_MS = 180_000
/** Seconds; the least that Kubernetes allows. */
const TOKEN_LIFE = 600

/** Connects to the controller once a second, with the authorities that the pod has then. Prints each certificate and each failure once. */
const CONNECT = `
const told = new Set()
const tell = (text) => told.has(text) || (told.add(text), console.log(text))
const connect = () => {
  const ca = fs.readFileSync('/config/ca.crt')
  const socket = tls.connect({ host: '${HOST}', port: 9978, servername: '${HOST}', ca, ALPNProtocols: ['h2'] })
  socket.on('error', ({ message }) => tell('failed: ' + message))
  socket.on('secureConnect', () => (tell(socket.getPeerX509Certificate().fingerprint256), socket.end()))
  socket.on('close', () => setTimeout(connect, 1000))
}
connect()`

/** Does that in the background of the pod. */
const START = `
const stdio = ['ignore', fs.openSync('/tmp/seen', 'w'), 'ignore']
child_process.spawn(process.execPath, ['-e', ${JSON.stringify(CONNECT)}], { detached: true, stdio }).unref()`

/** Certificate and authority of the controller are replaced under load, tokens of proxies as well; then others write the certificate. */
export const checkRotation: Part = async (transcript, stops) => {
  const curl = installedProgram('curl', 'curl')
  const cluster = runningCluster(stops)
  await installController(cluster, SYSTEM, stops, ['--set', `tls.life=${LIFE}`])
  await restrictedNamespace(cluster, TEAM, stops)
  const [kubectl, controller] = [kubectlIn(cluster, TEAM), kubectlIn(cluster, SYSTEM)]
  const objects = readFileSync(join(import.meta.dirname, 'rollouts.yaml'), 'utf8')
  await kubectl(['create', '-f', '-'], parameters(2))
  await kubectl(['apply', '-f', '-'], objects.replace('IMAGE', `${REPOSITORY}:${TAG}`))
  await kubectl(['wait', '--for=condition=Programmed', 'gateway/main', '--timeout=90s'])
  await kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
  await kubectl(
    ['create', '-f', '-'],
    JSON.stringify(withShortToken(await kubectl(['get', 'deployment/main', '-o', 'json']))),
  )
  await kubectl(['wait', '--for=condition=Ready', 'pod/short', '--timeout=90s'])
  const pods = (await kubectl(['get', 'pods', '-l', SELECTOR, '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ')
  const addresses = (await kubectl(['get', 'pods', '-l', SELECTOR, '-o', 'jsonpath={.items[*].status.podIP}'])).split(
    ' ',
  )
  const url = `http://${await kubectl(['get', 'gateway', 'main', '-o', 'jsonpath={.status.addresses[0].value}'])}/`
  const ask = async (to: string) => (await cluster.inside([curl, '-s', '-i', '--max-time', '10', to])).output
  await eventually('the backend', async () => (await ask(url)).startsWith('HTTP/1.1 200'), PATIENCE_MS)

  const secret = async (name = `${CONTROLLER}-authority`) => {
    const { data } = JSON.parse(await controller(['get', 'secret', name, '-o', 'json'])) as { data: Entries }
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    )
  }
  const first = await secret()
  const loads = [startLoad(cluster, url), startLoad(cluster, url, { isClosing: true })]
  const inPod = (pod: string, ...words: readonly string[]) =>
    kubectl(['exec', pod, '-c', 'proxy', '--', 'node', ...words])
  const seen = () => Promise.all(pods.map((pod) => inPod(pod, '-p', "fs.readFileSync('/tmp/seen', 'utf8').trim()")))
  for (const pod of pods) await inPod(pod, '-e', START)
  const steps: string[] = []
  await eventually(
    'a rotation',
    async () => {
      const step = stepOf(await secret())
      if (step !== steps.at(-1)) steps.push(step)
      return steps.length === 4
    },
    ROTATION_MS,
  )
  transcript.check('the steps', steps, [
    '1 authority',
    '2 authorities, a next certificate',
    '2 authorities',
    '1 authority',
  ])
  const second = await secret()
  const untilMs = Date.parse(new X509Certificate(first['tls.crt']!).validTo)
  await eventually('the end of the first certificate', () => Date.now() > untilMs + 5000, PATIENCE_MS)
  await setHeader(kubectl, 'first')
  for (const address of addresses)
    await eventually(
      `an edit at ${address}`,
      async () => (await ask(`http://${address}/`)).includes('x-edit: first'),
      PATIENCE_MS,
    )
  const expected = [first, second].map(fingerprintOf).join('\n')
  transcript.check(
    'every connection succeeds',
    await seen(),
    pods.map(() => expected),
  )
  for (const load of loads) {
    const { requests, failures } = await load.end()
    transcript.check('requests without a failure', [requests > 1000, failures], [true, []])
  }
  const restarts = await kubectl(['get', 'pods', '-l', SELECTOR, '-o', `jsonpath=${RESTARTS}`])
  transcript.check('no proxy restarts', restarts.replaceAll(' ', ''), '000')

  // As cert-manager does it.
  const others = [
    await createCertificate({ dns: [HOST], ips: [] }),
    await createCertificate({ dns: [HOST], ips: [] }),
  ] as const
  const write = (entries: Entries) =>
    controller(['apply', '-f', '-'], JSON.stringify({ ...SECRET, stringData: entries }))
  await write({ 'ca.crt': others[0].ca, 'tls.crt': others[0].certificate, 'tls.key': others[0].key })
  const words = [
    '--reuse-values',
    '--set',
    `tls.secretName=${SECRET.metadata.name}`,
    '--wait',
    '--timeout',
    '2m',
    '-n',
    SYSTEM,
  ]
  const upgraded = await cluster.helm(['upgrade', 'gatewright', join(CHARTS, 'gatewright'), ...words])
  transcript.check('a Secret of others', upgraded.code === 0 ? '' : upgraded.output, '')
  await setHeader(kubectl, 'second')
  for (const address of addresses)
    await eventually(
      `an edit at ${address}`,
      async () => (await ask(`http://${address}/`)).includes('x-edit: second'),
      PATIENCE_MS,
    )
  const controllers = () => controller(['get', 'pods', '-o', 'jsonpath={.items[*].metadata.uid}'])
  const before = await controllers()
  await write({
    'ca.crt': `${others[0].ca}\n${others[1].ca}`,
    'tls.crt': others[1].certificate,
    'tls.key': others[1].key,
  })
  const next = fingerprintOf({ 'tls.crt': others[1].certificate })
  await eventually(
    'the certificate that others have renewed',
    async () => (await seen()).every((lines) => lines.endsWith(next)),
    PATIENCE_MS,
  )
  transcript.check('without a restart', await controllers(), before)
}

type Entries = Readonly<Record<string, string>>

const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'from-others' }, type: 'Opaque' }
const RESTARTS = '{.items[*].status.containerStatuses[0].restartCount}'

function parameters(replicas: number): string {
  const metadata = { name: 'options' }
  const spec = { deployment: { spec: { replicas } } }
  return JSON.stringify({ apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyParameters', metadata, spec })
}

/** A pod like those of a Deployment, whose token ends soon. */
function withShortToken(deployment: string): object {
  const { spec, metadata } = JSON.parse(deployment).spec.template
  const volumes = spec.volumes.map((volume: { name: string; projected?: { sources: readonly object[] } }) => {
    if (volume.projected === undefined) return volume
    const sources = volume.projected.sources.map((source) => {
      const { serviceAccountToken } = source as { serviceAccountToken: object }
      return { serviceAccountToken: { ...serviceAccountToken, expirationSeconds: TOKEN_LIFE } }
    })
    return { ...volume, projected: { ...volume.projected, sources } }
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'short', labels: metadata.labels },
    spec: { ...spec, volumes },
  }
}

function stepOf(entries: Entries): string {
  const count = entries['ca.crt']!.match(/BEGIN CERTIFICATE/g)!.length
  return `${count === 1 ? '1 authority' : `${count} authorities`}${entries['next.crt'] === undefined ? '' : ', a next certificate'}`
}

function fingerprintOf(entries: Entries): string {
  return new X509Certificate(entries['tls.crt']!).fingerprint256
}

/** An edit that only a controller can deliver. */
async function setHeader(kubectl: ReturnType<typeof kubectlIn>, value: string): Promise<void> {
  const filter = { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'x-edit', value }] } }
  const patch = [{ op: 'add', path: '/spec/rules/0/filters', value: [filter] }]
  await kubectl(['patch', 'httproute', 'main', '--type=json', '-p', JSON.stringify(patch)])
}
