import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt, importPKCS8, SignJWT } from 'jose'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import type { Part } from '../../run-parts.ts'
import { CONTROLLER, installController } from '../installed-controller.ts'
import { kubectlIn, runningCluster } from '../running-cluster.ts'
import type { Answer, Question } from './ask-plan.ts'
import { createTeam, gateway, gatewayApiObject, type Team } from './team.ts'

const SYSTEM = 'gatewright-strangers'
const AUDIENCE = 'gatewright-controller'
const SCRIPT = join(import.meta.dirname, 'ask-plan.ts')
const UNAUTHENTICATED = 16

/** Who asks the controller for the plan of a Gateway and gets nothing, and what the proxy of another Gateway gets. */
export const checkStrangers: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  await installController(cluster, SYSTEM, stops)
  const system = kubectlIn(cluster, SYSTEM)
  const team = await createTeam(cluster, 'gatewright-strangers-team', stops)
  const secret = await system(['get', 'secret', `${CONTROLLER}-authority`, '-o', 'jsonpath={.data.ca\\.crt}'])
  const authority = Buffer.from(secret, 'base64').toString()
  const address = `${CONTROLLER}.${SYSTEM}.svc.cluster.local:9978`
  const askAll = async (questions: readonly Partial<Question>[]): Promise<readonly Answer[]> => {
    const asked = questions.map((question) => ({ address, authority, ...question }))
    const { code, output } = await cluster.inside([process.execPath, SCRIPT, JSON.stringify(asked)])
    if (code !== 0) throw new Error(output)
    return JSON.parse(output.trim().split('\n').at(-1)!) as readonly Answer[]
  }
  const tokenOf = (account: string, audience = AUDIENCE) =>
    team.kubectl(['create', 'token', account, `--audience=${audience}`, '--duration=600s'])

  await deployGateways(team)
  const secretOf = (name: string) => `Secret/${team.namespace}/certificate-${name}`
  const secretsIn = ({ names }: Answer) => names.filter((name) => name.startsWith('Secret/'))
  const [own] = (await askAll([{ token: await tokenOf('one') }])) as [Answer]
  transcript.check('the account of a Gateway gets its items', own.refusal, undefined)
  transcript.check('and its Secrets', secretsIn(own), [secretOf('one')])

  await team.kubectl(['create', 'serviceaccount', 'stranger'])
  const uid = await team.kubectl(['get', 'gateway', 'one', '-o', 'jsonpath={.metadata.uid}'])
  const owner = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', name: 'one', uid, controller: true }
  await team.apply({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'pretender', ownerReferences: [owner] },
  })
  const old = await tokenOf('one')
  const expired = await expiredToken(old, join(cluster.folder, 'pki', 'sa.key'))
  // The name of the account of a Gateway that comes later.
  await team.kubectl(['create', 'serviceaccount', 'three'])
  await team.apply(gateway('three'))
  await team.condition('gateway/three', 'Programmed', 'False/Invalid')
  const notOurs = 'the service account does not belong to a Gateway of this controller'
  const strangers: readonly (readonly [who: string, question: Partial<Question>, why: RegExp])[] = [
    ['nobody', {}, /^16: a token of a service account is required$/],
    ['another account', { token: await tokenOf('stranger') }, new RegExp(`^16: ${notOurs}$`)],
    [
      'an account that names the Gateway as its owner',
      { token: await tokenOf('pretender') },
      new RegExp(`^16: ${notOurs}$`),
    ],
    ['an account with the name of a Gateway', { token: await tokenOf('three') }, new RegExp(`^16: ${notOurs}$`)],
    [
      'the controller itself',
      { token: await system(['create', 'token', CONTROLLER, `--audience=${AUDIENCE}`]) },
      new RegExp(`^16: ${notOurs}$`),
    ],
    ['a token for the API server', { token: await team.kubectl(['create', 'token', 'one']) }, /^16: .*audience/],
    ['a token for somebody else', { token: await tokenOf('one', 'somebody') }, /^16: .*audience/],
    ['an expired token', { token: expired }, /^16: .*/],
    ['a token that is none', { token: 'abc' }, /^16: .*/],
    ['a client without TLS', { authority: undefined, token: old }, /^14: /],
  ]
  const [other, ...answers] = await askAll([
    { token: await tokenOf('two'), names: own.names },
    ...strangers.map(([, question]) => question),
  ])
  const foreign = other!.names.filter((name) => own.names.includes(name))
  transcript.check('the account of another Gateway gets nothing of it', foreign, [])
  transcript.check('but what is its own', secretsIn(other!), [secretOf('two')])
  for (const [index, { names, refusal = '' }] of answers.entries()) {
    const [who, , why] = strangers[index]!
    transcript.check(`${who} gets nothing`, [names, why.test(refusal) ? why : refusal], [[], why])
  }

  const accountOf = () => team.kubectl(['get', 'serviceaccount', 'one', '-o', 'jsonpath={.metadata.uid}'])
  const first = await accountOf()
  await team.kubectl(['delete', 'serviceaccount', 'one'])
  // The controller looks at once when something that it watches changes, and else within a minute.
  await team.kubectl(['annotate', 'gateway', 'one', 'example.com/changed=yes'])
  await team.until('the account is made again', async () => (await accountOf()) !== first)
  const [before, now] = (await askAll([{ token: old }, { token: await tokenOf('one') }])) as [Answer, Answer]
  transcript.check('a token of the account before gets nothing', before.names, [])
  transcript.check('and is refused', before.refusal?.startsWith(`${UNAUTHENTICATED}: `), true)
  transcript.check('that of the new one gets the items', now.names, own.names)

  const log = await system(['logs', `deployment/${CONTROLLER}`])
  transcript.check('no token is in the log', log.includes(old) || log.includes(expired), false)
  await checkNetworkPolicy(system, transcript)
}

/** Two Gateways with a certificate each. */
async function deployGateways(team: Team): Promise<void> {
  for (const name of ['one', 'two']) {
    const host = `${name}.example.com`
    const { certificate, key } = await createCertificate({ dns: [host], ips: [] })
    const certificateRefs = [{ name: `certificate-${name}` }]
    const listeners = [{ name: 'https', port: 443, protocol: 'HTTPS', hostname: host, tls: { certificateRefs } }]
    await team.apply(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `certificate-${name}` },
        type: 'kubernetes.io/tls',
        stringData: { 'tls.crt': certificate, 'tls.key': key },
      },
      gateway(name, undefined, { listeners }),
      gatewayApiObject('HTTPRoute', name, { parentRefs: [{ name }] }),
    )
  }
  for (const name of ['one', 'two']) {
    await team.condition(`gateway/${name}`, 'Programmed', 'True/Programmed')
  }
}

/** The same token, as the cluster would have signed it earlier. */
async function expiredToken(token: string, keyFile: string): Promise<string> {
  const { kid } = JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }
  const key = await importPKCS8(readFileSync(keyFile, 'utf8'), 'RS256')
  const anHourAgo = Math.floor(Date.now() / 1000) - 3600
  return new SignJWT({ ...decodeJwt(token), iat: anHourAgo, nbf: anHourAgo, exp: anHourAgo + 600 })
    .setProtectedHeader({ alg: 'RS256', kid })
    .sign(key)
}

interface Policy {
  readonly spec: {
    readonly ingress: readonly { readonly from?: readonly unknown[]; readonly ports: readonly object[] }[]
  }
}

/** The network of this cluster enforces none. */
async function checkNetworkPolicy(system: Team['kubectl'], transcript: Parameters<Part>[0]): Promise<void> {
  const { spec } = JSON.parse(await system(['get', 'networkpolicy', CONTROLLER, '-o', 'json'])) as Policy
  const delivery = spec.ingress.filter(({ ports }) => JSON.stringify(ports).includes('delivery'))
  const matchExpressions = [{ key: 'gateway.networking.k8s.io/gateway-name', operator: 'Exists' }]
  transcript.check(
    'only pods of proxies may reach the port',
    delivery.map(({ from }) => from),
    [[{ namespaceSelector: {}, podSelector: { matchExpressions } }]],
  )
}
