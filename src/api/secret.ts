import { boolean, mapOf, optional, text } from '#schema/index.ts'
import { base64Map } from './base64-map.ts'
import { type ObjectOf, platformKind } from './object.ts'

export const secret = platformKind('Secret', {
  type: optional(text(), 'Type of the Secret.'),
  data: optional(base64Map(), 'Entries, base64-encoded.'),
  stringData: optional(
    mapOf(text()),
    'Entries as plain text. They take precedence over entries of the same name in data.',
  ),
  immutable: optional(boolean(), 'Whether the entries are immutable.'),
})

export type SecretObject = ObjectOf<typeof secret>
