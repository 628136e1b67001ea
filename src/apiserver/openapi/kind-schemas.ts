import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import { type MergeKeys, mergeKeysOf } from '#patch/merge-keys.ts'
import { groupVersion } from '../kinds/collection.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { definitionName, META } from './definition-names.ts'
import { type Reference, typeMembers } from './meta-schemas.ts'

type Schemas = Readonly<Record<string, StructuralSchema>>

/**
 * The schemas of a kind and of its lists, by name.
 * @param convert makes of a structural schema what the version of OpenAPI can say
 */
export function kindSchemas(
  kind: ServedKind,
  to: Reference,
  convert: (schema: StructuralSchema) => StructuralSchema,
): Schemas {
  const name = definitionName(kind)
  const schemas = { [name]: objectSchema(kind, to, convert) }
  return kind.review === undefined ? { ...schemas, [`${name}List`]: listSchema(kind, to) } : schemas
}

function objectSchema(
  kind: ServedKind,
  to: Reference,
  convert: (schema: StructuralSchema) => StructuralSchema,
): StructuralSchema {
  const {
    properties = {},
    required = [],
    ...rest
  } = convert(kind.hasStrategicMerge ? withMergeKeys(kind.schema, mergeKeysOf(kind.kind)) : kind.schema) as {
    properties?: Schemas
    required?: readonly string[]
  }
  const names = required.filter((name) => !COMMON.includes(name))
  const isOpen = Object.keys(properties).length === 0
  const metadata = to(`${META}.ObjectMeta`, 'Metadata of the object.')
  return {
    ...rest,
    type: 'object',
    ...(names.length > 0 ? { required: names } : {}),
    // A schema without members accepts all, and naming some would refuse the others.
    ...(isOpen ? {} : { properties: { ...properties, ...typeMembers(), metadata } }),
    'x-kubernetes-group-version-kind': [identityOf(kind, kind.kind)],
  }
}

/** Adds how strategic merge patches merge lists: `kubectl apply` makes its patches according to that. */
function withMergeKeys(schema: StructuralSchema, { mergeKey, fields = {} }: MergeKeys): StructuralSchema {
  const strategy = mergeKey === undefined ? {} : { 'x-kubernetes-patch-strategy': 'merge' }
  const key = mergeKey ? { 'x-kubernetes-patch-merge-key': mergeKey } : {}
  const inside = (of: StructuralSchema): StructuralSchema => {
    const properties = Object.entries((of.properties ?? {}) as Schemas)
    if (properties.length === 0) return of
    return {
      ...of,
      properties: Object.fromEntries(
        properties.map(([name, field]) => [name, fields[name] ? withMergeKeys(field, fields[name]) : field]),
      ),
    }
  }
  const { items } = schema
  const merged = items === undefined ? inside(schema) : { ...schema, items: inside(items as StructuralSchema) }
  return { ...merged, ...strategy, ...key }
}

const COMMON: readonly string[] = ['apiVersion', 'kind', 'metadata']

function listSchema(kind: ServedKind, to: Reference): StructuralSchema {
  return {
    type: 'object',
    description: `A list of ${kind.kind} objects.`,
    required: ['items'],
    properties: {
      ...typeMembers(),
      metadata: to(`${META}.ListMeta`, 'Metadata of the list.'),
      items: { type: 'array', description: 'The objects.', items: to(definitionName(kind)) },
    },
    'x-kubernetes-group-version-kind': [identityOf(kind, kind.listKind)],
  }
}

/** A kind as the extension `x-kubernetes-group-version-kind` names it. */
export function identityOf({ group, version }: Pick<ServedKind, 'group' | 'version'>, kind: string) {
  return { group, kind, version }
}

/** The schema of the scale subresource (Kubernetes, autoscaling/v1). */
export const SCALE = 'io.k8s.api.autoscaling.v1.Scale'

export function scaleSchema(to: Reference): StructuralSchema {
  const replicas: StructuralSchema = { type: 'integer', format: 'int32', description: 'Number of replicas.' }
  return {
    type: 'object',
    description: 'The number of replicas of an object.',
    properties: {
      ...typeMembers(),
      metadata: to(`${META}.ObjectMeta`, 'Metadata of the object.'),
      spec: { type: 'object', description: 'Desired state.', properties: { replicas } },
      status: {
        type: 'object',
        description: 'Observed state.',
        required: ['replicas'],
        properties: { replicas, selector: { type: 'string', description: 'Label selector of the replicas.' } },
      },
    },
    'x-kubernetes-group-version-kind': [{ group: 'autoscaling', kind: 'Scale', version: 'v1' }],
  }
}

/** `ProxyBackend` in `gatewright.dev/v1alpha1`, as a part of the ids of operations: `GatewrightDevV1alpha1`. */
export function operationGroup(kind: ServedKind): string {
  const words = (kind.group === '' ? `core/${kind.version}` : groupVersion(kind)).split(/[./-]/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
