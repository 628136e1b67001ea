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
  value: optional(text(), 'Its value; $(OTHER_NAME) is replaced, $$(OTHER_NAME) stays as $(OTHER_NAME).'),
  valueFrom: optional(
    object({
      fieldRef: optional(
        object({
          apiVersion: optional(text(), 'Version of the schema of the path.'),
          fieldPath: required(text(), 'Path of a field of the pod.'),
        }),
        'A field of the pod.',
      ),
      resourceFieldRef: optional(
        object({
          containerName: optional(text(), 'Name of the container.'),
          resource: required(text(), 'Which resource.'),
          divisor: optional(quantity(), 'Unit of the value.'),
        }),
        'A resource of the container.',
      ),
      configMapKeyRef: optional(keySelector, 'An entry of a ConfigMap.'),
      secretKeyRef: optional(keySelector, 'An entry of a Secret.'),
      fileKeyRef: optional(
        object({
          volumeName: required(text(), 'Volume that holds the file.'),
          path: required(text(), 'Path of the file in the volume.'),
          key: required(text(), 'Variable in the file.'),
          optional: optional(boolean(), 'Whether the variable may be missing.'),
        }),
        'A variable of a file.',
      ),
    }),
    'Where the value comes from.',
  ),
})

/** The platform's ResourceRequirements. */
export const resourceRequirements = object({
  limits: optional(mapOf(quantity()), 'The most that the container may use.'),
  requests: optional(mapOf(quantity()), 'What the container is given for certain.'),
  claims: optional(
    listMap(
      'name',
      object({
        name: required(text(), 'Name of a resource claim of the pod.'),
        request: optional(text(), 'One request of the claim.'),
      }),
    ),
    'Resource claims of the pod that the container uses.',
  ),
})

export const envVars = () => list(envVar)

export type EnvVar = Parsed<typeof envVar>
export type ResourceRequirements = Parsed<typeof resourceRequirements>
