import {
  groupName,
  kindName,
  list,
  namespaceName,
  openObject,
  optional,
  referencedName,
  required,
} from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { platformStatus } from './platform-fields.ts'

export const referenceGrant = platformKind('ReferenceGrant', {
  spec: required(
    openObject({
      from: required(
        list(
          openObject({
            group: required(groupName(), 'API group of the referring objects.'),
            kind: required(kindName(), 'Kind of the referring objects.'),
            namespace: required(namespaceName(), 'Namespace of the referring objects.'),
          }),
          { min: 1, max: 16 },
        ),
        'Objects that may refer.',
      ),
      to: required(
        list(
          openObject({
            group: required(groupName(), 'API group of the referenced objects.'),
            kind: required(kindName(), 'Kind of the referenced objects.'),
            name: optional(referencedName(), 'Name of one object. When unset, all objects of the kind.'),
          }),
          { min: 1, max: 16 },
        ),
        'Objects in the namespace of the grant that may be referenced.',
      ),
    }),
    'Desired state.',
  ),
  status: platformStatus,
})

export type ReferenceGrantObject = ObjectOf<typeof referenceGrant>
