/**
 * Runs the suite against `gatewright run`. For `run.ts`, which starts it as first process of new namespaces: the addresses of pods exist only
 * there, and everything that it starts ends with it.
 *
 *     node standalone.ts SUITE ECHO DEFINITIONS FOLDER [flags of the suite]
 */
import { createWriteStream, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
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

type Words = [suite: string, echo: string, definitions: string, folder: string, ...flags: string[]]

const [suite, echo, definitions, folder, ...flags] = process.argv.slice(2) as Words
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
const api = new ApiClient(access)
// The gateway has its own. The suite reads the version of the Gateway API in these.
for (const file of globSync('*_*.yaml', { cwd: definitions })) {
  for (const document of parseAllDocuments(readFileSync(join(definitions, file), 'utf8'))) {
    const object = document.toJS() as { readonly kind: string }
    if (object.kind !== 'CustomResourceDefinition') continue
    await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', object)
  }
}
const node = new Node(api, echo, join(folder, 'volumes'))
const kubeconfig = join(folder, 'kubeconfig')
writeFileSync(kubeconfig, kubeconfigOf(await ApiFront.start(access, node)))
const code = await runSuite([suite], {
  kubeconfig,
  mode: 'standalone',
  folder,
  flags: ['-usable-address=127.10.99.1', '-unusable-address=192.0.2.1', ...flags],
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
