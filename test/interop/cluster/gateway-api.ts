import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { installedProgram } from '../counterparts.ts'
import type { RunningCluster } from './running-cluster.ts'

const MODULE = 'sigs.k8s.io/gateway-api'
/** Pins the version of the definitions to that of the conformance suite. */
const SUITE = join(import.meta.dirname, '..', '..', 'conformance', 'gateway-api', 'suite')

/** Installs the definitions of the published module. */
export async function installGatewayApi({ kubectl }: RunningCluster): Promise<void> {
  const go = installedProgram('go', 'golang-go')
  const options = { cwd: SUITE, encoding: 'utf8', env: { ...process.env, GOTOOLCHAIN: 'auto' } } as const
  execFileSync(go, ['mod', 'download', MODULE], options)
  const folder = execFileSync(go, ['list', '-m', '-f', '{{.Dir}}', MODULE], options).trim()
  const definitions = join(folder, 'config', 'crd', 'experimental')
  const { code, output } = await kubectl(['apply', '--server-side', '-k', definitions])
  if (code !== 0) throw new Error(output)
}
