import {
  defaulted,
  groupName,
  kindName,
  namespaceName,
  openObject,
  optional,
  type Parsed,
  port,
  referencedName,
  required,
  sectionName,
} from '#schema/index.ts'
import { GATEWAY_GROUP } from './groups.ts'

/** The platform's ParentReference: the parent of a route, or the subject of a status entry. */
export const parentReference = openObject({
  group: defaulted(groupName(), GATEWAY_GROUP, 'API group of the parent.'),
  kind: defaulted(kindName(), 'Gateway', 'Kind of the parent.'),
  namespace: optional(namespaceName(), 'Namespace of the parent. When unset, the namespace of the referring object.'),
  name: required(referencedName(), 'Name of the parent.'),
  sectionName: optional(sectionName(), 'Name of one listener of the parent.'),
  port: optional(port(), 'Port of the listeners to attach to.'),
})

export type ParentReference = Parsed<typeof parentReference>
