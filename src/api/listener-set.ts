import {
  defaulted,
  groupName,
  kindName,
  listMap,
  namespaceName,
  openObject,
  optional,
  referencedName,
  required,
} from '#schema/index.ts'
import { GATEWAY_GROUP } from './groups.ts'
import { listener } from './listener.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { platformStatus } from './platform-fields.ts'

export const listenerSet = platformKind('ListenerSet', {
  spec: required(
    openObject({
      parentRef: required(
        openObject({
          group: defaulted(groupName(), GATEWAY_GROUP, 'API group of the parent.'),
          kind: defaulted(kindName(), 'Gateway', 'Kind of the parent.'),
          name: required(referencedName(), 'Name of the parent.'),
          namespace: optional(
            namespaceName(),
            'Namespace of the parent. When unset, the namespace of the ListenerSet.',
          ),
        }),
        'Gateway to add the listeners to.',
      ),
      listeners: required(listMap('name', listener, { min: 1, max: 64 }), 'Listeners to add.'),
    }),
    'Desired state.',
  ),
  status: platformStatus,
})

export type ListenerSetObject = ObjectOf<typeof listenerSet>
