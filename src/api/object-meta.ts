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
    const message = 'must be a name of at most 63 characters, perhaps after a DNS prefix and "/"'
    return bad.map((key) => problem(itemPath(fieldPath(path, field), key), 'invalid-name', message))
  })
}

const fields = openObject({
  name: optional(objectName(), 'Name of the object, unique among objects of its kind in the namespace.'),
  generateName: optional(text(), 'Prefix of a name that the server completes.'),
  namespace: optional(namespaceName(), 'Namespace of the object; "default" when unset.'),
  labels: optional(mapOf(formattedText({}, checkLabelValue)), 'Labels, for selectors.'),
  annotations: optional(mapOf(text()), 'Annotations.'),
  uid: optional(text(), 'Identity of this object, given by the server.'),
  resourceVersion: optional(text(), 'Version of this object, given by the server.'),
  generation: optional(integer(), 'Counts the changes of spec.'),
  creationTimestamp: optional(text(), 'When the object was created.'),
  deletionTimestamp: optional(text(), 'When the object will be gone.'),
  deletionGracePeriodSeconds: optional(integer(), 'Seconds until the object is gone.'),
  finalizers: optional(list(text()), 'Who must agree before the object is removed.'),
  ownerReferences: optional(
    list(
      openObject({
        apiVersion: optional(text(), 'API version of the owner.'),
        kind: optional(text(), 'Kind of the owner.'),
        name: optional(text(), 'Name of the owner.'),
        uid: optional(text(), 'Identity of the owner.'),
        controller: optional(boolean(), 'Whether the owner manages this object.'),
        blockOwnerDeletion: optional(boolean(), 'Whether the owner waits for this object.'),
      }),
    ),
    'Objects that this one goes away with.',
  ),
  managedFields: optional(json(), 'Who set which field.'),
  selfLink: optional(text(), 'No longer used by the platform.'),
})

/** The platform's ObjectMeta. Tools write nulls and fields of their own into it, so it is open. */
export const objectMeta = withRule(fields, {
  reads: ['labels', 'annotations'],
  description: 'Keys of labels and annotations are qualified names.',
  check: checkKeys,
})

export type ObjectMeta = Parsed<typeof objectMeta>
