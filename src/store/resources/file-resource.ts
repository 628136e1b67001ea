import type { KindInfo } from '#api/kinds.ts'
import { isKind } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { SecretObject } from '#api/secret.ts'
import { secretData } from '#api/secret-data.ts'
import type { JsonObject } from '#base/json.ts'
import type { ManagedFieldsEntry, Resource, ResourceKey, ResourceMeta } from './resource.ts'
import { uidOfKey } from './uid-of-key.ts'

/** Where a resource of a file is put. */
export interface FilePlace {
  readonly key: ResourceKey
  readonly info: KindInfo
  /** What the table has under the key. */
  readonly before: Resource | undefined
  /** It is an earlier version of the object, from a file. */
  readonly isKnown: boolean
  /** RFC 3339. */
  readonly now: string
  /** That of the name, whoever has it. Only of a kind that the gateway reports on. */
  readonly status: unknown
}

/** The form in which the API serves an object of a file. It shares the parts of the object. */
export function fileResource(
  object: ApiObject,
  { key, info, before, isKnown, now, status: ours }: FilePlace,
): Resource {
  const { apiVersion, kind, origin } = object
  const metadata: ResourceMeta = {
    ...metadataOf(object, info),
    uid: uidOfKey(key),
    resourceVersion: '',
    creationTimestamp: isKnown ? before!.metadata.creationTimestamp : now,
    managedFields: [managedBy(`file:${origin.file ?? ''}`, object, now)],
  }
  const status = info.statusIsOurs ? ours : object.status
  if (isPlain(object)) {
    const { spec } = object
    return status === undefined ? { apiVersion, kind, metadata, spec } : { apiVersion, kind, metadata, spec, status }
  }
  const { metadata: _, origin: __, refusal: ___, status: ____, ...content } = object
  return {
    ...(isKind(object, 'Secret') ? encoded(object, content as SecretContent) : content),
    apiVersion,
    kind,
    metadata,
    ...(status === undefined ? {} : { status }),
  }
}

/** Nearly all objects of a big configuration are: adding members one by one would take most of the time. */
function isPlain(object: ApiObject): boolean {
  for (const name in object) {
    if (name !== 'apiVersion' && name !== 'kind' && name !== 'metadata' && name !== 'spec' && name !== 'origin')
      return false
  }
  return object.spec !== undefined
}

type ServedMeta = Omit<ResourceMeta, 'uid' | 'resourceVersion' | 'creationTimestamp' | 'managedFields'>

/** Objects without namespace have no member for it, and most core kinds have no generation. */
function metadataOf({ metadata }: ApiObject, { namespaced, group }: KindInfo): ServedMeta {
  if (namespaced && group !== '') return metadata as ServedMeta
  const { namespace, generation, ...others } = metadata
  return {
    ...others,
    ...(namespaced ? { namespace } : {}),
    ...(group === '' ? {} : { generation }),
  } as ServedMeta
}

type SecretContent = Readonly<Record<string, unknown>>

/** As the platform stores Secrets. */
function encoded(secret: SecretObject, { stringData, ...content }: SecretContent): SecretContent {
  if (stringData === undefined) return content
  const entries = Object.entries(secretData(secret)).map(([name, bytes]) => [name, btoa(bytes)])
  return { ...content, data: Object.fromEntries(entries) }
}

/** The object whose fields are managed. */
const OBJECT = Symbol('object')

/** One function for all entries: with one for each entry, V8 keeps every entry as a hash table, which takes 400 bytes more. */
const FIELDS: PropertyDescriptor & ThisType<{ readonly [OBJECT]: ApiObject }> = {
  enumerable: true,
  get() {
    const { apiVersion: _, kind: __, origin: ___, status: ____, refusal: _____, metadata, ...content } = this[OBJECT]
    const { labels, annotations } = metadata
    return fieldsOf({ ...(labels || annotations ? { metadata: { labels, annotations } } : {}), ...content })
  },
}

/** The fields are computed when somebody reads them: they take as much memory as the object. */
function managedBy(manager: string, object: ApiObject, time: string): ManagedFieldsEntry {
  const entry = { manager, operation: 'Apply', apiVersion: object.apiVersion, time, fieldsType: 'FieldsV1' }
  Object.defineProperty(entry, OBJECT, { value: object })
  return Object.defineProperty(entry, 'fieldsV1', FIELDS) as typeof entry & ManagedFieldsEntry
}

/** The set of fields of a value (Kubernetes, `FieldsV1`); lists are one field, because a file owns all of their items. */
function fieldsOf(value: object): JsonObject {
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    members.map(([name, member]) => [`f:${name}`, isMap(member) ? fieldsOf(member) : {}]),
  ) as JsonObject
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
