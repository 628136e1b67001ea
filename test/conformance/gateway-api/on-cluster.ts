import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { installController } from '#test/interop/cluster/installed-controller.ts'
import { CLUSTER_SCRIPT, type RunningCluster, runningCluster } from '#test/interop/cluster/running-cluster.ts'
import { runSuite, type SuitePrograms } from './suite.ts'

const FOLDER_IMAGE = join(import.meta.dirname, '..', '..', 'interop', 'cluster', 'folder-image.ts')
const ECHO_IMAGE = 'registry.k8s.io/gateway-api/conformance/echo-basic'
/** Versions that the objects of the suite name. */
const ECHO_TAGS = ['v0.1.0', 'v0.2.0']

const FLAGS = [
  ...['-usable-address=10.201.0.250', '-unusable-address=192.0.2.1'],
  // A namespace waits half of the grace period of its pods before it looks again whether they are gone.
  '-timeout-config-overrides=DeleteTimeout:120',
]
const NAMESPACE = 'gatewright-conformance'
/** Small proxies, because a node has some 30 at a time. */
const PARAMETERS = {
  apiVersion: 'gatewright.dev/v1alpha1',
  kind: 'ProxyParameters',
  metadata: { name: 'small', namespace: NAMESPACE },
  spec: { resources: { requests: { cpu: '10m', memory: '128Mi' } }, rawConfig: { workers: 1 } },
}

/** Runs the suite against the controller on the test cluster. @returns its exit code @param folder for files */
export async function runOnCluster(
  { suite, echo }: SuitePrograms,
  folder: string,
  flags: readonly string[],
): Promise<number> {
  await using stops = new AsyncDisposableStack()
  const cluster = runningCluster(stops)
  const { name, namespace } = PARAMETERS.metadata
  const parametersRef = `gatewayClass.parametersRef.name=${name},gatewayClass.parametersRef.namespace=${namespace}`
  await installController(cluster, NAMESPACE, stops, ['--set', parametersRef])
  const { code, output } = await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(PARAMETERS))
  if (code !== 0) throw new Error(output)
  await importEchoServer(cluster, echo, folder)
  return await runSuite([CLUSTER_SCRIPT, 'in', suite], {
    kubeconfig: cluster.kubeconfigInside,
    mode: 'default',
    folder,
    flags: [...FLAGS, ...flags],
  })
}

async function importEchoServer({ importImage }: RunningCluster, echo: string, folder: string): Promise<void> {
  const files = join(folder, 'echo')
  mkdirSync(files)
  copyFileSync(echo, join(files, 'echo'))
  const config = JSON.stringify({ Entrypoint: ['/echo'], User: '65532:65532' })
  for (const tag of ECHO_TAGS) {
    const archive = join(folder, `echo-${tag}.tar`)
    execFileSync(process.execPath, [FOLDER_IMAGE, files, archive, `${ECHO_IMAGE}:${tag}`, config], { stdio: 'inherit' })
    await importImage(archive)
  }
}
