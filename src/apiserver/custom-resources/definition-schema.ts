import { platformKind } from '#api/object.ts'
import {
  boolean,
  defaulted,
  enumOf,
  integer,
  json,
  list,
  openObject,
  optional,
  type Parsed,
  required,
  text,
} from '#schema/index.ts'

const names = openObject({
  plural: required(text(), 'Plural name, which is a part of paths and of the name of the definition.'),
  singular: optional(text(), 'Singular name. When unset, the kind in lower case.'),
  kind: required(text(), 'Kind of the objects.'),
  listKind: optional(text(), 'Kind of lists. When unset, the kind followed by "List".'),
  shortNames: optional(list(text()), 'Short names for command lines.'),
  categories: optional(list(text()), 'Groups of kinds that the kind belongs to, such as "all".'),
})

const column = openObject({
  name: required(text(), 'Title of the column.'),
  type: required(text(), 'Type of the values: integer, number, string, boolean or date.'),
  format: optional(text(), 'Format of the values.'),
  description: optional(text(), 'Description of the column.'),
  priority: optional(integer(), '0: always shown. Greater: only in wide output.'),
  jsonPath: required(text(), 'Path of the value in the object.'),
})

const scale = openObject({
  specReplicasPath: required(text(), 'Path of the desired number of replicas.'),
  statusReplicasPath: required(text(), 'Path of the observed number of replicas.'),
  labelSelectorPath: optional(text(), 'Path of the label selector of the replicas.'),
})

const version = openObject({
  name: required(text(), 'Name of the version, such as "v1".'),
  served: required(boolean(), 'Whether the version is served.'),
  storage: required(boolean(), 'Whether objects are stored in the version. One version is that.'),
  deprecated: optional(boolean(), 'Whether clients are warned of the version.'),
  deprecationWarning: optional(text(), 'Text of the warning.'),
  schema: optional(
    openObject({ openAPIV3Schema: optional(json(), 'Structural schema of the objects.') }),
    'Schema of the version.',
  ),
  subresources: optional(
    openObject({
      status: optional(json(), 'Present: the status is written apart from the rest.'),
      scale: optional(scale, 'Where the number of replicas is.'),
    }),
    'Subresources of the objects.',
  ),
  additionalPrinterColumns: optional(list(column), 'What tables show besides the name.'),
  selectableFields: optional(
    list(openObject({ jsonPath: required(text(), 'Path of the field.') })),
    'Fields besides name and namespace that clients can select objects by.',
  ),
})

const spec = openObject({
  group: required(text(), 'API group of the kind.'),
  names: required(names, 'Names of the kind.'),
  scope: required(enumOf('Cluster', 'Namespaced'), 'Whether objects are in namespaces.'),
  versions: required(list(version), 'Versions of the kind.'),
  conversion: defaulted(
    openObject({
      strategy: required(text(), 'None: all versions have the same members.'),
      webhook: optional(json(), 'Not supported.'),
    }),
    { strategy: 'None' },
    'How objects are converted between versions.',
  ),
  preserveUnknownFields: optional(boolean(), 'Deprecated: must be false.'),
})

/** A CustomResourceDefinition (Kubernetes, apiextensions.k8s.io/v1). */
export const customResourceDefinition = platformKind('CustomResourceDefinition', {
  spec: required(spec, 'The kind that is defined.'),
  status: optional(json(), 'Observed state.'),
})

export type DefinitionSpec = Parsed<typeof spec>
export type DefinitionVersion = Parsed<typeof version>
