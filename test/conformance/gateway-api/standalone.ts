/**
 * Runs the suite against `gatewright run`. For `run.ts`, which starts it as first process of new namespaces: the addresses of pods exist only
 * there, and everything that it starts ends with it.
 *
 *     node standalone.ts SUITE ECHO FOLDER [flags of the suite]
 */
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAccess } from '#cluster/api-access.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { readKubeconfig } from '#cluster/kubeconfig.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { ApiFront } from './api-front.ts'
import { Node } from './node.ts'
import { makePodNetwork } from './pod-process.ts'
import { runSuite } from './suite.ts'

const CLASS = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gatewright }
spec: { controllerName: gatewright.dev/controller }
`

const [suite, echo, folder, ...flags] = process.argv.slice(2) as [string, string, string, ...string[]]
// The first process of a namespace ignores signals that it does not handle.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

await makePodNetwork()
const objects = join(folder, 'objects')
mkdirSync(objects)
writeFileSync(join(objects, 'class.yaml'), CLASS)
const stateFolder = join(folder, 'state')
const gateway = await startGatewayProcess({
  files: [objects],
  stateFolder,
  arguments: ['--address-pool', '127.10.0.0/16', '--log-format', 'json'],
  environment: { GATEWRIGHT_API_ADDR: '127.0.0.1:15010' },
})
gateway.process.stdout!.pipe(createWriteStream(join(folder, 'access.log')))
gateway.process.stderr!.pipe(createWriteStream(join(folder, 'gateway.log')))
const access = await openAccess(readKubeconfig(join(stateFolder, 'kubeconfig')))
const node = new Node(new ApiClient(access), echo, join(folder, 'volumes'))
const kubeconfig = join(folder, 'kubeconfig')
writeFileSync(kubeconfig, kubeconfigOf(await ApiFront.start(access, node)))
const code = await runSuite([suite], {
  kubeconfig,
  mode: 'standalone',
  folder,
  // The suite reads the version of the Gateway API from definitions, which this API does not list.
  flags: ['-allow-crds-mismatch', '-usable-address=127.10.99.1', '-unusable-address=192.0.2.1', ...flags],
})
await gateway.close()
process.exit(code)

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'gateway', cluster: { server } }],
    users: [{ name: 'suite', user: {} }],
    contexts: [{ name: 'suite', context: { cluster: 'gateway', user: 'suite' } }],
    'current-context': 'suite',
  })
}
