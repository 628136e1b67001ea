import type { KindInfo } from '../kinds.ts'
import { columnsOf } from './printer-columns.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

const LABELS = { app: 'gatewright', 'app.kubernetes.io/name': 'gatewright' }
/** Tools of the Gateway API recognise policies by this label (Gateway API, "Policy attachment"). */
const POLICY_LABEL = { 'gateway.networking.k8s.io/policy': 'Direct' }

/** The CustomResourceDefinition of a kind of this gateway (apiextensions.k8s.io/v1). */
export function customResourceDefinition(info: KindInfo): StructuralSchema {
  const { group, kind, plural, shortNames, categories, versions, namespaced } = info
  const isPolicy = kind !== 'ProxyBackend'
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { ...LABELS, ...(isPolicy ? POLICY_LABEL : {}) } },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames, categories },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: schemaOf(info) },
        subresources: { status: {} },
        additionalPrinterColumns: columnsOf(kind),
      })),
    },
  }
}

/** The API server itself checks the metadata, and the kind by its path. */
function schemaOf({ schema, description }: KindInfo): StructuralSchema {
  const { properties, required, ...rest } = structuralSchema(schema)
  const { apiVersion, kind, metadata: _, ...members } = properties as Record<string, StructuralSchema>
  const text = ({ description }: StructuralSchema) => ({ type: 'string', description })
  const own = (required as readonly string[]).filter((name) => name in members)
  return {
    description,
    ...rest,
    ...(own.length > 0 ? { required: own } : {}),
    properties: { apiVersion: text(apiVersion!), kind: text(kind!), metadata: { type: 'object' }, ...members },
  }
}
