import { boolean, mapOf, optional, text, withRule } from '#schema/index.ts'
import { base64Map } from './base64-map.ts'
import { dataFromField, repeatedEntries } from './data-from.ts'
import { type ObjectOf, platformKind } from './object.ts'

export const secret = withRule(
  platformKind('Secret', {
    type: optional(text(), 'Type of the Secret.'),
    data: optional(base64Map(), 'Entries, base64-encoded.'),
    stringData: optional(
      mapOf(text()),
      'Entries as plain text. They take precedence over entries of the same name in data.',
    ),
    dataFrom: dataFromField(),
    immutable: optional(boolean(), 'Whether the entries are immutable.'),
  }),
  {
    reads: ['data', 'stringData', 'dataFrom'],
    description: 'An entry of dataFrom has no value in data or stringData.',
    check: ({ data, stringData, dataFrom }, path) => repeatedEntries(path, dataFrom, { data, stringData }),
  },
)

export type SecretObject = ObjectOf<typeof secret>
