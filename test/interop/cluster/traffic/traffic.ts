import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import { USUAL_PORTS } from '#examples/upstreams/run.ts'
import { eventually } from '#test/support/eventually.ts'
import { installedProgram } from '../../counterparts.ts'
import type { Part } from '../../run-parts.ts'
import type { Transcript } from '../../transcript.ts'
import { CONTROLLER, GATEWAY_CLASS, installController } from '../installed-controller.ts'
import {
  builtProgram,
  kubectlIn,
  type RunningCluster,
  restrictedNamespace,
  runningCluster,
} from '../running-cluster.ts'
import { parametersWithUpstreams, upstreamsConfigMap } from './quickstart-upstreams.ts'

const SYSTEM = 'gatewright-traffic'
const TEAM = 'gatewright-traffic-team'
const PARAMETERS = 'servers'
const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const QUICKSTART = join(ROOT, 'examples', 'quickstart')
const TLS = join(import.meta.dirname, 'tls.yaml')
const SELECTOR = 'gateway.networking.k8s.io/gateway-name=main'
const METRICS_PORT = 15020
const PATIENCE_MS = 60_000
const EDITS = 5

interface Team {
  readonly cluster: RunningCluster
  readonly kubectl: ReturnType<typeof kubectlIn>
  readonly transcript: Transcript
  /** The address of the LoadBalancer. */
  readonly address: string
  /** A response: the body, and the status after it. @param words for curl */
  ask(url: string, ...words: readonly string[]): Promise<string>
}

/** The quickstart with the chart: the same objects and the same responses as locally, then edits, certificates, logs, and the end of everything. */
export const checkTraffic: Part = async (transcript, stops) => {
  const curl = installedProgram('curl', 'curl')
  const cluster = runningCluster(stops)
  const parametersRef = `gatewayClass.parametersRef.name=${PARAMETERS},gatewayClass.parametersRef.namespace=${TEAM}`
  await installController(cluster, SYSTEM, stops, ['--set', parametersRef])
  await restrictedNamespace(cluster, TEAM, stops)
  const kubectl = kubectlIn(cluster, TEAM)
  const address = await deployQuickstart(kubectl)
  const ask = async (url: string, ...words: readonly string[]) =>
    (await cluster.inside([curl, '-s', '--max-time', '5', '-w', ' %{http_code}', ...words, url])).output
  const team: Team = { cluster, kubectl, transcript, address, ask }
  await checkStatuses(team)
  await checkQuickstart(team)
  await checkEdits(team)
  await checkListenerSet(team)
  await checkLogsAndProbes(team)
  await checkDeletion(team)
}

/** @returns the address of its Service */
async function deployQuickstart(kubectl: Team['kubectl']): Promise<string> {
  const items = [await upstreamsConfigMap(), parametersWithUpstreams(PARAMETERS)]
  // The ConfigMap is too large for an annotation.
  await kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const files = readdirSync(QUICKSTART).filter((name) => name.endsWith('.yaml'))
  await kubectl(['apply', ...files.flatMap((file) => ['-f', join(QUICKSTART, file)])])
  await kubectl(['wait', '--for=condition=Programmed', 'gateway/main', '--timeout=90s'])
  await kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
  return kubectl(['get', 'service', 'main', '-o', 'jsonpath={.status.loadBalancer.ingress[0].ip}'])
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly message: string
}

interface Conditions {
  readonly conditions?: readonly Condition[]
}

interface StatusObject {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly status?: Conditions & { readonly [part in 'parents' | 'ancestors' | 'listeners']?: readonly Conditions[] }
}

/** Conditions whose good value is False. */
const NEGATIVE: ReadonlySet<string> = new Set(['Conflicted'])

/** All objects are accepted, and the Gateway has the address of its Service. */
async function checkStatuses({ kubectl, transcript, address }: Team): Promise<void> {
  const addresses = await kubectl(['get', 'gateway', 'main', '-o', 'jsonpath={.status.addresses}'])
  transcript.check('the address of the Gateway', JSON.parse(addresses), [{ type: 'IPAddress', value: address }])
  const kinds = 'gatewayclasses,gateways,httproutes,proxypolicies,proxybackends'
  const { items } = JSON.parse(await kubectl(['get', kinds, '-o', 'json'])) as {
    readonly items: readonly StatusObject[]
  }
  const bad = items.flatMap(({ kind, metadata: { name }, status = {} }) => {
    const { parents = [], ancestors = [], listeners = [] } = status
    const conditions = [status, ...parents, ...ancestors, ...listeners].flatMap((part) => part.conditions ?? [])
    if (conditions.length === 0) return [`${kind} ${name} has no conditions`]
    const wrong = conditions.filter(({ type, status: is }) => is !== (NEGATIVE.has(type) ? 'False' : 'True'))
    return wrong.map(({ type, message }) => `${kind} ${name}: ${type}: ${message}`)
  })
  transcript.check('conditions of all objects', bad, [])
}

/** The tests of the quickstart ask the address of the Service, and the servers beside the proxy through forwarded ports. */
async function checkQuickstart({ cluster, transcript, address, ask }: Team): Promise<void> {
  const ports = [METRICS_PORT, ...USUAL_PORTS.values()]
  const client = [builtProgram('kubectl'), '--kubeconfig', cluster.kubeconfigInside, '-n', TEAM]
  await using _ = cluster.startInside([...client, 'port-forward', 'deployment/main', ...ports.map(String)])
  await eventually('forwarded ports', async () => {
    const responses = await Promise.all(ports.map((port) => ask(`http://127.0.0.1:${port}/`)))
    return responses.every((response) => !response.endsWith('000')) || undefined
  })
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const { code, output } = await cluster.inside([
    ...['env', `QUICKSTART_BASE=http://${address}:8080`],
    ...[process.execPath, vitest, 'run', '--root', ROOT, '--project', 'all', 'examples/quickstart'],
  ])
  transcript.check('the tests of the quickstart', code === 0 ? '' : output, '')
}

/** From the response of the API server to the first response with the edit. */
async function checkEdits({ kubectl, transcript, address, ask }: Team): Promise<void> {
  const times: number[] = []
  for (let edit = 1; edit <= EDITS; edit++) {
    const body = `edit ${edit}`
    const patch = { spec: { traffic: { directResponse: { body } } } }
    await kubectl(['patch', 'proxypolicy', 'teapot', '--type=merge', '-p', JSON.stringify(patch)])
    const startMs = performance.now()
    await eventually(body, async () => (await ask(`http://${address}:8080/teapot`)) === `${body} 418`, PATIENCE_MS)
    times.push(Math.round(performance.now() - startMs))
  }
  console.log(`     edits were in force after ${times.join(', ')} ms`)
  const median = times.toSorted((a, b) => a - b)[EDITS >> 1]!
  transcript.check('an edit is in force within a second', median < 1000, true)
}

/** The port of a ListenerSet, with a certificate that is replaced. */
async function checkListenerSet({ kubectl, transcript, address, ask }: Team): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-traffic-'))
  const issue = async (name: string) => {
    const { ca, certificate, key } = await createCertificate({ dns: ['shop.example.com'], ips: [] })
    const data = { type: 'kubernetes.io/tls', stringData: { 'tls.crt': certificate, 'tls.key': key } }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'certificate' }, ...data }
    await kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(secret))
    const file = join(folder, name)
    writeFileSync(file, ca)
    return file
  }
  const resolve = ['--resolve', `shop.example.com:8443:${address}`]
  const askTrusting = (authority: string) => ask('https://shop.example.com:8443/', '--cacert', authority, ...resolve)
  const untilTrusted = (authority: string) =>
    eventually(authority, async () => (await askTrusting(authority)) === 'over TLS 200', PATIENCE_MS)
  const ports = () => kubectl(['get', 'service', 'main', '-o', 'jsonpath={.spec.ports[*].name}'])
  try {
    const first = await issue('first.crt')
    const allow = JSON.stringify({ spec: { allowedListeners: { namespaces: { from: 'Same' } } } })
    await kubectl(['patch', 'gateway', 'main', '--type=merge', '-p', allow])
    await kubectl(['apply', '-f', TLS])
    await untilTrusted(first)
    transcript.check('the Service has the port of a ListenerSet', await ports(), 'listener-8080 listener-8443')
    const second = await issue('second.crt')
    await untilTrusted(second)
    transcript.check('the first certificate is gone', await askTrusting(first), ' 000')
    await kubectl(['delete', '-f', TLS])
    await eventually('no port of a ListenerSet', async () => (await ports()) === 'listener-8080', PATIENCE_MS)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function checkLogsAndProbes({ cluster, kubectl, transcript, address, ask }: Team): Promise<void> {
  await ask(`http://${address}:8080/seen-in-the-log`)
  const lines = async () =>
    (await kubectl(['logs', 'deployment/main', '-c', 'proxy'])).match(/^.*seen-in-the-log.*$/gm) ?? []
  await eventually('the access log', async () => (await lines()).length > 0, PATIENCE_MS)
  transcript.check('one line in the access log', (await lines()).length, 1)
  const controller = kubectlIn(cluster, SYSTEM)
  const log = await controller(['logs', `deployment/${CONTROLLER}`])
  // What objects refer to may come after them, which is a problem until then.
  const errors = log.match(/^.*"level":"error".*$/gm)?.filter((line) => !line.includes('"module":"control"')) ?? []
  transcript.check('no other errors in the log of the controller', errors, [])
  const ips = 'jsonpath={.items[*].status.podIP}'
  const proxy = await kubectl(['get', 'pods', '-l', SELECTOR, '-o', ips])
  const own = await controller(['get', 'pods', '-l', 'app.kubernetes.io/component=controller', '-o', ips])
  const probes = [
    `${proxy}:15021/healthz/ready`,
    `${proxy}:15021/healthz/live`,
    `${own}:9093/readyz`,
    `${own}:9093/livez`,
  ]
  const statuses = await Promise.all(probes.map(async (probe) => (await ask(`http://${probe}`)).slice(-3)))
  transcript.check('probes', statuses, ['200', '200', '200', '200'])
  const restarts = 'jsonpath={.items[*].status.containerStatuses[*].restartCount}'
  transcript.check('no container has restarted', await kubectl(['get', 'pods', '-o', restarts]), '0')
}

/** A class that is deleted waits for its Gateway, which leaves nothing. */
async function checkDeletion({ kubectl, transcript, address, ask }: Team): Promise<void> {
  const one = ['gatewayclass', GATEWAY_CLASS]
  await kubectl(['delete', ...one, '--wait=false'])
  const finalizers = await kubectl(['get', ...one, '-o', 'jsonpath={.metadata.finalizers}'])
  transcript.check('the class waits', finalizers, '["gateway-exists-finalizer.gateway.networking.k8s.io"]')
  transcript.check('its Gateway serves', (await ask(`http://${address}:8080/teapot`)).endsWith('418'), true)
  await kubectl(['delete', 'gateway', 'main'])
  await kubectl(['wait', '--for=delete', `gatewayclass/${GATEWAY_CLASS}`, '--timeout=30s'])
  const kinds = 'deployments,replicasets,pods,services,endpointslices,configmaps,secrets,serviceaccounts'
  await kubectl(['wait', '--for=delete', kinds, '-l', SELECTOR, '--timeout=60s'])
  transcript.check('nothing is left', await kubectl(['get', kinds, '-l', SELECTOR, '-o', 'name']), '')
}
