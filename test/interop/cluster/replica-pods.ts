import { CONTROLLER } from './installed-controller.ts'
import type { kubectlIn, RunningCluster } from './running-cluster.ts'

/** The replica of the controller that leads. @param system kubectl in its namespace @returns the name of its pod; empty: none leads */
export async function leaderOf(system: ReturnType<typeof kubectlIn>): Promise<string> {
  const holder = await system(['get', 'lease', CONTROLLER, '-o', 'jsonpath={.spec.holderIdentity}'])
  return holder.split('_')[0]!
}

/** Sends a signal to the process of a replica, from outside of its container. @param name such as `KILL` */
export async function signalReplica(cluster: RunningCluster, pod: string, name: string): Promise<void> {
  const script = `for f in $(grep -lzs "^POD_NAME=${pod}$" /proc/[0-9]*/environ); do f=\${f%/environ}; kill -${name} \${f#/proc/}; done`
  const { code, output } = await cluster.inside(['sh', '-c', script])
  if (code !== 0) throw new Error(output)
}
