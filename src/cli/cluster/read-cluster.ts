import { collectionOf } from '#api/collection.ts'
import { apiVersionOf, findKind, KINDS, type KindInfo } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import { Translator } from '#control/translator.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { walk } from '#schema/index.ts'
import { ReadObjects } from '#store/read-objects.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { itemsOf, type Members, membersOf, textOf } from './kubeconfig.ts'

const PAGE = 500
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

/** Adds the Secrets that objects name or select. What refers to them is known after a translation, and a Secret that is found can lead to the next one. */
async function readSecrets(
  client: ApiClient,
  store: ReadObjects,
  { objects, namespaces }: { readonly objects: readonly ApiObject[]; readonly namespaces: readonly string[] },
): Promise<void> {
  const translator = new Translator({ tlsMaterial: TLS_MATERIAL })
  translator.apply(store.takeChange())
  const selected = await Promise.all(selectorsIn(objects).map((path) => readPages(client, path)))
  const asked = new Set<string>()
  let found = addAll(
    store,
    SECRET,
    selected.flatMap((list) => list ?? []),
  )
  for (;;) {
    translator.apply({ set: found, removed: [] })
    const wanted = translator.missing('Secret').filter((key) => !asked.has(key) && isIn(key, namespaces))
    if (wanted.length === 0) return
    for (const key of wanted) asked.add(key)
    found = addAll(store, SECRET, (await Promise.all(wanted.map((key) => getSecret(client, key)))).flat())
  }
}

/** @param key `objectKey` */
function isIn(key: string, namespaces: readonly string[]): boolean {
  return namespaces.length === 0 || namespaces.includes(key.split('/')[1]!)
}

/** @param key `objectKey` */
async function getSecret(client: ApiClient, key: string): Promise<readonly Members[]> {
  const [, namespace = '', name = ''] = key.split('/')
  const { status, body } = await client.get(`${secretsPath(namespace)}/${encodeURIComponent(name)}`)
  return status === 200 ? [body] : []
}

/** The lists of Secrets that policies select by label. */
function selectorsIn(objects: readonly ApiObject[]): readonly string[] {
  const paths = objects.flatMap((object) => {
    const info = findKind(object.kind)
    if (info?.own !== true) return []
    return [...walk(info.schema, object)].flatMap(({ node, value }) => {
      if (node.refersTo?.to !== 'secrets') return []
      const labels = Object.entries(membersOf(membersOf(value).matchLabels)).map(([name, label]) => `${name}=${label}`)
      return `${secretsPath(object.metadata.namespace)}?limit=${PAGE}&labelSelector=${encodeURIComponent(labels.join(','))}`
    })
  })
  return [...new Set(paths)]
}

function secretsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/${SECRET.plural}`
}

/** The objects of a kind in the first of its versions that the API serves; undefined: it serves none. */
async function listKind(
  client: ApiClient,
  info: KindInfo,
  namespaces: readonly string[],
): Promise<readonly Members[] | undefined> {
  for (const version of info.versions) {
    const apiVersion = apiVersionOf(info, version)
    const base = `${info.group === '' ? '/api' : '/apis'}/${apiVersion}`
    const found = await readKind(client, base, info, namespaces)
    // The items of a list need not name their kind.
    if (found !== undefined) return found.map((item) => ({ ...item, apiVersion, kind: info.kind }))
  }
  return undefined
}

async function readKind(
  client: ApiClient,
  base: string,
  info: KindInfo,
  namespaces: readonly string[],
): Promise<readonly Members[] | undefined> {
  const all = `${base}/${info.plural}?limit=${PAGE}`
  if (namespaces.length === 0) return readPages(client, all)
  if (!info.namespaced)
    return unlessForbidden(info === NAMESPACE ? readNamespaces(client, namespaces) : readPages(client, all))
  const lists = await Promise.all(
    namespaces.map((name) =>
      readPages(client, `${base}/namespaces/${encodeURIComponent(name)}/${info.plural}?limit=${PAGE}`),
    ),
  )
  return lists.every((list) => list === undefined) ? undefined : lists.flatMap((list) => list ?? [])
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

/** All pages of a list; undefined: there is no such list. A list whose pages have expired is read again as a whole. */
async function readPages(client: ApiClient, path: string): Promise<readonly Members[] | undefined> {
  const found: Members[] = []
  for (let token: string | undefined = ''; token !== undefined; ) {
    const { status, body } = await client.get(token === '' ? path : `${path}&continue=${encodeURIComponent(token)}`)
    if (status === 410) return readPages(client, path.replace(/limit=\d+/, 'limit=0'))
    if (status !== 200) return undefined
    if (!Array.isArray(body.items)) throw new ApiUnreadable(`${client.server}${path} did not return a list`)
    found.push(...itemsOf(body.items).map(membersOf))
    token = textOf(membersOf(body.metadata).continue)
  }
  return found
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
