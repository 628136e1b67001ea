import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseJson } from '#base/parse-json.ts'
import type { Check } from '#cluster/examine/check.ts'
import { runClient } from '../kubernetes/clients/run-client.ts'
import type { Part } from '../run-parts.ts'
import { installController } from './installed-controller.ts'
import { createTeam, gateway } from './refusals/team.ts'
import { runningCluster } from './running-cluster.ts'

const SYSTEM = 'gatewright-check'
const TEAM = 'gatewright-check-team'
const ROOT = join(import.meta.dirname, '..', '..', '..')
/** The key of a client, which somebody has also written into an annotation. */
const PLANTED = 'planted-value-of-a-secret'
const KEYS = {
  apiVersion: 'gatewright.dev/v1alpha1',
  kind: 'ProxyPolicy',
  metadata: { name: 'keys', annotations: { note: `try it with ${PLANTED}` } },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }],
    traffic: { apiKeyAuthentication: { secretRef: { name: 'planted' } } },
  },
}

/** What `check` finds after an installation, and the archive of `collect`. */
export const checkOperation: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  const gatewright = (...words: readonly string[]) =>
    runClient(process.execPath, [join(ROOT, 'src', 'main.ts'), ...words, '--kubeconfig', cluster.kubeconfig])
  const check = async () => {
    const { output } = await gatewright('check', '--controller-namespace', SYSTEM, '-o', 'json')
    return (parseJson(output) as { checks: readonly Check[] }).checks
  }
  const faults = (checks: readonly Check[]) =>
    checks.filter(({ verdict }) => verdict !== 'ok').map(({ verdict, detail }) => `${verdict}: ${detail}`)
  await installController(cluster, SYSTEM, stops)
  const team = await createTeam(cluster, TEAM, stops)
  await team.kubectl(['create', 'secret', 'generic', 'planted', `--from-literal=client=${PLANTED}`])
  await team.apply(gateway('main'), KEYS)
  transcript.check(
    'a Gateway',
    await team.condition('gateway/main', 'Programmed', 'True/Programmed'),
    'True/Programmed',
  )
  await team.kubectl(['rollout', 'status', 'deployment/main', '--timeout=90s'])
  transcript.check('nothing is wrong after an installation', faults(await check()), [])
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-check-'))
  stops.defer(() => rmSync(folder, { recursive: true }))
  const archive = join(folder, 'support.tar.gz')
  const { code } = await gatewright('collect', '--controller-namespace', SYSTEM, '-n', TEAM, '-o', archive)
  transcript.check('an archive', code, 0)
  execFileSync('tar', ['-xzf', archive, '-C', folder])
  const collected = readFileSync(join(folder, 'gatewright-support', 'collected.json'), 'utf8')
  transcript.check('everything could be read', (parseJson(collected) as { missing: unknown }).missing, [])
  const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' })
  for (const name of ['check.json', 'secrets.yaml', '/controllers.yaml', '.log', 'metrics/'])
    transcript.check(`the archive has ${name}`, names.includes(name), true)
  const all = execFileSync('tar', ['-xzf', archive, '-O'], { encoding: 'utf8', maxBuffer: 1e9 })
  const encoded = Buffer.from(PLANTED).toString('base64')
  transcript.check('the archive has no secret', all.includes(PLANTED) || all.includes(encoded), false)
  transcript.check('the archive has no key', /PRIVATE KEY/.test(all), false)
}
