import type { Steps } from '#base/in-slices.ts'
import type { JsonValue } from '../../json/json-document.ts'
import type { BodyTexts, ExemptPlace } from '../../texts/body-texts.ts'
import { readTexts } from '../../texts/read-texts.ts'
import { compileTable, type TextTable } from '../../texts/text-table.ts'
import { CHOICE, METADATA, MODEL, TEXT, TYPE } from '../../texts/treatments.ts'

export const EMBEDDINGS_REQUEST: TextTable = {
  first: [],
  // Each text has a vector of its own.
  runs: { '{input,input[]}': 'user' },
  places: {
    model: MODEL,
    '{encoding_format,input_type,task_type}': CHOICE,
    user: METADATA,
    '{input,input[]}': TEXT,
  },
  anywhere: { type: TYPE },
}

const REQUEST = compileTable(EMBEDDINGS_REQUEST)

export function readRequestTexts(body: JsonValue, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  return readTexts(body, REQUEST, exempt)
}
