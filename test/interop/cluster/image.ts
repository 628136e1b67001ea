import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installedProgram } from '../counterparts.ts'
import type { Part } from '../run-parts.ts'
import { type RunningCluster, restrictedNamespace, runningCluster } from './running-cluster.ts'

export const REPOSITORY = 'localhost/gatewright'
export const TAG = 'interop'
/** The same program with another version. */
export const NEXT = 'interop-next'
export const NEXT_VERSION = '99.0.0'
const NAMESPACE = 'gatewright-image'
const ROOT = join(import.meta.dirname, '..', '..', '..')

const archives = new Map<string, string>()

/** Makes the image of this checkout, once for all parts, and gives it to the node. */
export async function importOwnImage(cluster: RunningCluster): Promise<void> {
  await importImage(cluster, TAG)
}

/** The same with another version. */
export async function importNextImage(cluster: RunningCluster): Promise<void> {
  await importImage(cluster, NEXT, '--version', NEXT_VERSION)
}

async function importImage(cluster: RunningCluster, tag: string, ...more: readonly string[]): Promise<void> {
  const archive = archives.get(tag) ?? makeImage(tag, more)
  archives.set(tag, archive)
  await cluster.importImage(archive)
}

function makeImage(tag: string, more: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-image-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  const file = join(folder, 'image.tar')
  const words = [join(ROOT, 'build', 'image.ts'), '--name', `${REPOSITORY}:${tag}`, ...more, file]
  execFileSync(process.execPath, words, { stdio: 'inherit' })
  return file
}

/** The image in Pods that fit the restricted standard: it prints its version, loads packages late, and serves a Gateway from a ConfigMap. */
export const checkImage: Part = async (transcript, stops) => {
  const curl = installedProgram('curl', 'curl')
  const cluster = runningCluster(stops)
  await importOwnImage(cluster)
  await restrictedNamespace(cluster, NAMESPACE, stops)
  const kubectl = async (...words: readonly string[]) => (await cluster.kubectl(['-n', NAMESPACE, ...words])).output
  const pods = readFileSync(join(import.meta.dirname, 'image.yaml'), 'utf8').replaceAll('IMAGE', `${REPOSITORY}:${TAG}`)
  const applied = await cluster.kubectl(['-n', NAMESPACE, 'apply', '-f', '-'], pods)
  transcript.check('Pods are created', applied.code === 0 ? '' : applied.output, '')
  for (const [pod, expected] of [
    ['version', `gatewright ${JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version}`],
    ['late', 'loaded'],
  ] as const) {
    await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', `pod/${pod}`, '--timeout=60s')
    transcript.check(pod, (await kubectl('logs', pod)).trim(), expected)
  }
  await kubectl('wait', '--for=condition=Ready', 'pod/gateway', '--timeout=60s')
  const address = await kubectl('get', 'service', 'gateway', '-o', 'jsonpath={.spec.clusterIP}')
  const ask = async () => (await cluster.inside([curl, '-s', '--max-time', '5', `http://${address}/`])).output
  transcript.check('a request through the Service', await ask(), 'hello from a pod')
  transcript.check('the program is the first process', await kubectl('get', 'pod', 'gateway', '-o', RESTARTS), '0')
  const before = Date.now()
  await kubectl('delete', 'pod', 'gateway', '--grace-period=30')
  transcript.check('it ends within its time', Date.now() - before < 20_000, true)
}

const RESTARTS = 'jsonpath={.status.containerStatuses[0].restartCount}'
