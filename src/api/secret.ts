import { boolean, mapOf, optional, text } from '#schema/index.ts'
import { base64Map } from './base64-map.ts'
import { type ObjectOf, platformKind } from './object.ts'

export const secret = platformKind('Secret', {
  type: optional(text(), 'Type of the content.'),
  data: optional(base64Map(), 'Entries, in base64.'),
  stringData: optional(mapOf(text()), 'Entries as plain text; stronger than those of data.'),
  immutable: optional(boolean(), 'Whether the entries can no longer change.'),
})

export type SecretObject = ObjectOf<typeof secret>
