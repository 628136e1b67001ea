import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import { META } from './definition-names.ts'

type Schemas = Readonly<Record<string, StructuralSchema>>

/** A reference to another schema. The place of the schemas depends on the version of OpenAPI. */
export type Reference = (name: string, description?: string) => StructuralSchema

const string = (description: string): StructuralSchema => ({ type: 'string', description })
const boolean = (description: string): StructuralSchema => ({ type: 'boolean', description })
const integer = (description: string, format = 'int64'): StructuralSchema => ({ type: 'integer', format, description })
const strings = (description: string, more: StructuralSchema = {}): StructuralSchema => ({
  type: 'array',
  description,
  items: { type: 'string' },
  ...more,
})
const texts = (description: string): StructuralSchema => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string' },
})
const listOf = (items: StructuralSchema, description: string, more: StructuralSchema = {}): StructuralSchema => ({
  type: 'array',
  description,
  items,
  ...more,
})
const ATOMIC = { 'x-kubernetes-list-type': 'atomic' }

const TYPE_MEMBERS: Schemas = {
  apiVersion: string('Group and version of the object. The server takes it from the path if it is left out.'),
  kind: string('Kind of the object. The server takes it from the path if it is left out.'),
}

/** The members that tell the kind of an object. */
export function typeMembers(): Schemas {
  return TYPE_MEMBERS
}

/** The schemas that all kinds share (Kubernetes, meta/v1), by name. */
export function metaSchemas(to: Reference): Schemas {
  const schemas: Schemas = {
    Time: { type: 'string', format: 'date-time', description: 'A time in the form of RFC 3339.' },
    MicroTime: {
      type: 'string',
      format: 'date-time',
      description: 'A time in the form of RFC 3339, with microseconds.',
    },
    FieldsV1: {
      type: 'object',
      description: 'Fields of an object as a tree. A key names a field or an item of a list.',
    },
    Patch: { type: 'object', description: 'A patch. Its form depends on the content type of the request.' },
    ObjectMeta: objectMeta(to),
    OwnerReference: ownerReference(),
    ManagedFieldsEntry: managedFieldsEntry(to),
    ListMeta: listMeta(),
    DeleteOptions: deleteOptions(to),
    Preconditions: {
      type: 'object',
      description: 'What must be true of an object before it is deleted.',
      properties: {
        uid: string('The unique id that the object must have.'),
        resourceVersion: string('The version that the object must have.'),
      },
    },
    Status: status(to),
    StatusDetails: statusDetails(to),
    StatusCause: {
      type: 'object',
      description: 'One reason of a failure.',
      properties: {
        reason: string('The reason in a form for programs.'),
        message: string('The reason in a form for people.'),
        field: string('The path of the field that is the reason.'),
      },
    },
  }
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${META}.${name}`, schema]))
}

function objectMeta(to: Reference): StructuralSchema {
  const time = `${META}.Time`
  return {
    type: 'object',
    description: 'Metadata that every object has.',
    properties: {
      name: string('Name of the object, unique among the objects of its kind in the namespace. It cannot be changed.'),
      generateName: string('Prefix of a name that the server generates, if the object has no name.'),
      namespace: string('Namespace of the object. Objects of kinds without namespaces have none.'),
      labels: texts('Labels. Selectors match them.'),
      annotations: texts('Values that tools and people keep with the object. Selectors do not match them.'),
      uid: string('Unique id of the object, set by the server.'),
      resourceVersion: string('Version of the object, set by the server. A write with another version is refused.'),
      generation: integer('Increases with each change of the desired state; set by the server.'),
      creationTimestamp: to(time, 'Time of the creation, set by the server.'),
      deletionTimestamp: to(time, 'Time of the request to delete the object, set by the server.'),
      deletionGracePeriodSeconds: integer('Seconds that the object is given before it is removed.'),
      finalizers: strings('What has to be done before the object is removed. The last one that is removed ends it.', {
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-patch-strategy': 'merge',
      }),
      ownerReferences: listOf(
        to(`${META}.OwnerReference`),
        'Objects that this one depends on. It is deleted after the last of them.',
        {
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['uid'],
          'x-kubernetes-patch-merge-key': 'uid',
          'x-kubernetes-patch-strategy': 'merge',
        },
      ),
      managedFields: listOf(to(`${META}.ManagedFieldsEntry`), 'Which manager has set which fields.', ATOMIC),
      selfLink: string('Not used any more.'),
    },
  }
}

function ownerReference(): StructuralSchema {
  return {
    type: 'object',
    description: 'An object that another one depends on.',
    required: ['apiVersion', 'kind', 'name', 'uid'],
    properties: {
      apiVersion: string('Group and version of the owner.'),
      kind: string('Kind of the owner.'),
      name: string('Name of the owner.'),
      uid: string('Unique id of the owner.'),
      controller: boolean('Whether the owner is the one that manages the object.'),
      blockOwnerDeletion: boolean(
        'Whether the owner waits for the removal of the object when it is deleted in the foreground.',
      ),
    },
    'x-kubernetes-map-type': 'atomic',
  }
}

function managedFieldsEntry(to: Reference): StructuralSchema {
  return {
    type: 'object',
    description: 'The fields that one manager has set.',
    properties: {
      manager: string('Name of the manager.'),
      operation: string('How the fields were set: Apply or Update.'),
      apiVersion: string('Group and version of the names of the fields.'),
      time: to(`${META}.Time`, 'Time of the last change.'),
      fieldsType: string('Form of the fields: FieldsV1.'),
      fieldsV1: to(`${META}.FieldsV1`, 'The fields.'),
      subresource: string('The subresource through which the fields were set.'),
    },
  }
}

function listMeta(): StructuralSchema {
  return {
    type: 'object',
    description: 'Metadata that every list has.',
    properties: {
      resourceVersion: string('Version of the list. A watch can start with it.'),
      continue: string('Token for the next page. The list is complete without it.'),
      remainingItemCount: integer('How many objects follow on later pages.'),
      selfLink: string('Not used any more.'),
    },
  }
}

function deleteOptions(to: Reference): StructuralSchema {
  return {
    type: 'object',
    description: 'How to delete an object.',
    properties: {
      ...TYPE_MEMBERS,
      dryRun: strings('All: nothing is deleted.', ATOMIC),
      gracePeriodSeconds: integer('Seconds that the object is given before it is removed.'),
      orphanDependents: boolean('Deprecated: use propagationPolicy.'),
      preconditions: to(`${META}.Preconditions`, 'What must be true of the object.'),
      propagationPolicy: string('What happens to dependents: Orphan, Background or Foreground.'),
      ignoreStoreReadErrorWithClusterBreakingPotential: boolean('Has no effect.'),
    },
  }
}

function status(to: Reference): StructuralSchema {
  return {
    type: 'object',
    description: 'The outcome of a request that has no object to return.',
    properties: {
      ...TYPE_MEMBERS,
      metadata: to(`${META}.ListMeta`, 'Metadata.'),
      status: string('Success or Failure.'),
      message: string('The outcome in a form for people.'),
      reason: string('The reason of a failure in a form for programs.'),
      details: to(`${META}.StatusDetails`, 'More about the reason.'),
      code: integer('HTTP status.', 'int32'),
    },
    'x-kubernetes-group-version-kind': [{ group: '', kind: 'Status', version: 'v1' }],
  }
}

function statusDetails(to: Reference): StructuralSchema {
  return {
    type: 'object',
    description: 'More about the outcome of a request.',
    properties: {
      name: string('Name of the object.'),
      group: string('Group of the object.'),
      kind: string('Kind of the object.'),
      uid: string('Unique id of the object.'),
      causes: listOf(to(`${META}.StatusCause`), 'The reasons of a failure.', ATOMIC),
      retryAfterSeconds: integer('Seconds after which the request may be repeated.', 'int32'),
    },
  }
}
