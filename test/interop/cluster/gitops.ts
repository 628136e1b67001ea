import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import type { Part } from '../run-parts.ts'
import { CHARTS } from './charts.ts'
import { REPOSITORY, TAG } from './image.ts'
import { installController } from './installed-controller.ts'
import { createTeam } from './refusals/team.ts'
import { runningCluster } from './running-cluster.ts'

const SYSTEM = 'gatewright-gitops'
const TEAM = 'gatewright-gitops-team'
const ROOT = join(import.meta.dirname, '..', '..', '..')
const EXAMPLES = join(ROOT, 'examples', 'kubernetes')
const DEFINITIONS = join(ROOT, 'install', 'crds')
/** The field managers of Argo CD and of Flux. */
const MANAGERS = ['argocd-controller', 'kustomize-controller']

/** Charts and objects that a controller uses, compared and applied again as Argo CD and Flux do: nothing differs, nothing is written. */
export const checkGitops: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  await installController(cluster, SYSTEM, stops)
  const team = await createTeam(cluster, TEAM, stops)
  const { certificate, key } = await createCertificate({ dns: ['shop.example.com'], ips: [] })
  const data = { type: 'kubernetes.io/tls', stringData: { 'tls.crt': certificate, 'tls.key': key } }
  await team.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop-certificate' }, ...data })
  const objects = ['gateway.yaml', 'routes.yaml']
    .map((name) => readFileSync(join(EXAMPLES, name), 'utf8'))
    .join('---\n')
  const server = ['--server-side', '--force-conflicts', '-f', '-']
  await team.kubectl(['apply', ...server, `--field-manager=${MANAGERS[0]}`], objects)
  const programmed = () => team.condition('gateway/main', 'Programmed', 'True/Programmed')
  transcript.check('the Gateway of the example', await programmed(), 'True/Programmed')
  await team.kubectl(['rollout', 'status', 'deployment/main', '--timeout=120s'])

  const image = `image.registry=,image.repository=${REPOSITORY},image.tag=${TAG}`
  const template = ['template', 'gatewright', join(CHARTS, 'gatewright'), '--set', image, '-n', SYSTEM]
  const { output: chart } = await cluster.helm(template)
  const definitions = globSync('*.yaml', { cwd: DEFINITIONS }).map((name) =>
    readFileSync(join(DEFINITIONS, name), 'utf8'),
  )
  for (const manager of MANAGERS) {
    for (const [what, namespace, text] of [
      ['the examples', TEAM, objects],
      ['the chart', SYSTEM, chart],
      ['the definitions', SYSTEM, definitions.join('---\n')],
    ] as const) {
      const words = ['diff', ...server, `--field-manager=${manager}`, '-n', namespace]
      const { code, output } = await cluster.kubectl(words, text)
      transcript.check(`${manager}: ${what} do not differ`, code === 0 ? '' : output, '')
    }
  }
  const { code, output } = await cluster.kubectl(['diff', '-f', '-', '-n', TEAM], objects)
  transcript.check('nor from what a client applies', code === 0 ? '' : output, '')

  const versions = async () =>
    (await team.list('gateways,httproutes,proxyparameters')).map(({ metadata }) => metadata.resourceVersion)
  const before = await versions()
  await team.kubectl(['apply', ...server, `--field-manager=${MANAGERS[0]}`], objects)
  transcript.check('what is applied again is not written', await versions(), before)
}
