import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { installedProgram } from '../counterparts.ts'
import type { RunningCluster } from './running-cluster.ts'

const MODULE = 'sigs.k8s.io/gateway-api@v1.6.0'

/** Installs the definitions of the published module. */
export async function installGatewayApi({ kubectl }: RunningCluster): Promise<void> {
  const go = installedProgram('go', 'golang-go')
  const options = { encoding: 'utf8', env: { ...process.env, GOFLAGS: '-mod=mod' } } as const
  const { Dir } = JSON.parse(execFileSync(go, ['mod', 'download', '-json', MODULE], options)) as { Dir: string }
  const { code, output } = await kubectl(['apply', '--server-side', '-k', join(Dir, 'config', 'crd', 'experimental')])
  if (code !== 0) throw new Error(output)
}
