import {
  boolean,
  type ConfigProblem,
  fieldPath,
  formattedText,
  integer,
  itemPath,
  json,
  list,
  mapOf,
  namespaceName,
  objectName,
  openObject,
  optional,
  type Parsed,
  problem,
  type ScalarRefusal,
  text,
  withRule,
} from '#schema/index.ts'

const QUALIFIED_NAME =
  /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/

function checkLabelValue(value: string): ScalarRefusal | undefined {
  if (LABEL_VALUE.test(value)) return undefined
  const message =
    'must be a label value: at most 63 letters, digits, "-", "_" and ".", starting and ending with a letter or digit'
  return { code: 'invalid-name', message }
}

type Keyed = { readonly [Field in 'labels' | 'annotations']?: Readonly<Record<string, string>> }

function checkKeys(metadata: Keyed, path: string): readonly ConfigProblem[] {
  return (['labels', 'annotations'] as const).flatMap((field) => {
    const bad = Object.keys(metadata[field] ?? {}).filter((key) => !QUALIFIED_NAME.test(key))
    const message = 'must be a name of at most 63 characters, with an optional DNS prefix and "/" before it'
    return bad.map((key) => problem(itemPath(fieldPath(path, field), key), 'invalid-name', message))
  })
}

const fields = openObject({
  name: optional(objectName(), 'Name of the object, unique among objects of its kind in the namespace.'),
  generateName: optional(text(), 'Prefix of a name that the server generates.'),
  namespace: optional(namespaceName(), 'Namespace of the object. When unset, "default".'),
  labels: optional(mapOf(formattedText({}, checkLabelValue)), 'Labels. Selectors match them.'),
  annotations: optional(mapOf(text()), 'Annotations.'),
  uid: optional(text(), 'Unique id of the object, set by the server.'),
  resourceVersion: optional(text(), 'Version of the object, set by the server.'),
  generation: optional(integer(), 'Generation of the spec; the server increments it on every change.'),
  creationTimestamp: optional(text(), 'Time of creation.'),
  deletionTimestamp: optional(text(), 'Time after which the object is deleted.'),
  deletionGracePeriodSeconds: optional(integer(), 'Seconds until the object is deleted.'),
  finalizers: optional(list(text()), 'Finalizers that must be removed before the object is deleted.'),
  ownerReferences: optional(
    list(
      openObject({
        apiVersion: optional(text(), 'API version of the owner.'),
        kind: optional(text(), 'Kind of the owner.'),
        name: optional(text(), 'Name of the owner.'),
        uid: optional(text(), 'Unique id of the owner.'),
        controller: optional(boolean(), 'Whether the owner is the managing controller.'),
        blockOwnerDeletion: optional(boolean(), 'Whether the owner cannot be deleted before this object.'),
      }),
    ),
    'Owners of the object. The object is deleted with them.',
  ),
  managedFields: optional(json(), 'Which manager set which field.'),
  selfLink: optional(text(), 'Deprecated. The platform no longer uses it.'),
})

/** The platform's ObjectMeta. Tools add nulls and other fields, so unknown fields are accepted. */
export const objectMeta = withRule(fields, {
  reads: ['labels', 'annotations'],
  description: 'Keys of labels and annotations must be qualified names.',
  check: checkKeys,
})

export type ObjectMeta = Parsed<typeof objectMeta>
