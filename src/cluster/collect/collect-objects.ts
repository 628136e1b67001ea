import { GATEWAY_GROUP } from '#api/groups.ts'
import { apiVersionOf, findKind, KINDS, type KindInfo } from '#api/kinds.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import { secretsOfObject } from '#control/secret-values.ts'
import { GATEWAY_LABEL } from '#deploy/names.ts'
import { type ClusterReader, listIn } from '../examine/cluster-reader.ts'
import { type Members, membersOf, textOf } from '../kubeconfig.ts'
import { listPath, secretPath } from '../object-path.ts'
import { secretReferences } from '../secret-references.ts'
import { redactObject } from './redact-object.ts'
import type { SupportFiles } from './support-files.ts'

const SECRET = findKind('Secret')!

/** Kinds of the cluster that routes refer to: only those in namespaces with objects of the gateway. */
const BACKENDS = ['Service', 'EndpointSlice'].map((kind) => findKind(kind)!)
const GATEWAY_KINDS = KINDS.filter(({ own, group }) => own || group === GATEWAY_GROUP)

/** What was read, for other parts of the archive. */
export interface CollectedObjects {
  /** With their namespace, which is empty for objects without one. */
  readonly objects: readonly ApiObject[]
  /** Values that no file may contain. */
  readonly secrets: readonly string[]
}

/**
 * Adds the objects of our kinds and of the Gateway API, Services with their endpoints, and the names of Secrets.
 * @param namespaces none: all
 * @param secretKeys of further Secrets
 */
export async function collectObjects(
  reader: ClusterReader,
  files: SupportFiles,
  { namespaces, secretKeys }: { readonly namespaces: readonly string[]; readonly secretKeys: readonly string[] },
): Promise<CollectedObjects> {
  const objects = (await Promise.all(GATEWAY_KINDS.map((info) => listKind(reader, files, info, namespaces)))).flat()
  const places = [...new Set(objects.map(({ metadata }) => metadata.namespace))].filter((name) => name !== '')
  const backends =
    places.length === 0 ? [] : (await Promise.all(BACKENDS.map((info) => listKind(reader, files, info, places)))).flat()
  const all = [...objects, ...backends]
  for (const [path, each] of Map.groupBy(all, fileOf)) files.addYaml(path, each.map(withoutOrigin).map(redactObject))
  const secrets = await collectSecrets(reader, files, { objects, places, secretKeys })
  return { objects: all, secrets: [...secrets, ...objects].flatMap(secretsOfObject) }
}

async function listKind(
  reader: ClusterReader,
  files: SupportFiles,
  info: KindInfo,
  namespaces: readonly string[],
): Promise<readonly ApiObject[]> {
  for (const version of info.versions) {
    const reading = await listIn(reader, info.namespaced ? namespaces : [], (place) => listPath(info, version, place))
    if ('why' in reading) {
      files.miss(info.plural, reading.why)
      return []
    }
    if (reading.value !== undefined)
      return reading.value.map((object) => objectOf(info, apiVersionOf(info, version), object))
  }
  return []
}

/** The items of a list need not name their kind. */
function objectOf(info: KindInfo, apiVersion: string, object: Members): ApiObject {
  const metadata = membersOf(object.metadata)
  const [name = '', namespace = ''] = [textOf(metadata.name), textOf(metadata.namespace)]
  const origin = { kind: info.kind, namespace, name }
  return { ...object, apiVersion, kind: info.kind, metadata: { ...metadata, name, namespace }, origin } as ApiObject
}

function withoutOrigin({ origin: _, ...object }: ApiObject): Members {
  return object
}

function fileOf({ kind, metadata }: ApiObject): string {
  return `objects/${metadata.namespace === '' ? 'cluster' : `namespaces/${metadata.namespace}`}/${findKind(kind)!.plural}.yaml`
}

interface SecretWish {
  readonly objects: readonly ApiObject[]
  readonly places: readonly string[]
  readonly secretKeys: readonly string[]
}

/** Adds the names of the Secrets that objects refer to, and of their entries. @returns them with their values */
async function collectSecrets(
  reader: ClusterReader,
  files: SupportFiles,
  { objects, places, secretKeys }: SecretWish,
): Promise<readonly ApiObject[]> {
  const references = objects.map((object) => ({ namespace: object.metadata.namespace, ...secretReferences(object) }))
  const named = [...new Set([...secretKeys, ...references.flatMap(({ keys }) => keys)])]
  const selected = [
    ...references.flatMap(({ namespace, selectors }) =>
      selectors.map((labels) => ({ namespace, labels: textOfLabels(labels) })),
    ),
    ...places.map((namespace) => ({ namespace, labels: GATEWAY_LABEL })),
  ]
  const lists = selected.map(async ({ namespace, labels }) => {
    const reading = await reader.list(
      `${listPath(SECRET, 'v1', namespace)}?labelSelector=${encodeURIComponent(labels)}`,
    )
    if ('why' in reading) files.miss(`Secrets of ${namespace} with ${labels}`, reading.why)
    return 'why' in reading ? [] : (reading.value ?? [])
  })
  const gets = named.map(async (key) => {
    const reading = await reader.object(secretPath(key))
    if ('why' in reading) files.miss(key, reading.why)
    else if (reading.value === undefined) files.miss(key, 'it does not exist')
    return 'why' in reading || reading.value === undefined ? [] : [reading.value]
  })
  const found = (await Promise.all([...gets, ...lists])).flat().map((secret) => objectOf(SECRET, 'v1', secret))
  const secrets = [
    ...new Map(
      found.map((secret) => [objectKey('Secret', secret.metadata.namespace, secret.metadata.name), secret]),
    ).values(),
  ]
  files.addYaml('secrets.yaml', secrets.map(describeSecret))
  return secrets
}

function textOfLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

/** What may be known of a Secret. */
function describeSecret(secret: ApiObject): object {
  const { namespace, name, creationTimestamp } = membersOf(secret.metadata)
  const { type, data } = membersOf(secret)
  return { namespace, name, type, creationTimestamp, keys: Object.keys(membersOf(data)) }
}
