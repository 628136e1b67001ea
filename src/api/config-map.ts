import { boolean, mapOf, optional, text, withRule } from '#schema/index.ts'
import { base64Map } from './base64-map.ts'
import { dataFromField, repeatedEntries } from './data-from.ts'
import { type ObjectOf, platformKind } from './object.ts'

export const configMap = withRule(
  platformKind('ConfigMap', {
    data: optional(mapOf(text()), 'Entries.'),
    binaryData: optional(base64Map(), 'Binary entries, base64-encoded.'),
    dataFrom: dataFromField(),
    immutable: optional(boolean(), 'Whether the entries are immutable.'),
  }),
  {
    reads: ['data', 'binaryData', 'dataFrom'],
    description: 'An entry of dataFrom has no value in data or binaryData.',
    check: ({ data, binaryData, dataFrom }, path) => repeatedEntries(path, dataFrom, { data, binaryData }),
  },
)

export type ConfigMapObject = ObjectOf<typeof configMap>
