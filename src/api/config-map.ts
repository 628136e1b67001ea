import { boolean, mapOf, optional, text } from '#schema/index.ts'
import { base64Map } from './base64-map.ts'
import { type ObjectOf, platformKind } from './object.ts'

export const configMap = platformKind('ConfigMap', {
  data: optional(mapOf(text()), 'Entries.'),
  binaryData: optional(base64Map(), 'Entries that are not text, in base64.'),
  immutable: optional(boolean(), 'Whether the entries can no longer change.'),
})

export type ConfigMapObject = ObjectOf<typeof configMap>
