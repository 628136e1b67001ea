import { problem } from '#schema/index.ts'
import type { FileProblem } from '#store/file-problem.ts'
import type { KindWatch } from './kind-watch.ts'
import type { ReferredSecrets } from './referred-secrets.ts'

type Watches = readonly Pick<KindWatch, 'watched' | 'state' | 'isSynced'>[]

/** Kinds that the API does not serve, and those that cannot be read. One cause is one problem. */
export function watchProblems(server: string, watches: Watches): readonly FileProblem[] {
  const absent = watches.filter(({ state }) => state.kind === 'absent')
  return [
    ...[...new Set(absent.map(({ watched }) => watched.info))].map(({ kind, versions }) => {
      const message = `${server} serves no ${kind} in ${versions.join(', ')}, so there are none; they are read as soon as it does`
      return { ...problem('', 'kind-not-served', message, 'warning'), file: '' }
    }),
    ...[...failing(watches)].map(([cause, kinds]) => {
      const message = `${kinds}: ${cause}; what was read before stays in force, and the gateway tries again`
      return { ...problem('', 'api-unreadable', message), file: '' }
    }),
  ]
}

/** Secrets that cannot be read, and those that nobody reads. */
export function secretProblems(secrets: ReferredSecrets, namespaces: readonly string[]): readonly FileProblem[] {
  const failures = [...secrets.failures()].map(([key, error]) => {
    const object = describeKey(key)
    const message = `${object}: ${error.message}; what was read before stays in force, and the gateway tries again`
    return { ...problem('', 'api-unreadable', message), file: '', object }
  })
  const outside = [...secrets.referrers].filter(([key]) => !isWithin(key, namespaces))
  return [
    ...failures,
    ...outside.flatMap(([key, referrers]) =>
      [...referrers].map((referrer) => {
        const object = describeKey(referrer)
        const message = `${object}: ${describeKey(key)} is outside of the namespaces that the gateway reads (${namespaces.join(', ')}), so it is not used`
        return { ...problem('', 'secret-not-read', message), file: '', object }
      }),
    ),
  ]
}

/** Why not everything was read yet. */
export function unsyncedWatches(
  server: string,
  watches: Watches,
  { isPending }: Pick<ReferredSecrets, 'isPending'>,
): readonly string[] {
  const unsynced = watches.filter(({ isSynced }) => !isSynced)
  const starting = unsynced.filter(({ state }) => state.kind !== 'failing')
  return [
    ...(starting.length > 0 ? [`not read yet from ${server}: ${kindsOf(starting)}`] : []),
    ...[...failing(unsynced)].map(([cause, kinds]) => `not read yet: ${kinds}: ${cause}`),
    ...(isPending ? [`not read yet from ${server}: Secrets that objects refer to`] : []),
  ]
}

/** The kinds that fail, by cause. */
function failing(watches: Watches): ReadonlyMap<string, string> {
  const found = watches.flatMap((watch) =>
    watch.state.kind === 'failing' ? [{ watch, cause: watch.state.error.message }] : [],
  )
  const byCause = Map.groupBy(found, ({ cause }) => cause)
  return new Map([...byCause].map(([cause, each]) => [cause, kindsOf(each.map(({ watch }) => watch))]))
}

function kindsOf(watches: Watches): string {
  return [...new Set(watches.map(({ watched }) => watched.info.kind))].join(', ')
}

function isWithin(key: string, namespaces: readonly string[]): boolean {
  return namespaces.length === 0 || namespaces.includes(key.split('/')[1]!)
}

/** @param key `objectKey` */
function describeKey(key: string): string {
  const [kind = '', namespace = '', name = ''] = key.split('/')
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
}
