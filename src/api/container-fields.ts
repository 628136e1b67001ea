import {
  boolean,
  list,
  listMap,
  mapOf,
  object,
  optional,
  type Parsed,
  quantity,
  required,
  text,
} from '#schema/index.ts'

const keySelector = object({
  name: required(text(), 'Name of the object.'),
  key: required(text(), 'Key in the object.'),
  optional: optional(boolean(), 'Whether the object or the key may be missing.'),
})

/** The platform's EnvVar. */
const envVar = object({
  name: required(text({ min: 1 }), 'Name of the variable.'),
  value: optional(
    text(),
    'Value of the variable. $(OTHER_NAME) expands to the value of that variable; $$(OTHER_NAME) escapes it.',
  ),
  valueFrom: optional(
    object({
      fieldRef: optional(
        object({
          apiVersion: optional(text(), 'API version of the schema that fieldPath refers to.'),
          fieldPath: required(text(), 'Path of the pod field.'),
        }),
        'A field of the pod.',
      ),
      resourceFieldRef: optional(
        object({
          containerName: optional(text(), 'Name of the container.'),
          resource: required(text(), 'Name of the resource.'),
          divisor: optional(quantity(), 'Divisor of the value; sets its unit.'),
        }),
        'A resource of the container.',
      ),
      configMapKeyRef: optional(keySelector, 'An entry of a ConfigMap.'),
      secretKeyRef: optional(keySelector, 'An entry of a Secret.'),
      fileKeyRef: optional(
        object({
          volumeName: required(text(), 'Volume that holds the file.'),
          path: required(text(), 'Path of the file in the volume.'),
          key: required(text(), 'Name of the variable in the file.'),
          optional: optional(boolean(), 'Whether the variable may be missing.'),
        }),
        'A variable from a file.',
      ),
    }),
    'Source of the value.',
  ),
})

/** The platform's ResourceRequirements. */
export const resourceRequirements = object({
  limits: optional(mapOf(quantity()), 'Upper limits of the container.'),
  requests: optional(mapOf(quantity()), 'Resources guaranteed to the container.'),
  claims: optional(
    listMap(
      'name',
      object({
        name: required(text(), 'Name of a resource claim of the pod.'),
        request: optional(text(), 'Name of one request in the claim.'),
      }),
    ),
    'Resource claims of the pod that the container uses.',
  ),
})

export const envVars = () => list(envVar)

export type EnvVar = Parsed<typeof envVar>
export type ResourceRequirements = Parsed<typeof resourceRequirements>
