import type { Steps } from '#base/in-slices.ts'
import type { JsonValue } from '../json/json-document.ts'
import type { BodyTexts } from '../texts/body-texts.ts'
import { readTexts } from '../texts/read-texts.ts'
import { compileTable } from '../texts/text-table.ts'
import { VISIBLE } from '../texts/treatments.ts'

/** Errors of any vendor: every string is a text. */
const ERROR = compileTable({ first: [], runs: {}, places: { error: VISIBLE }, anywhere: {} })

export function readErrorTexts(body: JsonValue): Steps<BodyTexts> {
  return readTexts(body, ERROR)
}
