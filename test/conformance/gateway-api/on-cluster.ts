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

/** Runs the suite against the controller on the test cluster. @returns its exit code @param folder for files */
export async function runOnCluster(
  { suite, echo }: SuitePrograms,
  folder: string,
  flags: readonly string[],
): Promise<number> {
  await using stops = new AsyncDisposableStack()
  const cluster = runningCluster(stops)
  await installController(cluster, 'gatewright-conformance', stops)
  await importEchoServer(cluster, echo, folder)
  return await runSuite([CLUSTER_SCRIPT, 'in', suite], {
    kubeconfig: cluster.kubeconfigInside,
    mode: 'default',
    folder,
    flags: ['-usable-address=10.201.0.250', '-unusable-address=192.0.2.1', ...flags],
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
