import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MissingCounterpart } from '../counterparts.ts'
import { runClient } from '../kubernetes/clients/run-client.ts'

export const CLUSTER_SCRIPT = join(import.meta.dirname, 'cluster.sh')
const HOME = process.env.GW_K8S_HOME ?? join(tmpdir(), 'gatewright-interop', 'cluster')

export interface Outcome {
  readonly code: number | null
  readonly output: string
}

/** A command that runs inside. */
export interface InsideCommand extends AsyncDisposable {
  /** Sends it SIGINT, as a terminal would, and waits for its end. */
  end(): Promise<Outcome>
}

/** A cluster for tests, and its programs. */
export interface RunningCluster {
  kubectl(words: readonly string[], input?: string): Promise<Outcome>
  helm(words: readonly string[]): Promise<Outcome>
  /** Runs a command where addresses of Pods and Services work. */
  inside(words: readonly string[]): Promise<Outcome>
  startInside(words: readonly string[]): InsideCommand
  importImage(file: string): Promise<void>
  /** For clients on this machine. */
  readonly kubeconfig: string
  /** For clients inside. */
  readonly kubeconfigInside: string
  /** With the logs, keys and certificates of its programs. */
  readonly folder: string
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
    execFileSync(CLUSTER_SCRIPT, ['up'], { stdio: 'inherit' })
    stops.defer(() => void execFileSync(CLUSTER_SCRIPT, ['down'], { stdio: 'inherit' }))
  }
  const kubeconfig = join(HOME, 'run', 'host.kubeconfig')
  const environment = { KUBECONFIG: kubeconfig }
  return {
    kubectl: (words, input = '') => runClient(programs.kubectl, words, { input, environment }),
    helm: (words) => runClient(programs.helm, words, { environment }),
    inside: (words) => runClient(CLUSTER_SCRIPT, ['in', ...words]),
    startInside,
    kubeconfig,
    kubeconfigInside: join(HOME, 'run', 'admin.kubeconfig'),
    folder: join(HOME, 'run'),
    async importImage(file) {
      const { code, output } = await runClient(CLUSTER_SCRIPT, ['import', file])
      if (code !== 0) throw new Error(output)
    },
  }
}

/** A signal to the script would not reach what it runs inside, so a shell there sends it when its input ends. */
function startInside(words: readonly string[]): InsideCommand {
  const child = spawn(CLUSTER_SCRIPT, ['in', 'sh', '-c', '"$@" & read -r _; kill -INT $!; wait $!', 'sh', ...words])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece))
  child.stdin.on('error', () => {})
  const closed = once(child, 'close')
  const end = async () => {
    child.stdin.end()
    const [code] = (await closed) as [number | null]
    return { code, output }
  }
  return { end, [Symbol.asyncDispose]: async () => void (await end()) }
}

/** Runs kubectl in a namespace. The function returns what kubectl prints, and throws it when kubectl fails. */
export function kubectlIn(
  { kubectl }: RunningCluster,
  namespace: string,
): (words: readonly string[], input?: string) => Promise<string> {
  return async (words, input) => {
    const { code, output } = await kubectl(['-n', namespace, ...words], input)
    if (code !== 0) throw new Error(`kubectl ${words.join(' ')}: ${output}`)
    return output.trim()
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
