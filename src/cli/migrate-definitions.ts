import { KINDS } from '#api/kinds.ts'
import { count } from '#base/count.ts'
import { type Migration, migrateDefinition } from '#cluster/migrate-definition.ts'
import { type ClusterFlags, clusterClient } from './cluster-client.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain, print } from './output.ts'

export interface MigrateFlags extends ClusterFlags {
  readonly dryRun?: boolean
}

/** Stores all objects of our kinds in the version to store. @param names of other definitions instead */
export async function migrateDefinitions(
  names: readonly string[],
  { dryRun = false, ...flags }: MigrateFlags,
): Promise<ExitCode> {
  using client = await clusterClient(flags, process.env)
  const wanted =
    names.length > 0 ? names : KINDS.filter(({ own }) => own).map(({ plural, group }) => `${plural}.${group}`)
  let areAllFound = true
  for (const name of wanted) {
    const migration = await migrateDefinition(client, name, { dryRun })
    if (migration === undefined) {
      complain(`${client.server} has no definition ${name}`)
      areAllFound = false
    } else print(describe(migration, dryRun))
  }
  return areAllFound ? EXIT.ok : EXIT.findings
}

function describe({ name, storage, former, objects }: Migration, dryRun: boolean): string {
  if (former.length === 0) return `${name}: all objects are stored as ${storage}; nothing to do`
  const written = `${count(objects, 'object')} ${dryRun ? 'would be stored' : 'stored'} as ${storage}`
  return `${name}: ${written}, ${former.join(', ')} ${dryRun ? 'would be removed' : 'removed'} from status.storedVersions`
}
