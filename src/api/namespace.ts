import { openObject, optional } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { platformStatus, unread } from './platform-fields.ts'

export const namespace = platformKind('Namespace', {
  spec: optional(openObject(unread('finalizers')), 'Desired state.'),
  status: platformStatus,
})

export type NamespaceObject = ObjectOf<typeof namespace>
