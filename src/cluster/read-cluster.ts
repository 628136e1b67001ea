import { collectionOf } from '#api/collection.ts'
import { apiVersionOf, findKind, KINDS, type KindInfo } from '#api/kinds.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import { ReadObjects } from '#store/read-objects.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { type Members, membersOf, textOf } from './kubeconfig.ts'
import { listPath, secretPath } from './object-path.ts'
import { type ApiList, PAGE, readPages } from './read-pages.ts'
import { type Labels, secretReferences } from './secret-references.ts'

const SECRET = findKind('Secret')!
const NAMESPACE = findKind('Namespace')!

/** The objects of an API that a gateway would read. */
export interface ClusterObjects {
  readonly store: ReadObjects
  /** Kinds that the API does not serve, or whose objects without namespace may not be read. */
  readonly missing: readonly KindInfo[]
}

/**
 * Reads all objects of the kinds that a gateway reads; of Secrets, only those that other objects refer to.
 * @param namespaces if there are any: only objects in these, and objects without namespace that may be read
 * @throws ApiUnreadable
 */
export async function readCluster(client: ApiClient, namespaces: readonly string[] = []): Promise<ClusterObjects> {
  const listed = KINDS.filter((info) => info !== SECRET)
  const lists = await Promise.all(listed.map((info) => listKind(client, info, namespaces)))
  const missing = listed.filter((_, index) => lists[index] === undefined)
  if (missing.length === listed.length)
    throw new ApiUnreadable(`${client.server} serves none of the kinds that a gateway reads; is it a Kubernetes API?`)
  const store = new ReadObjects()
  const objects = listed.flatMap((info, index) => addAll(store, info, lists[index] ?? []))
  await readSecrets(client, store, { objects, namespaces })
  return { store, missing }
}

/** Adds the Secrets that objects name or select. */
async function readSecrets(
  client: ApiClient,
  store: ReadObjects,
  { objects, namespaces }: { readonly objects: readonly ApiObject[]; readonly namespaces: readonly string[] },
): Promise<void> {
  const references = objects.map((object) => ({ object, ...secretReferences(object) }))
  const paths = references.flatMap(({ object, selectors }) =>
    selectors.map((labels) => selectingPath(object.metadata.namespace, labels)),
  )
  const lists = await Promise.all([...new Set(paths)].map((path) => readPages(client, path)))
  const selected = addAll(
    store,
    SECRET,
    lists.flatMap((list) => list?.items ?? []),
  )
  const known = new Set(selected.map(keyOf))
  const named = new Set(references.flatMap(({ keys }) => keys))
  const wanted = [...named].filter((key) => !known.has(key) && isIn(key, namespaces))
  addAll(store, SECRET, (await Promise.all(wanted.map((key) => getSecret(client, key)))).flat())
}

/** @param key `objectKey` */
function isIn(key: string, namespaces: readonly string[]): boolean {
  return namespaces.length === 0 || namespaces.includes(key.split('/')[1]!)
}

/** @param key `objectKey` */
async function getSecret(client: ApiClient, key: string): Promise<readonly Members[]> {
  const { status, body } = await client.get(secretPath(key))
  return status === 200 ? [body] : []
}

/** The list of the Secrets of a namespace with certain labels. */
function selectingPath(namespace: string, wanted: Labels): string {
  const labels = Object.entries(wanted).map(([name, label]) => `${name}=${label}`)
  return `${listPath(SECRET, 'v1', namespace)}?limit=${PAGE}&labelSelector=${encodeURIComponent(labels.join(','))}`
}

/** The objects of a kind in the first of its versions that the API serves; undefined: it serves none. */
async function listKind(
  client: ApiClient,
  info: KindInfo,
  namespaces: readonly string[],
): Promise<readonly Members[] | undefined> {
  for (const version of info.versions) {
    const found = await readKind(client, version, info, namespaces)
    // The items of a list need not name their kind.
    if (found !== undefined)
      return found.map((item) => ({ ...item, apiVersion: apiVersionOf(info, version), kind: info.kind }))
  }
  return undefined
}

async function readKind(
  client: ApiClient,
  version: string,
  info: KindInfo,
  namespaces: readonly string[],
): Promise<readonly Members[] | undefined> {
  const all = `${listPath(info, version, undefined)}?limit=${PAGE}`
  if (namespaces.length === 0) return (await readPages(client, all))?.items
  if (!info.namespaced)
    return unlessForbidden(info === NAMESPACE ? readNamespaces(client, namespaces) : itemsIn(readPages(client, all)))
  const lists = await Promise.all(
    namespaces.map((name) => readPages(client, `${listPath(info, version, name)}?limit=${PAGE}`)),
  )
  return lists.every((list) => list === undefined) ? undefined : lists.flatMap((list) => list?.items ?? [])
}

async function itemsIn(list: Promise<ApiList | undefined>): Promise<readonly Members[] | undefined> {
  return (await list)?.items
}

async function readNamespaces(client: ApiClient, names: readonly string[]): Promise<readonly Members[]> {
  const answers = await Promise.all(names.map((name) => client.get(`/api/v1/namespaces/${encodeURIComponent(name)}`)))
  return answers.flatMap(({ status, body }) => (status === 200 ? [body] : []))
}

/** Users with access to some namespaces often lack access to kinds without namespaces. */
async function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ApiUnreadable && error.status === 403) return undefined
    throw error
  }
}

function addAll(store: ReadObjects, info: KindInfo, resources: readonly Members[]): readonly ApiObject[] {
  return resources.flatMap((resource) => {
    const { name, namespace } = membersOf(resource.metadata)
    const [text, space] = [textOf(name), info.namespaced ? textOf(namespace) : '']
    if (text === undefined || space === undefined)
      throw new ApiUnreadable(`the API returned a ${info.kind} without its name`)
    const object = { ...resource, apiVersion: resource.apiVersion ?? apiVersionOf(info), kind: info.kind }
    const key = { collection: collectionOf(info), namespace: space, name: text }
    return store.add(key, object as unknown as Resource) ?? []
  })
}
