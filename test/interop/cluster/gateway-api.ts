import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { installedProgram } from '../counterparts.ts'
import type { RunningCluster } from './running-cluster.ts'

const MODULE = 'sigs.k8s.io/gateway-api'
/** Pins the version of the definitions to that of the conformance suite. */
const SUITE = join(import.meta.dirname, '..', '..', 'conformance', 'gateway-api', 'suite')

/** Installs the definitions of the published module. */
export async function installGatewayApi({ kubectl }: RunningCluster): Promise<void> {
  const { code, output } = await kubectl(['apply', '--server-side', '-k', definitionsFolder()])
  if (code !== 0) throw new Error(output)
}

/** The definition of a kind. @param versions the only ones that it serves; by default all */
export function readDefinition(plural: string, versions?: readonly string[]): string {
  const definition = parse(readFileSync(join(definitionsFolder(), `gateway.networking.k8s.io_${plural}.yaml`), 'utf8'))
  for (const version of definition.spec.versions) if (versions) version.served = versions.includes(version.name)
  return JSON.stringify(definition)
}

/** The folder with the definitions of the published module. */
export function definitionsFolder(): string {
  const go = installedProgram('go', 'golang-go')
  const options = { cwd: SUITE, encoding: 'utf8', env: { ...process.env, GOTOOLCHAIN: 'auto' } } as const
  execFileSync(go, ['mod', 'download', MODULE], options)
  const folder = execFileSync(go, ['list', '-m', '-f', '{{.Dir}}', MODULE], options).trim()
  return join(folder, 'config', 'crd', 'experimental')
}
