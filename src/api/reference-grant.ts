import { groupName, kindName, list, namespaceName, objectName, openObject, optional, required } from '#schema/index.ts'
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
            namespace: required(namespaceName(), 'Their namespace.'),
          }),
          { min: 1, max: 16 },
        ),
        'Who may refer.',
      ),
      to: required(
        list(
          openObject({
            group: required(groupName(), 'API group of the objects referred to.'),
            kind: required(kindName(), 'Kind of the objects referred to.'),
            name: optional(objectName(), 'Name of one object; all when unset.'),
          }),
          { min: 1, max: 16 },
        ),
        'What may be referred to, in the namespace of the grant.',
      ),
    }),
    'What is wanted.',
  ),
  status: platformStatus,
})

export type ReferenceGrantObject = ObjectOf<typeof referenceGrant>
