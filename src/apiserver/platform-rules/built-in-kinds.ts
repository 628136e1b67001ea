import { columnsOf } from '#api/definitions/printer-columns.ts'
import { structuralSchema } from '#api/definitions/structural-schema.ts'
import { GATEWAY_GROUP } from '#api/groups.ts'
import { KINDS, type KindInfo } from '#api/kinds.ts'
import { findMistakenFields } from '#api/mistaken-fields.ts'
import { STORED_KINDS } from '#api/stored-kinds.ts'
import { validate } from '#schema/index.ts'
import { causeOf } from '../kinds/causes.ts'
import type { AdmitOptions, Admitted, ServedKind, WrittenObject } from '../kinds/served-kind.ts'
import { applyPlatformRules } from './platform-rules.ts'

/** Kinds of the platform without generation. */
const WITHOUT_GENERATION = ['Secret', 'ConfigMap', 'Namespace', 'Service', 'Event', 'Lease', 'ServiceAccount']
const WITHOUT_STATUS = ['ReferenceGrant', 'Secret', 'ConfigMap', 'EndpointSlice', 'Event', 'Lease', 'ServiceAccount']

/** Fields that clients can select objects by, besides name and namespace (Kubernetes, "Field selectors"). */
const SELECTABLE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Secret: ['type'],
  Namespace: ['status.phase'],
  Pod: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  Event: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
}

type BuiltInInfo = KindInfo | (typeof STORED_KINDS)[number]

/** Each version of each kind that this gateway knows. */
export function builtInKinds(): readonly ServedKind[] {
  return [...KINDS, ...STORED_KINDS].flatMap((info) => info.versions.map((version) => servedKind(info, version)))
}

function servedKind(info: BuiltInInfo, version: string): ServedKind {
  const { group, kind, plural, shortNames, categories, namespaced, versions, own } = info
  return {
    group,
    version,
    storageVersion: versions[0],
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames,
    categories,
    namespaced,
    schema: { description: info.description, ...structuralSchema(info.schema) },
    hasStatus: !WITHOUT_STATUS.includes(kind),
    hasGeneration: !WITHOUT_GENERATION.includes(kind),
    columns: columnsOf(info.kind),
    selectableFields: SELECTABLE_FIELDS[kind] ?? [],
    hasStrategicMerge: !own && group !== GATEWAY_GROUP,
    admit: (object, options) => admit(info, object, options),
  }
}

function admit(info: BuiltInInfo, written: WrittenObject, { unknownFields, before }: AdmitOptions): Admitted {
  const { value, problems, tolerated } = validate(info.schema, written, { unknownFields })
  const tellsUnknown = unknownFields !== 'ignore'
  const warnings = [...problems, ...(tellsUnknown ? tolerated : [])]
    .filter(({ severity }) => severity !== 'error' || value !== undefined)
    .map(({ path, message }) => `${path}: ${message}`)
  if (value === undefined) {
    return { causes: problems.filter(({ severity }) => severity === 'error').map(causeOf), warnings }
  }
  const mistaken = unknownFields === 'refuse' && tolerated.length > 0 ? findMistakenFields(info, written) : undefined
  if (mistaken !== undefined) {
    return { causes: tolerated.filter(({ path }) => mistaken.paths.includes(path)).map(causeOf), warnings: [] }
  }
  const { object, causes, unknown } = applyPlatformRules(info, value as WrittenObject, before)
  const told = [...problems, ...tolerated].map(({ path }) => path)
  const untold = tellsUnknown ? unknown.filter((path) => !told.includes(path)) : []
  const allWarnings = [...warnings, ...untold.map(unknownMember)]
  return causes.length === 0 ? { object, causes, warnings: allWarnings } : { causes, warnings: allWarnings }
}

function unknownMember(path: string): string {
  return `${path}: unknown field "${path.slice(path.lastIndexOf('.') + 1)}"`
}
