import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MissingCounterpart } from '../counterparts.ts'
import { runClient } from '../kubernetes/clients/run-client.ts'

const SCRIPT = join(import.meta.dirname, 'cluster.sh')
const HOME = process.env.GW_K8S_HOME ?? join(tmpdir(), 'gatewright-interop', 'cluster')

export interface Outcome {
  readonly code: number | null
  readonly output: string
}

/** A cluster for tests, and its programs. */
export interface RunningCluster {
  kubectl(words: readonly string[], input?: string): Promise<Outcome>
  helm(words: readonly string[]): Promise<Outcome>
  /** Runs a command where addresses of Pods and Services work. */
  inside(words: readonly string[]): Promise<Outcome>
  importImage(file: string): Promise<void>
}

/** The path of a program that `cluster.sh build` makes. @throws MissingCounterpart */
export function builtProgram(name: string): string {
  const path = join(HOME, 'bin', name)
  if (!existsSync(path)) throw new MissingCounterpart(`${path} is missing; run test/interop/cluster/cluster.sh build`)
  return path
}

/** Uses the cluster that runs, or starts one, which ends with `stops`. @throws MissingCounterpart */
export function runningCluster(stops: AsyncDisposableStack): RunningCluster {
  const programs = { kubectl: builtProgram('kubectl'), helm: builtProgram('helm'), kubelet: builtProgram('kubelet') }
  if (!existsSync(join(HOME, 'run', 'ns.pid'))) {
    execFileSync(SCRIPT, ['up'], { stdio: 'inherit' })
    stops.defer(() => void execFileSync(SCRIPT, ['down'], { stdio: 'inherit' }))
  }
  const environment = { KUBECONFIG: join(HOME, 'run', 'host.kubeconfig') }
  return {
    kubectl: (words, input = '') => runClient(programs.kubectl, words, { input, environment }),
    helm: (words) => runClient(programs.helm, words, { environment }),
    inside: (words) => runClient(SCRIPT, ['in', ...words]),
    async importImage(file) {
      const { code, output } = await runClient(SCRIPT, ['import', file])
      if (code !== 0) throw new Error(output)
    },
  }
}

/** Makes a namespace in which only Pods run that fit the restricted standard. It is deleted with `stops`. */
export async function restrictedNamespace(
  { kubectl }: RunningCluster,
  name: string,
  stops: AsyncDisposableStack,
): Promise<void> {
  const standard = 'pod-security.kubernetes.io'
  const labels = { [`${standard}/enforce`]: 'restricted', [`${standard}/warn`]: 'restricted' }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
  const { code, output } = await kubectl(['apply', '-f', '-'], JSON.stringify(namespace))
  if (code !== 0) throw new Error(output)
  stops.defer(async () => void (await kubectl(['delete', 'namespace', name])))
}
