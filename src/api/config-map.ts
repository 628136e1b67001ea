import { boolean, mapOf, optional, text } from '#schema/index.ts'
import { base64Map } from './base64-map.ts'
import { type ObjectOf, platformKind } from './object.ts'

export const configMap = platformKind('ConfigMap', {
  data: optional(mapOf(text()), 'Entries.'),
  binaryData: optional(base64Map(), 'Binary entries, base64-encoded.'),
  immutable: optional(boolean(), 'Whether the entries are immutable.'),
})

export type ConfigMapObject = ObjectOf<typeof configMap>
