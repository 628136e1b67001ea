import { structuralSchema } from '#api/definitions/structural-schema.ts'
import { validate } from '#schema/index.ts'
import { causeOf } from '../kinds/causes.ts'
import type { AdmitOptions, Admitted, ServedKind, WrittenObject } from '../kinds/served-kind.ts'
import { checkDefinition, type WrittenDefinition } from './check-definition.ts'
import { customResourceDefinition } from './definition-schema.ts'

/** The collection of the definitions themselves. */
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/** The kind CustomResourceDefinition: what users apply to have a kind of their own served. */
export function definitionKind(): ServedKind {
  return {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    storageVersion: 'v1',
    kind: 'CustomResourceDefinition',
    listKind: 'CustomResourceDefinitionList',
    plural: 'customresourcedefinitions',
    singular: 'customresourcedefinition',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    namespaced: false,
    schema: { description: 'Defines a kind that the API serves.', ...structuralSchema(customResourceDefinition) },
    hasStatus: true,
    hasGeneration: true,
    columns: [{ name: 'Created At', type: 'string', jsonPath: '.metadata.creationTimestamp' }],
    hasStrategicMerge: false,
    admit,
  }
}

function admit(written: WrittenObject, { unknownFields, before }: AdmitOptions): Admitted {
  const { value, problems, tolerated } = validate(customResourceDefinition, written, { unknownFields })
  const warnings = tolerated.map(({ path, message }) => `${path}: ${message}`)
  if (value === undefined) {
    return { causes: problems.filter(({ severity }) => severity === 'error').map(causeOf), warnings }
  }
  const object = withNames(value as WrittenObject & WrittenDefinition)
  const causes = checkDefinition(object, before)
  return causes.length === 0 ? { object, causes, warnings } : { causes, warnings }
}

/** Names that follow from the kind. */
function withNames(written: WrittenObject & WrittenDefinition): WrittenObject & WrittenDefinition {
  const { names } = written.spec
  const { kind, singular = kind.toLowerCase(), listKind = `${kind}List` } = names
  return { ...written, spec: { ...written.spec, names: { ...names, singular, listKind } } }
}
