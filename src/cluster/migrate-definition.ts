import type { ApiClient } from './api-client.ts'
import { ApiUnreadable, isConflict } from './api-unreadable.ts'
import { definitionPath } from './definition-path.ts'
import { itemsOf, type Members, membersOf, textOf } from './kubeconfig.ts'

/** Objects of one page; each is one write. */
const PAGE = 100

type MigrationApi = Pick<ApiClient, 'get' | 'replace' | 'server'>

/** What a migration did, or would do. */
export interface Migration {
  readonly name: string
  /** The version to store. */
  readonly storage: string
  /** Other versions in which objects may be stored; none: there is nothing to do. */
  readonly former: readonly string[]
  /** Objects that were written, or would be. */
  readonly objects: number
}

/**
 * Stores all objects of a definition in the version to store, and then removes all others from its `status.storedVersions`, so that a later definition
 * can leave them out. An API server stores what it is given in that version, so each object is written as it was read. What somebody else changes
 * meanwhile is stored by that change. May end at any time, and be repeated.
 * @returns undefined: there is no such definition
 * @throws ApiUnreadable
 */
export async function migrateDefinition(
  api: MigrationApi,
  name: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Migration | undefined> {
  const path = definitionPath(name)
  const { status, body } = await api.get(path)
  if (status !== 200) return undefined
  const storage = storageOf(body)
  const former = itemsOf(membersOf(body.status).storedVersions)
    .map(String)
    .filter((version) => version !== storage)
  if (former.length === 0) return { name, storage, former, objects: 0 }
  const objects = await rewrite(api, body, storage, dryRun)
  if (!dryRun) await forget(api, path, { storage, generation: membersOf(body.metadata).generation })
  return { name, storage, former, objects }
}

/** Writes all objects. @returns their number */
async function rewrite(api: MigrationApi, { spec }: Members, storage: string, dryRun: boolean): Promise<number> {
  const { group, names, scope } = membersOf(spec)
  const { plural } = membersOf(names)
  const root = `/apis/${group}/${storage}`
  let objects = 0
  let token: string | undefined = ''
  while (token !== undefined) {
    const { status, body } = await api.get(`${root}/${plural}?limit=${PAGE}&continue=${encodeURIComponent(token)}`)
    // The list has changed too much since its first page. What was written is written.
    if (status === 410) {
      token = textOf(membersOf(body.metadata).continue) ?? ''
      continue
    }
    if (status !== 200) throw new ApiUnreadable(`${api.server} does not serve ${root}/${plural}`)
    const items = itemsOf(body.items).map(membersOf)
    objects += items.length
    token = textOf(membersOf(body.metadata).continue)
    if (dryRun) continue
    for (const item of items) {
      const { namespace, name } = membersOf(item.metadata)
      const place = scope === 'Namespaced' ? `namespaces/${encodeURIComponent(String(namespace))}/` : ''
      await store(api, `${root}/${place}${plural}/${encodeURIComponent(String(name))}`, item)
    }
  }
  return objects
}

/** Writes an object as it was read; whoever has changed it since has stored it. */
async function store(api: MigrationApi, path: string, object: Members): Promise<void> {
  try {
    await api.replace(path, object)
  } catch (error) {
    if (!isConflict(error)) throw error
  }
}

/** Only if nobody has changed the definition since its objects were read. */
async function forget(
  api: MigrationApi,
  path: string,
  { storage, generation }: { readonly storage: string; readonly generation: unknown },
): Promise<void> {
  const { body } = await api.get(path)
  if (membersOf(body.metadata).generation !== generation)
    throw new ApiUnreadable(`${path} has changed while its objects were stored; repeat the migration`)
  await api.replace(`${path}/status`, { ...body, status: { ...membersOf(body.status), storedVersions: [storage] } })
}

function storageOf({ spec }: Members): string {
  const versions = itemsOf(membersOf(spec).versions).map(membersOf)
  return textOf(versions.find(({ storage }) => storage === true)?.name) ?? ''
}
